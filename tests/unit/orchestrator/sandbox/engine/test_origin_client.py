"""A real local server stands for the replica."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import requests

from orchestrator.sandbox.engine.containers import Endpoint
from orchestrator.sandbox.engine.origin_client import (
    OriginAnswer,
    OriginClient,
    fetch,
    origin_session,
)

DRIP_S = 0.05


class Echo(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/drip":
            self._drip()
            return
        away = self.path == "/away"
        self.send_response(302 if away else 200)
        if away:
            self.send_header("Location", "http://elsewhere.test/")
        if self.path == "/moved":
            self.send_header("X", "1")
        self.send_header("Set-Cookie", "seen=1; Path=/")
        body = f"{self.headers['Host']} {self.headers.get('Cookie', '')}".encode()
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _drip(self) -> None:
        """Send a byte now and then, for as long as somebody reads."""
        self.send_response(200)
        self.end_headers()
        with suppress(OSError):
            while True:
                self.wfile.write(b"." * 64 * 1024)
                time.sleep(DRIP_S)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Keep quiet."""


@pytest.fixture
def client() -> Iterator[OriginClient]:
    with HTTPServer(("127.0.0.1", 0), Echo) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            address = Endpoint("127.0.0.1", server.server_port)
            yield OriginClient(origin="http://shop.arena.test", address=address)
        finally:
            server.shutdown()
            thread.join()


def test_a_site_is_asked_under_its_own_name_and_its_cookies_belong_to_it(
    client: OriginClient,
) -> None:
    with origin_session(client) as session:
        assert session.get(client.url("/"), timeout=5).text == "shop.arena.test "
        assert session.get(client.url("/"), timeout=5).text == "shop.arena.test seen=1"
        assert [cookie.domain for cookie in session.cookies] == ["shop.arena.test"]


@pytest.mark.parametrize(
    "url", ["http://elsewhere.test/", "https://shop.arena.test/", "http://shop.arena.test:81/"]
)
def test_no_other_origin_is_reached(client: OriginClient, url: str) -> None:
    with (
        origin_session(client) as session,
        pytest.raises(requests.exceptions.InvalidURL, match="leads away"),
    ):
        session.get(url, timeout=5)


def test_the_default_port_said_aloud_is_the_same_origin(client: OriginClient) -> None:
    with origin_session(client) as session:
        assert session.get("http://SHOP.arena.test:80/", timeout=5).text == "shop.arena.test "


def test_a_redirect_elsewhere_is_not_followed(client: OriginClient) -> None:
    with (
        origin_session(client) as session,
        pytest.raises(requests.exceptions.InvalidURL, match=r"to http://elsewhere\.test"),
    ):
        session.get(client.url("/away"), timeout=5)


def test_a_proxy_named_in_the_environment_is_not_used(
    client: OriginClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with origin_session(client) as session:
        assert session.get(client.url("/"), timeout=5).status_code == 200


def test_one_page_is_fetched_under_the_sites_own_name(client: OriginClient) -> None:
    assert fetch(client, "/", timeout_s=5) == OriginAnswer(200, "shop.arena.test ")


def test_a_redirect_is_an_answer_of_its_own_and_not_followed(client: OriginClient) -> None:
    assert fetch(client, "/away", timeout_s=5).status == 302


def test_an_answer_that_never_ends_is_given_up(client: OriginClient) -> None:
    with pytest.raises(requests.Timeout, match=r"did not end in 0\.3 s"):
        fetch(client, "/drip", timeout_s=0.3)


def test_nothing_else_asks_a_replica_over_http() -> None:
    """One client: deadlines, redirects and host names are decided in one place."""
    root = Path(__file__).parents[5] / "orchestrator"
    making = re.compile(r"requests\.(Session|get|post|request)\(|urllib\.request\.urlopen")
    makers = {
        str(file.relative_to(root))
        for file in root.rglob("*.py")
        if making.search(file.read_text(encoding="utf-8"))
    }
    assert makers == {"sandbox/engine/origin_client.py"}
