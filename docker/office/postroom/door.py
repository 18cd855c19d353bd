"""What stands between nginx and SOGo: a login form that works without scripts, and the register.

Every request goes on to SOGo as it is. Before its answer goes back, the register is brought up to
date: whoever has the answer finds in the tables what the request did.
"""

from __future__ import annotations

import html
import http.client
import json
import socket
import sys
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from register import Register

_PAGE = Path(__file__).with_name("login.html").read_text(encoding="utf-8")
_COOKIE = "0xHIGHFLYxSOGo"
_LEFT_OUT = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length"})
_OK, _SEE_OTHER, _DENIED, _UNREADY = 200, 302, 401, 503


class Door(ThreadingHTTPServer):
    """Listens for nginx."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, port: int, sogo: int, imap: int, register: Register) -> None:
        """Listen on this machine; `sogo` and `imap` are the ports behind."""
        super().__init__(("127.0.0.1", port), _Visit)
        self.sogo = sogo
        self.imap = imap
        self.register = register

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of visitors who left before they were answered."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Visit(BaseHTTPRequestHandler):
    """One request."""

    server: Door
    protocol_version = "HTTP/1.1"

    def __getattr__(self, name: str) -> object:
        """Take every method that there is: those of CalDAV are many."""
        if name.startswith("do_"):
            return self._pass_on
        raise AttributeError(name)

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if path == "/health":
            self._health()
        elif path == "/login":
            self._answer(_OK, _PAGE.replace("{{message}}", ""))
        elif path == "/":
            self._front()
        else:
            self._pass_on()

    def do_POST(self) -> None:
        if urlsplit(self.path).path == "/login":
            self._log_in()
        else:
            self._pass_on()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the server's name
        """Say nothing."""

    def _health(self) -> None:
        try:
            with socket.create_connection(("127.0.0.1", self.server.imap), 5) as imap:
                mails = imap.recv(4) == b"* OK"
            status, _, _ = self._ask("GET", "/SOGo/", b"", {})
        except OSError:
            mails, status = False, _UNREADY
        whole = mails and status == _OK and self.server.register.answers()
        self._answer(_OK if whole else _UNREADY, "ready" if whole else "not ready")

    def _front(self) -> None:
        known = SimpleCookie(self.headers.get("Cookie", "")).get(_COOKIE)
        self._go("/SOGo/" if known and known.value != "discard" else "/login")

    def _log_in(self) -> None:
        form = parse_qs(self._body().decode(errors="replace"))
        name, password = (form.get(field, [""])[0] for field in ("username", "password"))
        sent = json.dumps({"userName": name, "password": password, "rememberLogin": 0}).encode()
        headers = {**dict(self.headers), "Content-Type": "application/json"}
        status, answered, _ = self._ask("POST", "/SOGo/connect", sent, headers)
        if status != _OK:
            message = "The user name or the password is wrong."
            self._answer(_DENIED, _PAGE.replace("{{message}}", html.escape(message)))
            return
        self.send_response(_SEE_OTHER)
        for key, value in answered:
            if key.lower() == "set-cookie":
                self.send_header(key, value)
        self.send_header("Location", f"/SOGo/so/{name}/Mail/view")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _pass_on(self) -> None:
        try:
            status, headers, body = self._ask(
                self.command, self.path, self._body(), dict(self.headers)
            )
        except OSError:
            self._answer(_UNREADY, "SOGo does not answer")
            return
        self.server.register.update()
        if self.command == "GET" and _is_turned_away(self.path, headers):
            self._go("/login")
            return
        self.send_response(status)
        for key, value in headers:
            if key.lower() not in _LEFT_OUT:
                self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _ask(
        self, method: str, path: str, body: bytes, headers: dict[str, str]
    ) -> tuple[int, list[tuple[str, str]], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.sogo, timeout=60)
        try:
            kept = {key: value for key, value in headers.items() if key.lower() not in _LEFT_OUT}
            connection.request(method, path, body or None, kept)
            answer = connection.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        finally:
            connection.close()

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _go(self, path: str) -> None:
        self.send_response(_SEE_OTHER)
        self.send_header("Location", path)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _answer(self, status: int, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _is_turned_away(path: str, headers: list[tuple[str, str]]) -> bool:
    """Whether SOGo shows its login in place of somebody's page: it says so with status 200."""
    dropped = any(
        key.lower() == "set-cookie" and value.startswith(f"{_COOKIE}=discard")
        for key, value in headers
    )
    return dropped and path.startswith("/SOGo/so/") and not path.endswith("/logoff")
