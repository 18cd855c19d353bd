""""""

from __future__ import annotations

import hashlib
import http.server
import subprocess
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quick_cases import SLOW

from arena_core.errors import SiteError
from orchestrator.sandbox.engine.containers import LOOPBACK, Endpoint, Executed
from orchestrator.sandbox.reset.fingerprint import ask_pages, find_argv, parse_listing, read_files
from orchestrator.sandbox.reset.state import FileState, ProbeState
from sites.manifest import Probe, Site


def listed(*folders: Path) -> tuple[FileState, ...]:
    argv = find_argv(tuple(str(folder) for folder in folders))
    return parse_listing(subprocess.run(argv, capture_output=True, check=True).stdout)


class LossyEngine:
    """Runs commands here, and loses what the first of them printed, as a busy engine does."""

    def __init__(self, *kept: int | None) -> None:
        self._kept = list(kept)

    async def execute(self, _: str, argv: Sequence[str], timeout_s: float) -> Executed:
        done = subprocess.run(argv, capture_output=True, check=False, timeout=timeout_s)  # noqa: ASYNC221
        kept = self._kept.pop(0) if self._kept else None
        return Executed(exit_code=done.returncode, stdout=done.stdout[:kept], stderr=done.stderr)


def with_files(*folders: Path) -> Site:
    fields = {**BASE, "fingerprint": {"files": [str(folder) for folder in folders]}}
    return Site.model_validate(fields)


@pytest.mark.parametrize("kept", [(), (0,), (0, 30)])
async def test_a_listing_that_the_engine_lost_is_read_again(
    tmp_path: Path, kept: tuple[int, ...]
) -> None:
    (tmp_path / "a").write_text("hello", encoding="utf-8")
    engine: Any = LossyEngine(*kept)
    found = await read_files(engine, with_files(tmp_path, tmp_path / "gone"), "id")
    assert found == listed(tmp_path)
    assert len(found) == 2


async def test_a_listing_that_never_arrives_whole_is_no_state_without_files(tmp_path: Path) -> None:
    engine: Any = LossyEngine(0, 0, 0)
    with pytest.raises(SiteError, match="did not arrive whole, 3 times: exit code 0"):
        await read_files(engine, with_files(tmp_path), "id")


def test_entries_have_kind_mode_owner_and_content(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir(mode=0o750)
    (tmp_path / "sub" / "a.txt").write_text("hello", encoding="utf-8")
    (tmp_path / "sub" / "a.txt").chmod(0o640)
    (tmp_path / "link").symlink_to("sub/a.txt")
    owner = f"{tmp_path.stat().st_uid}:{tmp_path.stat().st_gid}"
    top, link, sub, file = listed(tmp_path)
    assert top.kind == "d"
    assert (link.kind, link.content) == ("l", "sub/a.txt")
    assert (sub.kind, sub.mode, sub.content) == ("d", "750", "")
    assert file == FileState(
        path=str(tmp_path / "sub" / "a.txt"),
        kind="f",
        mode="640",
        owner=owner,
        content=hashlib.sha256(b"hello").hexdigest(),
    )


@SLOW
def test_odd_names_and_many_files_keep_their_own_digests(tmp_path: Path) -> None:
    names = ["a b", "new\nline", "tab\t", "=equals", "\\back", "-dash", "ümlaut", "*"]
    names += [f"file-{number}" for number in range(2000)]
    for name in names:
        (tmp_path / name).write_text(name, encoding="utf-8")
    (tmp_path / b"\xff\xfe".decode(errors="surrogateescape")).write_text("raw", encoding="utf-8")
    found = {entry.path: entry.content for entry in listed(tmp_path)}
    for name in names:
        assert found[str(tmp_path / name)] == hashlib.sha256(name.encode()).hexdigest(), name
    assert found[str(tmp_path / r"\xff\xfe")] == hashlib.sha256(b"raw").hexdigest()


def test_several_folders_are_one_listing_in_order_of_path(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").touch()
    paths = [entry.path for entry in listed(tmp_path / "b", tmp_path / "a")]
    assert paths == [str(tmp_path / name) for name in ("a", "a/x", "b", "b/x")]


@given(st.binary())
def test_a_listing_of_nothing_like_it_never_breaks_the_digests_of_others(noise: bytes) -> None:
    record = b"=f 644 1:1 \t/x\0" + b"a" * 64 + b" */x\0"
    clean = noise.replace(b"=", b"").replace(b"\0", b"")
    (entry,) = parse_listing(record + clean)
    assert (entry.path, entry.content) == ("/x", "a" * 64)


BASE = {
    "name": "shelf",
    "title": "Shelf",
    "summary": "pages only",
    "host": "shelf.arena.test",
    "stateful": True,
    "image": {"tag": "arena-test/shelf:1", "published": "unused"},
    "port": 8000,
    "health": {"path": "/", "contains": "ready"},
    "resources": {"memory_mb": 64, "cpus": 1.0, "pids": 16},
}


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        query = self.path.partition("?")[2]
        body = f"<b>{self.headers['Host']}</b> has 7 orders{query}".encode()
        self.send_response(404 if self.path == "/gone" else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with http.server.ThreadingHTTPServer((LOOPBACK, 0), Pages) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        yield Endpoint(LOOPBACK, server.server_port)
        server.shutdown()


def site(*probes: Probe) -> Site:
    fields = {**BASE, "fingerprint": {"probes": [probe.model_dump() for probe in probes]}}
    return Site.model_validate(fields)


@pytest.mark.parametrize(
    ("pattern", "fact"),
    [
        (r"has (\d+) orders", "7"),
        (r"\d+ orders", "7 orders"),
        ("<b>(.*)</b>", "shelf.arena.test"),
        ("carts", "nothing"),
    ],
)
def test_the_fact_is_what_the_pattern_finds_on_the_sites_own_page(
    endpoint: Endpoint, pattern: str, fact: str
) -> None:
    found = ask_pages(site(Probe(name="orders", page="/", pattern=pattern)), endpoint)
    assert found == (ProbeState("orders", fact),)


def test_a_long_fact_is_kept_as_its_hash(endpoint: Endpoint) -> None:
    many = site(Probe(name="page", page=f"/?{'x' * 300}", pattern="(.*)"))
    (found,) = ask_pages(many, endpoint)
    assert found.value.startswith("336 characters, SHA-256 ")


def test_a_page_that_fails_cannot_be_a_fact(endpoint: Endpoint) -> None:
    with pytest.raises(SiteError, match="probe orders: /gone answers 404"):
        ask_pages(site(Probe(name="orders", page="/gone", pattern="x")), endpoint)
