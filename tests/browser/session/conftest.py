"""A real browser, a small site whose pages each test writes itself, and hands to drive both."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from arena_core.actions import Action
from orchestrator.browser.observation import Node, Observation
from orchestrator.browser.process.chromium import BrowserOptions
from orchestrator.browser.process.launch import Browser, launch
from orchestrator.browser.session.context import SessionOptions
from orchestrator.browser.session.session import Session
from orchestrator.browser.tabs.journal import Activity

SETTLE_S = 10.0


@dataclass(kw_only=True)
class Answer:
    """What the site answers at a path; the second time, `then`.

    With a gate it answers once that opens; where it `begins`, all but the last byte comes before.
    """

    body: bytes
    status: int = 200
    content_type: str = "text/html; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)
    gate: threading.Event | None = None
    begins: bool = False
    chunked: bool = False
    then: Answer | None = None


class Site:
    """A web server on loopback; as a proxy it answers for every host.

    Args:
        listener: bound where the browser reaches it (`Browser.listen`); otherwise this machine's.
    """

    def __init__(
        self, listener: socket.socket | None = None, tls: ssl.SSLContext | None = None
    ) -> None:
        self.answers: dict[str, Answer] = {"/favicon.ico": Answer(body=b"", status=404)}
        self.requests: list[tuple[str, str]] = []
        self._asked = threading.Condition()
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                with suppress(BrokenPipeError, ConnectionResetError):
                    site.answer(self)

            do_POST = do_GET  # noqa: N815 - http.server's names

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler, bind_and_activate=False)
        self._server.socket.close()
        self._server.socket = listener or socket.create_server(("127.0.0.1", 0))
        self._server.socket.listen()
        self._server.socket.settimeout(None)
        self._server.daemon_threads = True
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        scheme = "http" if tls is None else "https"
        self.port = int(self._server.socket.getsockname()[1])
        self.base = f"{scheme}://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def page(self, html: str, path: str = "/", **how: object) -> str:
        """Put a page at a path and return its URL."""
        self.answers[path] = Answer(body=html.encode(), **how)  # type: ignore[arg-type]
        return self.base + path

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        with self._asked:
            self.requests.append((handler.command, handler.path))
            self._asked.notify_all()
        handler.rfile.read(int(handler.headers.get("content-length", 0)))
        found = self.answers.get(urlsplit(handler.path).path, Answer(body=b"nothing", status=404))
        if found.then is not None:
            self.answers[urlsplit(handler.path).path] = found.then
        if found.gate is not None and not found.begins:
            found.gate.wait(20)
        handler.send_response(found.status)
        handler.send_header("content-type", found.content_type)
        framing = ("transfer-encoding", "chunked")
        if not found.chunked:
            framing = ("content-length", str(len(found.body)))
        handler.send_header(*framing)
        for name, value in found.headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        if found.gate is not None and found.begins:
            handler.wfile.write(found.body[:-1])
            found.gate.wait(20)
            handler.wfile.write(found.body[-1:])
        else:
            handler.wfile.write(_in_chunks(found.body) if found.chunked else found.body)

    def asked(self, path: str) -> int:
        return sum(1 for _, asked in self.requests if urlsplit(asked).path == path)

    def wait_asked(self, path: str, times: int) -> None:
        """Return once a path was asked for so often; fail after half a minute."""
        with self._asked:
            assert self._asked.wait_for(lambda: self.asked(path) >= times, 30)

    def close(self) -> None:
        for answer in self.answers.values():
            if answer.gate is not None:
                answer.gate.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _in_chunks(body: bytes) -> bytes:
    half = len(body) // 2
    return b"".join(b"%x\r\n%b\r\n" % (len(one), one) for one in (body[:half], body[half:], b""))


class Drive:
    """A session with the site in front of it."""

    def __init__(self, session: Session, site: Site) -> None:
        self.session = session
        self.site = site
        self.seen = Observation(step=0, url="", title="", tabs=())
        self.settled = True

    async def open(self, html: str) -> None:
        """Open a page, see it, and forget what happened on the way."""
        await self.session.open([self.site.page(html)])
        await self.rest()
        await self.see()
        self.session.drain()

    async def rest(self) -> None:
        self.settled = await self.session.settle(SETTLE_S)

    async def see(self) -> Observation:
        self.seen = await self.session.observe(0)
        return self.seen

    def _fitting(self, role: str, name: str | None) -> list[Node]:
        return [n for n in self.seen.nodes if n.role == role and name in {None, n.name}]

    def shows(self, role: str, name: str | None = None) -> bool:
        return bool(self._fitting(role, name))

    def node(self, role: str, name: str | None = None) -> Node:
        assert self.shows(role, name), f"no {role} {name!r} in\n{self.seen.text}"
        return self._fitting(role, name)[0]

    def id(self, role: str, name: str | None = None) -> int:
        return self.node(role, name).id

    async def do(self, action: Action) -> str | None:
        """Act, settle and see."""
        error = await self.session.act(action)
        await self.rest()
        await self.see()
        return error

    def drain(self) -> Activity:
        return self.session.drain()

    async def text(self, selector: str) -> str:
        return " ".join(await self.session.read_own(selector))


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """A browser in its own network: no container that comes or goes breaks off its requests."""
    async with launch(BrowserOptions()) as launched:
        yield launched


@pytest_asyncio.fixture(loop_scope="session")
async def site(browser: Browser) -> AsyncIterator[Site]:
    """A site in the browser's network."""
    with closing(Site(await browser.listen())) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def other_site(browser: Browser) -> AsyncIterator[Site]:
    """One more."""
    with closing(Site(await browser.listen())) as made:
        yield made


@pytest.fixture
def outer_site() -> Iterator[Site]:
    """A site in this machine's network, for gateways and other browsers."""
    with closing(Site()) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def drive(browser: Browser, site: Site) -> AsyncIterator[Drive]:
    options = SessionOptions(
        proxy_url=None,
        logical=lambda url: url.replace(site.base, "shop:") if url else None,
        files={"a.txt": b"alpha", "b.txt": b"beta"},
    )
    async with browser.session(options) as session:
        yield Drive(session, site)


@pytest_asyncio.fixture(loop_scope="session")
async def keen_drive(browser: Browser, site: Site) -> AsyncIterator[Drive]:
    """A session whose observations hold what has no name."""
    async with browser.session(SessionOptions(proxy_url=None, shows_unnamed=True)) as session:
        yield Drive(session, site)
