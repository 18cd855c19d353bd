"""A real browser with its CDP proxy, a raw client of CDP, and a small site behind a proxy."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from aiohttp import ClientSession, ClientWebSocketResponse

from orchestrator.browser.cdp_proxy.agent_commands import Act, Attempt
from orchestrator.browser.cdp_proxy.proxy import CdpProxy, ProxyOptions
from orchestrator.browser.process.chromium import BrowserOptions
from orchestrator.browser.process.external_browser import launch_external
from orchestrator.browser.session.context import SessionOptions
from orchestrator.browser.session.session import Session
from orchestrator.browser.tabs.arm_scripts import NO_ARM, ArmScripts
from orchestrator.browser.tabs.journal import Activity

HOST = "http://site.test"
SETTLE_S = 10.0
_ANSWER_S = 60.0


class Site:
    """A web server that is the browser's proxy, and so answers for every host."""

    def __init__(self, server: HTTPServer) -> None:
        self.pages: dict[str, str] = {}
        self.asked: list[tuple[str, str]] = []
        self.server = server

    def page(self, html: str, path: str = "/") -> str:
        self.pages[path] = html
        return HOST + path


@dataclass
class Clock:
    """The episode's side: what it learned, and what pages it was told of."""

    acts_seen: list[Act] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    scripts_running: int = 0
    session: Session = field(init=False)
    has_script: bool = False

    def connected(self) -> None:
        pass

    async def acts(self, act: Act) -> str | None:
        self.acts_seen.append(act)
        return None

    def acted(self) -> None:
        pass

    def scripts(self, *, is_over: bool) -> None:
        self.scripts_running += -1 if is_over else 1
        self.has_script = True

    def changes_cookies(self) -> None:
        pass

    def makes_answers(self) -> None:
        self.session.distrust_answers()

    def refused(self, attempt: Attempt) -> None:
        self.attempts.append(attempt)


class RefusedError(Exception):
    """The endpoint answered a command with an error."""


class Client:
    """A raw client of CDP."""

    def __init__(self, wire: ClientWebSocketResponse) -> None:
        self.wire = wire
        self.events: list[dict[str, Any]] = []
        self._count = 0
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._arrived = asyncio.Event()
        self._reader = asyncio.create_task(self._read())

    @classmethod
    @asynccontextmanager
    async def of(cls, url: str) -> AsyncIterator[Self]:
        async with ClientSession() as http, http.ws_connect(url, max_msg_size=0) as wire:
            client = cls(wire)
            try:
                yield client
            finally:
                client._reader.cancel()

    async def send(self, method: str, session: str = "", **params: Any) -> dict[str, Any]:
        self._count += 1
        message: dict[str, Any] = {"id": self._count, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        answer = self._waiting[self._count] = asyncio.get_running_loop().create_future()
        await self.wire.send_str(json.dumps(message))
        async with asyncio.timeout(_ANSWER_S):
            found = await answer
        if "error" in found:
            raise RefusedError(found["error"]["message"])
        result: dict[str, Any] = found["result"]
        return result

    async def event(self, method: str) -> dict[str, Any]:
        """Return the first event of a kind that is not taken yet."""
        async with asyncio.timeout(_ANSWER_S):
            while True:
                for event in self.events:
                    if event["method"] == method:
                        self.events.remove(event)
                        return event
                self._arrived.clear()
                await self._arrived.wait()

    async def evaluate(self, expression: str, session: str = "", **more: Any) -> Any:
        found = await self.send(
            "Runtime.evaluate",
            session,
            expression=expression,
            returnByValue=True,
            awaitPromise=True,
            **more,
        )
        if "exceptionDetails" in found:
            raise RefusedError(str(found["exceptionDetails"]))
        return found["result"].get("value")

    async def until(self, expression: str, value: object, session: str = "") -> None:
        """Return once an expression has a value, through every navigation on the way."""
        async with asyncio.timeout(_ANSWER_S):
            while True:
                with suppress(RefusedError):  # of a document that went away meanwhile
                    if await self.evaluate(expression, session) == value:
                        return

    async def attach(self) -> str:
        """Attach to the first page; returns the session."""
        infos = (await self.send("Target.getTargets"))["targetInfos"]
        target = next(one["targetId"] for one in infos if one["type"] == "page")
        attached = await self.send("Target.attachToTarget", targetId=target, flatten=True)
        return str(attached["sessionId"])

    async def _read(self) -> None:
        async for message in self.wire:
            found = json.loads(message.data)
            waiting = self._waiting.pop(found.get("id", 0), None)
            if waiting is not None:
                waiting.set_result(found)
            elif "method" in found:
                self.events.append(found)
                self._arrived.set()


class Endpoint:
    """A page of a real browser, Arena's session on it, and the address for others."""

    def __init__(self, site: Site, session: Session, proxy: CdpProxy, clock: Clock) -> None:
        self.site = site
        self.session = session
        self.proxy = proxy
        self.clock = clock

    async def open(self, html: str) -> None:
        await self.session.open([self.site.page(html)])
        await self.session.settle(SETTLE_S)
        self.session.drain()

    async def settled(self) -> Activity:
        """Return what happened, when the page has settled."""
        await self.session.settle(SETTLE_S)
        await self.session.bear_out()
        return self.session.drain()

    async def address(self) -> str:
        async with ClientSession() as http, http.get(f"{self.proxy.url}/json/version") as answer:
            return str((await answer.json())["webSocketDebuggerUrl"])

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        async with Client.of(await self.address()) as client:
            yield client

    @asynccontextmanager
    async def page(self) -> AsyncIterator[Client]:
        """Connect to the first page alone."""
        async with ClientSession() as http, http.get(f"{self.proxy.url}/json/list") as answer:
            url = (await answer.json())[0]["webSocketDebuggerUrl"]
        async with Client.of(url) as client:
            yield client


@asynccontextmanager
async def open_endpoint(
    downloads: Path, files: Mapping[str, Path] | None = None, arm: ArmScripts = NO_ARM
) -> AsyncIterator[Endpoint]:
    async with launch_external(BrowserOptions()) as browser:
        listener = await browser.listen()
        with _serving(listener) as site:
            port = listener.getsockname()[1]
            options = SessionOptions(
                proxy_url=f"http://127.0.0.1:{port}",
                logical=lambda url: url.replace(HOST, "site:"),
                arm=arm,
            )
            clock = Clock()
            async with browser.session(options) as session:
                clock.session = session
                session.listen_to(lambda: None, lambda: clock.has_script, clock.broken.append)
                proxy_options = ProxyOptions(
                    socket_inside=browser.socket_inside,
                    port=browser.port,
                    downloads=downloads,
                    files=files or {},
                )
                async with CdpProxy.open(proxy_options, clock) as proxy:
                    yield Endpoint(site, session, proxy, clock)


@contextmanager
def _serving(listener: socket.socket) -> Iterator[Site]:
    found: list[Site] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            path = self.path.removeprefix(HOST).partition("?")[0]
            found[0].asked.append((self.command, self.path))
            body = found[0].pages.get(path, "").encode()
            with suppress(BrokenPipeError, ConnectionResetError):
                self.send_response(200 if path in found[0].pages else 404)
                self.send_header("content-type", "text/html; charset=utf-8")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 - http.server's names

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler, bind_and_activate=False)
    server.socket.close()
    server.socket = listener
    server.server_address = listener.getsockname()
    listener.listen()
    listener.settimeout(None)
    server.daemon_threads = True
    found.append(Site(server))
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield found[0]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
