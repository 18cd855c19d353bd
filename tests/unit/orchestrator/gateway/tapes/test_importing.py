from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from support.tapes.making import made, page

from arena_core.errors import InputError
from orchestrator.gateway.taped import Exactness, TapedRequest
from orchestrator.gateway.tapes.replay import TapeReplay
from orchestrator.gateway.tapes.wacz import open_tape
from orchestrator.gateway.tapes.writing import import_tape

FORM = ("content-type", "application/x-www-form-urlencoded")
SITE = "http://kettles.example.test"


class Kettles(BaseHTTPRequestHandler):
    """A site behind a proxy: chunked, packed, redirecting, with a cookie."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        place = self.path.removeprefix(SITE)
        if place == "/old":
            self._answer(302, b"", ("Location", "/"))
        elif place == "/packed":
            self._answer(200, gzip.compress(b"packed"), ("Content-Encoding", "gzip"))
        elif place == "/pieces":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"4\r\nin p\r\n5\r\nieces\r\n0\r\n\r\n")
        else:
            body = b"<title>Kettles</title><a href=/packed>p</a><a href=/pieces>q</a>"
            self._answer(200, body, ("Set-Cookie", "session=secret"))

    def _answer(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in (("Content-Type", "text/html"), *headers):
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def proxy() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Kettles)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.skipif(shutil.which("wget") is None, reason="needs wget")
@pytest.mark.parametrize("packs", [True, False])
def test_an_archive_of_wget_plays(tmp_path: Path, proxy: str, *, packs: bool) -> None:
    command = ["wget", "-q", "-e", "robots=off", "-e", f"http_proxy={proxy}", "-e", "use_proxy=on"]
    command += ["--warc-file=kettles", *(() if packs else ("--no-warc-compression",))]
    command += ["-O", "/dev/null", f"{SITE}/old", f"{SITE}/packed", f"{SITE}/pieces"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=60)
    archive = tmp_path / ("kettles.warc.gz" if packs else "kettles.warc")

    assert import_tape([archive], tmp_path / "kettles.wacz") == 4

    with open_tape(tmp_path / "kettles.wacz") as tape:
        replay = TapeReplay(tape)

        def got(place: str) -> tuple[int, bytes]:
            answer = replay.answer(TapedRequest(method="GET", url=f"{SITE}{place}"))
            assert answer is not None
            assert answer.exactness is Exactness.EXACT
            return answer.status, answer.body

        assert got("/old") == (302, b"")
        assert got("/")[1].startswith(b"<title>Kettles")
        assert got("/packed") == (200, b"packed")
        assert got("/pieces") == (200, b"in pieces")
        assert tape.pages[0].title == "Kettles"
    with zipfile.ZipFile(tmp_path / "kettles.wacz") as file:
        assert b"secret" not in gzip.decompress(file.read("archive/data.warc.gz"))


def test_a_tape_of_a_tape_is_the_same(tmp_path: Path) -> None:
    first = made(tmp_path, page("/", "Hello"), page("/tea", "Tea"))

    assert import_tape([first], tmp_path / "second.wacz") == 2

    with open_tape(first) as one, open_tape(tmp_path / "second.wacz") as two:
        assert [one.load(entry) for entry in one.entries] == [
            two.load(entry) for entry in two.entries
        ]
        assert [page.title for page in two.pages] == ["Hello", "Tea"]


def test_another_program_finds_the_tape_right(tmp_path: Path) -> None:
    path = made(tmp_path, page("/", "Hello"))
    checked = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "wacz.main", "validate", "-f", str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_index_of_a_tape_says_where_its_records_lie(tmp_path: Path) -> None:
    with open_tape(made(tmp_path, page("/", "Hello"), page("/tea", "Tea"))) as tape:
        lines = tape.file.read("indexes/index.cdxj").decode().splitlines()
        listed = {json.loads(line.split(" ", 2)[2])["offset"] for line in lines}

        assert listed == {str(entry.at) for entry in tape.entries}


def test_the_index_of_a_tape_is_what_another_program_makes_of_its_records(tmp_path: Path) -> None:
    path = made(
        tmp_path,
        page("/", "Hello"),
        page("/Tea/?b=2&a=1", "Tea"),
        replace(page("/order", "Thanks"), method="POST", sent_body=b"item=tea&qty=2"),
        replace(page("/basket", "Yours"), method="POST", sent_body=b"a=1&b=2", sent=(FORM,)),
    )
    with open_tape(path) as tape:
        (tmp_path / "data.warc.gz").write_bytes(tape.file.read("archive/data.warc.gz"))
        ours = tape.file.read("indexes/index.cdxj").decode().splitlines()
    theirs = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "cdxj_indexer.main", "-s", "-p", "data.warc.gz"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout.splitlines()
    assert [place_of(line) for line in ours] == [place_of(line) for line in theirs]


def test_a_post_is_listed_by_its_body_as_players_of_archives_look_it_up(tmp_path: Path) -> None:
    head = (("Content-Type", "application/json"),)
    order = replace(page("/order", "Thanks"), method="POST", sent=head)
    path = made(
        tmp_path,
        replace(order, sent_body=b'{"item": {"name": "tea"}, "sizes": [1, 2], "gift": true}'),
        replace(order, sent_body=b"no json"),
        replace(order, sent_body=b"size=big one\nor two", sent=(FORM,)),
        replace(page("/order", ""), method="HEAD"),
        page("/order", "Order"),
    )
    with open_tape(path) as tape:
        lines = tape.file.read("indexes/index.cdxj").decode().splitlines()

    listed = [json.loads(line.split(" ", 2)[2]) for line in lines]
    assert sorted((one.get("method", ""), one.get("requestBody", "")) for one in listed) == [
        ("", ""),
        ("HEAD", ""),
        ("POST", "__wb_post_data=bm8ganNvbg=="),
        ("POST", "name=tea&sizes=1&sizes.2_=2&gift=true"),
        ("POST", "size=big one\nor two"),
    ]


def place_of(line: str) -> tuple[str, str, str, str]:
    key, stamp, found = line.split(" ", 2)
    said = json.loads(found)
    return key, stamp, said["offset"], said["length"]


def test_what_is_there_is_not_overwritten(tmp_path: Path) -> None:
    first = made(tmp_path, page("/", "Hello"))
    with pytest.raises(InputError, match="is there already"):
        import_tape([first], first)


def test_a_damaged_archive_leaves_no_tape(tmp_path: Path) -> None:
    broken = tmp_path / "broken.warc.gz"
    broken.write_bytes(b"\x1f\x8bnothing")
    with pytest.raises(InputError, match="broken"):
        import_tape([broken], tmp_path / "out.wacz")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.warc.gz"]
