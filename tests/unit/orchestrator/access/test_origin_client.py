"""A real local server stands for the replica."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
import requests

from orchestrator.access.origin_client import OriginClient, origin_session
from orchestrator.engine.endpoints import Endpoint


class Echo(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
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
