from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator

import pytest

from arena_core.errors import SiteError
from orchestrator.engine.containers import LOOPBACK, Endpoint
from orchestrator.reset.probes import ask_pages
from orchestrator.reset.state import ProbeState
from sites.manifest import Probe, Site

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
