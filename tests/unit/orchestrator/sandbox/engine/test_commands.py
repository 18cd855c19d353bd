"""Commands inside a container: no output is lost, and how they ended, where it is noted late."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import cast

import pytest
from docker import APIClient
from docker.errors import NotFound
from hypothesis import given
from hypothesis import strategies as st

from arena_core.errors import EngineError
from orchestrator.sandbox.engine import commands
from orchestrator.sandbox.engine.commands import _exit_code, _streams, run_command

# A clock that was set forward since then says that this was years ago.
ENDED_AT = 1_500_000_000

OUT, ERR = 1, 2


def frames(said: Sequence[tuple[int, bytes]]) -> bytes:
    return b"".join(struct.pack(">BxxxL", stream, len(text)) + text for stream, text in said)


class AtOnce(BaseHTTPRequestHandler):
    """An engine whose headers and output come in one piece, as they do from a busy machine."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if not self.path.endswith("/start"):
            self._answer({"Id": "command", "message": "no such container"})
            return
        output = frames([(OUT, b"hi\n"), (ERR, b"oops"), (OUT, b"\0" * 100_000), (OUT, b"end")])
        upgraded = "Upgrade" in self.headers
        status = "101 UPGRADED" if upgraded else "200 OK"
        more = "Connection: Upgrade\r\nUpgrade: tcp\r\n" if upgraded else ""
        self.wfile.write(f"HTTP/1.1 {status}\r\n{more}\r\n".encode() + output)
        self.close_connection = True

    def do_GET(self) -> None:
        self._answer({"ID": "command", "ExitCode": 3})

    def _answer(self, document: object) -> None:
        body = json.dumps(document).encode()
        gone = "gone" in self.path
        self.send_response(404 if gone else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def engine_at_once() -> Iterator[APIClient]:
    with ThreadingHTTPServer(("127.0.0.1", 0), AtOnce) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield APIClient(base_url=f"tcp://127.0.0.1:{server.server_port}", version="1.44")
        finally:
            server.shutdown()


def test_output_that_comes_with_the_headers_is_not_lost() -> None:
    with engine_at_once() as api:
        ended = run_command(api, "container", ["echo"])
    assert ended.stdout == b"hi\n" + b"\0" * 100_000 + b"end"
    assert (ended.stderr, ended.exit_code) == (b"oops", 3)


def test_a_command_that_prints_without_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "MOST_BYTES", 50_000)
    with engine_at_once() as api, pytest.raises(EngineError, match="more than 50,000 bytes"):
        run_command(api, "container", ["yes"])


def test_a_container_that_is_gone_is_the_sdks_error() -> None:
    with engine_at_once() as api, pytest.raises(NotFound):
        run_command(api, "gone", ["echo"])


@given(st.lists(st.tuples(st.sampled_from([OUT, ERR]), st.binary(max_size=20)), max_size=6))
def test_every_byte_goes_to_its_stream(said: list[tuple[int, bytes]]) -> None:
    wanted = tuple(b"".join(text for to, text in said if to == one) for one in (OUT, ERR))
    assert _streams(frames(said)) == wanted


@given(st.binary(min_size=1, max_size=20), st.data())
def test_an_answer_that_breaks_off_is_no_output(text: bytes, data: st.DataObject) -> None:
    whole = frames([(OUT, text)])
    cut = data.draw(st.integers(1, len(whole) - 1))
    with pytest.raises(EngineError, match="broke off"):
        _streams(whole[:cut])


class LateEngine:
    """An engine that has not noted the code yet, and then tells of two commands that ended."""

    def __init__(self, *ended: tuple[str, int]) -> None:
        self._ended = ended

    def exec_inspect(self, command_id: str) -> Mapping[str, object]:
        return {"ID": command_id, "ExitCode": None}

    def events(self, *, since: int, **_: object) -> Iterator[Mapping[str, object]]:
        if since > ENDED_AT:
            pytest.fail("an engine waits for ever for an event that it is not asked to repeat")
        for command_id, code in self._ended:
            yield {"Actor": {"Attributes": {"execID": command_id, "exitCode": str(code)}}}


def test_a_code_that_is_not_noted_yet_is_taken_from_its_own_event() -> None:
    engine = cast("APIClient", LateEngine(("other", 0), ("ours", 7)))
    assert _exit_code(engine, "container", "ours") == 7


def test_a_command_without_an_exit_code_did_not_succeed() -> None:
    engine = cast("APIClient", LateEngine(("other", 0)))
    with pytest.raises(EngineError, match="does not say"):
        _exit_code(engine, "container", "ours")
