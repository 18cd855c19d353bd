"""A small web site whose pages each test writes itself, standing where a replica would."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from orchestrator.sandbox.engine.containers import Endpoint
from orchestrator.sandbox.reset.replica import Replica
from sites.manifest import Site

MANIFEST: dict[str, object] = {
    "name": "notes",
    "title": "Notes",
    "summary": "a site of tests",
    "host": "notes.arena.test",
    "stateful": True,
    "image": {"tag": "arena/notes:1", "published": "registry.test/notes:1"},
    "port": 8000,
    "health": {"path": "/health", "contains": "ready"},
    "resources": {"memory_mb": 64, "cpus": 1, "pids": 8},
}


@dataclass(kw_only=True)
class Answer:
    """What a path is answered with."""

    body: str = ""
    status: int = 200
    kind: str = "text/html; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)


class Standing:
    """As much of a replica as is asked over HTTP."""

    def __init__(self, port: int, site: Site) -> None:
        self.endpoint = Endpoint("127.0.0.1", port)
        self.site = site


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64  # five by default: the sixth who comes at once waits a second


class Web:
    """A web server on loopback; a path may be answered by a function of the request."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer | Callable[[BaseHTTPRequestHandler], Answer]] = {}
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                found = web.answers.get(self.path, Answer(status=404))
                answer = found(self) if callable(found) else found
                content = answer.body.encode()
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.kind)
                self.send_header("Content-Length", str(len(content)))
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            do_POST = do_GET  # noqa: N815 - http.server's names

            def log_message(self, *_: object) -> None:
                pass

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def page(self, path: str, body: str, **how: Any) -> None:
        self.answers[path] = Answer(body=body, **how)

    def replica(self, **more: object) -> Replica:
        site = Site.model_validate({**MANIFEST, **more})
        return cast("Replica", Standing(self._server.server_port, site))

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
