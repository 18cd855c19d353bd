"""A live origin on loopback that speaks TLS, and whatever is wrong with it by switch."""

from __future__ import annotations

import datetime as dt
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import trustme

from arena_core.worlds import World
from orchestrator.browser.process.launch import Browser
from orchestrator.episode.episode import Episode
from orchestrator.gateway.live_limits import LiveMeters
from orchestrator.gateway.policy import Resolve, SocketAddress
from orchestrator.gateway.server import Gateway
from sites.manifest import Live
from sites.registry import SiteRegistry
from support.worlds.fake_world import ATLAS, FakeWorld, attempt_at, browsing_task

HOST = "wiki.example"
LONG_AGO = dt.datetime(2001, 1, 1, tzinfo=dt.UTC)


@dataclass(kw_only=True)
class Page:
    """What a path is answered with.

    Attributes:
        cut: the connection ends after so many bytes of the body; 0 ends it before the head.
    """

    body: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = "text/html; charset=utf-8"
    cut: int | None = None
    wait_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as the origin got it."""

    method: str
    path: str
    cookies: str
    user_agent: str


Answering = Page | Callable[[Asked], Page]


class LiveOrigin:
    """Answers under the live host of the wiki, with a certificate of an authority of the tests.

    Args:
        folder: where the certificate lies meanwhile.
        name: the host that the certificate is for.
        until: when it expires; not soon by default.
    """

    def __init__(
        self,
        authority: trustme.CA,
        folder: Path,
        *,
        name: str = HOST,
        until: dt.datetime | None = None,
    ) -> None:
        self.pages: dict[str, Answering] = {}
        self.asked: list[Asked] = []
        origin = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                with suppress(BrokenPipeError, ConnectionResetError):
                    origin.answer(self)

            do_POST = do_PUT = do_GET  # noqa: N815 - http.server's names

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]
        self._server.socket = _context(authority, folder, name, until).wrap_socket(
            self._server.socket, server_side=True
        )
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    @property
    def address(self) -> SocketAddress:
        return SocketAddress("127.0.0.1", self._server.server_port)

    def page(self, path: str, body: str, **how: Any) -> None:
        self.pages[path] = Page(body=body, **how)

    def times(self, path: str) -> int:
        return sum(1 for one in self.asked if one.path == path)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        handler.rfile.read(int(handler.headers.get("content-length", 0)))
        asked = Asked(
            handler.command,
            handler.path,
            handler.headers.get("cookie", ""),
            handler.headers.get("user-agent", ""),
        )
        self.asked.append(asked)
        found = self.pages.get(handler.path, Page(body="nothing here", status=404))
        page = found if isinstance(found, Page) else found(asked)
        threading.Event().wait(page.wait_s)
        content = page.body.encode()
        handler.send_response(page.status)
        handler.send_header("Content-Type", page.kind)
        handler.send_header("Content-Length", str(len(content)))
        for name, value in page.headers.items():
            handler.send_header(name, value)
        if page.cut is None:
            handler.end_headers()
            handler.wfile.write(content)
            return
        if page.cut:
            handler.end_headers()
        handler.wfile.write(content[: page.cut])
        handler.wfile.flush()
        handler.close_connection = True

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _context(
    authority: trustme.CA, folder: Path, name: str, until: dt.datetime | None
) -> ssl.SSLContext:
    """Return TLS whose chain has the certificate of the authority: Chromium looks for its key."""
    leaf = authority.issue_cert(name, not_after=until)
    chain = folder / "chain.pem"
    chain.write_bytes(leaf.private_key_and_cert_chain_pem.bytes() + authority.cert_pem.bytes())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    return context


def registry_with(**live: Any) -> SiteRegistry:
    """Return the sites, with the wiki's live origin at the host of the tests."""
    wiki = ATLAS.site("wiki").model_copy(
        update={"live": Live.model_validate({"origin": f"https://{HOST}", **live})}
    )
    return replace(ATLAS, sites={**ATLAS.sites, "wiki": wiki})


@asynccontextmanager
async def live_episode(
    browser: Browser,
    origin: LiveOrigin,
    *,
    checks: Sequence[dict[str, Any]],
    live: dict[str, Any] | None = None,
    world: FakeWorld | None = None,
    resolves: Mapping[str, LiveOrigin] | None = None,
    **task: Any,
) -> AsyncIterator[Episode]:
    """Open an episode that visits a live origin through a gateway; it is closed at the end."""
    registry = registry_with(**(live or {}))
    upstreams = registry.upstreams(["wiki"], World.ONLINE)
    led = {HOST: origin, **(resolves or {})}
    environment = replace(
        (world or FakeWorld()).environment(World.ONLINE),
        registry=registry,
        upstreams=upstreams,
        browser=browser,
        open_gateway=Gateway.open,
        resolves=tuple(Resolve(host, 443, one.address) for host, one in led.items()),
        live=LiveMeters.of(upstreams),
    )
    made = browsing_task(checks=list(checks), worlds=["online"], **task)
    episode = Episode(attempt_at(made), environment)
    try:
        yield episode
    finally:
        await episode.close()
