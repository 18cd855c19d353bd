"""Serves the start page: `python3 -I startpage`."""

from __future__ import annotations

import signal
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from page import missing, start_page
from telling import HEADER, NOTHING, TOLD, Telling, UnreadableError

PORT = 8000
HERE = Path(__file__).parent
FILES = {
    "/start.css": ("text/css; charset=utf-8", (HERE / "start.css").read_bytes()),
    "/start.svg": ("image/svg+xml", (HERE / "start.svg").read_bytes()),
}


class Pages(BaseHTTPRequestHandler):
    """Answers GET and HEAD; there is nothing to send here."""

    protocol_version = "HTTP/1.1"
    server_version = "start"
    sys_version = ""
    timeout = 60

    def do_GET(self) -> None:
        """Answer a page, a file or the health probe."""
        path = self.path.partition("?")[0]
        if path in FILES:
            self._answer(200, *FILES[path])
        elif path == "/health":
            self._answer(200, "text/plain; charset=utf-8", b"ready\n")
        elif path != "/":
            self._answer(404, "text/html; charset=utf-8", missing().encode())
        else:
            self._answer(200, "text/html; charset=utf-8", start_page(self._told()).encode())

    do_HEAD = do_GET  # noqa: N815  http.server asks for this name

    def _told(self) -> Telling:
        """What the gateway says of the episode; where there is none, what `arena up` left."""
        sent = self.headers.get(HEADER)
        try:
            if sent is not None:
                return Telling.from_base64(sent)
            return Telling.from_json(TOLD.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return NOTHING
        except UnreadableError as problem:
            self.log_error("%s", problem)
            return NOTHING

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")  # it may be told something else next time
        self.send_header("Referrer-Policy", "no-referrer")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Say nothing of what went well."""


class Server(ThreadingHTTPServer):
    """One thread a connection; none outlives the process."""

    daemon_threads = True
    request_queue_size = 64


def main() -> None:
    """Serve until TERM."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with Server(("0.0.0.0", PORT), Pages) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
