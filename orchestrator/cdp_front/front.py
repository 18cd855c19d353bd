"""The front itself: a CDP endpoint on loopback, at the root of a port of its own."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from aiohttp import ClientError, ClientSession, TCPConnector, WSMsgType, web
from aiohttp.typedefs import Handler
from yarl import URL

from arena_core.errors import BrowserError
from orchestrator.cdp_front.clock import EpisodeClock, act_of
from orchestrator.cdp_front.relay import Relay
from orchestrator.cdp_front.rules import is_hidden, may_open

_LOG = logging.getLogger(__name__)
_LOOPBACK: Final = "127.0.0.1"
_HOSTS: Final = frozenset({"127.0.0.1", "localhost"})
_ANSWER_S: Final = 15.0
_CLOSE_S: Final = 5.0
_DEEP: Final = 1 << 28  # bytes of one message; what Chromium itself takes

SocketMaker = Callable[[], Awaitable[socket.socket]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontOptions:
    """What a front stands before.

    Attributes:
        socket_inside: returns a fresh socket of the browser's network.
        port: that port.
        downloads: the folder that downloads go to.
        may_rewrite_requests: see `rules.Known`.
    """

    socket_inside: SocketMaker
    port: int
    downloads: Path
    may_rewrite_requests: bool = True


class CdpFront:
    """A running front; it stops with `async with CdpFront.open(...)`.

    Attributes:
        url: what an agent is given, `http://127.0.0.1:PORT`.
        was_reached: set once a client has connected.
        lost: set where a connection ended that should not: by the browser, or by a bug here.
    """

    def __init__(self, options: FrontOptions, clock: EpisodeClock) -> None:
        self.url = ""
        self.was_reached = asyncio.Event()
        self.lost = asyncio.Event()
        self._options = options
        self._clock = clock
        self._relays: dict[Relay, tuple[asyncio.Task[None], asyncio.Event]] = {}
        self._is_frozen = False
        self._clients = 0

    @classmethod
    @asynccontextmanager
    async def open(cls, options: FrontOptions, clock: EpisodeClock) -> AsyncIterator[Self]:
        """Listen on a free port of loopback, until the block ends.

        Raises:
            BrowserError: nothing can listen there.
        """
        front = cls(options, clock)
        app = web.Application(middlewares=[front._guard])
        app.add_routes(
            [
                web.get("/json/version", front._version),
                web.get("/json/version/", front._version),
                web.get("/json", front._list),
                web.get("/json/", front._list),
                web.get("/json/list", front._list),
                web.get("/json/list/", front._list),
                web.put("/json/new", front._new),
                web.get("/devtools/{kind:browser|page}/{id}", front._connect),
            ]
        )
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        try:
            try:
                await web.TCPSite(runner, _LOOPBACK, 0).start()
            except OSError as error:
                why = error.strerror or error
                message = f"the CDP endpoint cannot listen on {_LOOPBACK}: {why}"
                raise BrowserError(message) from error
            front.url = f"http://{_LOOPBACK}:{runner.addresses[0][1]}"
            yield front
        finally:
            await front.hang_up()
            await runner.cleanup()

    @property
    def clients(self) -> int:
        """How many clients are connected."""
        return len(self._relays)

    def freeze(self) -> None:
        """Refuse every command from now on: the episode is over."""
        self._is_frozen = True
        for relay in self._relays:
            relay.is_frozen = True

    async def hang_up(self) -> None:
        """Refuse every command from now on, and let go of every client: the episode is over.

        Whatever a client held in the browser goes on: new pages, requests.
        """
        self.freeze()
        connections = tuple(self._relays.values())
        for pump, _ in connections:
            pump.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                for _, released in connections:
                    await released.wait()

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse web pages, and names that a page could have pointed at this machine."""
        host = request.headers.get("Host", "").rpartition(":")[0] or request.headers.get("Host", "")
        if "Origin" in request.headers:
            raise web.HTTPForbidden(text="no page may speak to this endpoint (Origin is set)")
        if host not in _HOSTS:
            raise web.HTTPForbidden(text="ask for this endpoint as 127.0.0.1 or localhost")
        if self._is_frozen:
            raise web.HTTPGone(text="the episode is over")
        return await handler(request)

    async def _version(self, request: web.Request) -> web.Response:
        found = json.loads(await self._ask("GET", "/json/version"))
        return web.json_response(_with_address(found, request.host))

    async def _list(self, request: web.Request) -> web.Response:
        found = json.loads(await self._ask("GET", "/json/list"))
        shown = [_with_address(one, request.host) for one in found if not is_hidden(one)]
        return web.json_response(shown)

    async def _new(self, request: web.Request) -> web.Response:
        url = request.rel_url.raw_query_string
        if not may_open(str(URL(f"http://x/?{url}", encoded=True).query_string) or url):
            raise web.HTTPForbidden(text="only http, https, data and blank pages are opened")
        act = act_of("Target.createTarget", {"url": url}, "")
        why = await self._clock.acts(act) if act is not None else None
        if why is not None:
            raise web.HTTPGone(text=why)
        try:
            made = json.loads(await self._ask("PUT", f"/json/new?{url}"))
        finally:
            self._clock.acted()
        return web.json_response(_with_address(made, request.host))

    async def _connect(self, request: web.Request) -> web.WebSocketResponse:
        kind, name = request.match_info["kind"], request.match_info["id"]
        if kind == "page" and name not in await self._pages():
            raise web.HTTPNotFound(text=f"no such page: {name}")
        path = f"/devtools/{kind}/{name}"
        client = web.WebSocketResponse(max_msg_size=_DEEP, compress=False, autoping=True)
        async with self._session() as session:
            try:
                browser = await session.ws_connect(self._at(path), max_msg_size=0, compress=0)
            except ClientError as error:
                raise web.HTTPBadGateway(text=f"the browser does not answer: {error}") from error
            await client.prepare(request)
            self.was_reached.set()
            self._clock.connected()
            relay = Relay(
                client=_Sender(client),
                browser=_Sender(browser),
                clock=self._clock,
                downloads=self._options.downloads,
                may_rewrite_requests=self._options.may_rewrite_requests,
                target=name if kind == "page" else "",
                hang_up=lambda: _end(up),
            )
            relay.is_frozen = self._is_frozen
            down = asyncio.create_task(_pump(browser, relay.from_browser))
            up = asyncio.create_task(_pump(client, relay.from_client))
            released = asyncio.Event()
            self._relays[relay] = (up, released)
            try:
                await asyncio.wait([up, down], return_when=asyncio.FIRST_COMPLETED)
                if down.done() and kind == "browser" and not client.closed:
                    self.lost.set()
            finally:
                del self._relays[relay]
                await self._end_pumps(up, down)
                relay.close()
                await browser.close()
                released.set()
                await client.close()
        return client

    async def _end_pumps(self, *pumps: asyncio.Task[None]) -> None:
        for pump in pumps:
            pump.cancel()
        for ended in await asyncio.gather(*pumps, return_exceptions=True):
            if isinstance(ended, Exception):
                _LOG.error("a bug ended a client's connection", exc_info=ended)
                self.lost.set()

    async def _pages(self) -> frozenset[str]:
        found = json.loads(await self._ask("GET", "/json/list"))
        return frozenset(one["id"] for one in found if not is_hidden(one))

    async def _ask(self, verb: str, path: str) -> str:
        try:
            async with (
                asyncio.timeout(_ANSWER_S),
                self._session() as session,
                session.request(verb, self._at(path)) as answer,
            ):
                return await answer.text()
        except (ClientError, TimeoutError, BrowserError) as error:
            raise web.HTTPBadGateway(text=f"the browser does not answer: {error}") from error

    def _at(self, path: str) -> URL:
        return URL(f"http://{_LOOPBACK}:{self._options.port}{path}", encoded=True)

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[ClientSession]:
        """Return a session whose one connection was made inside the browser's namespace."""
        made = await self._options.socket_inside()
        with made:
            connector = TCPConnector(socket_factory=lambda _: made, limit=1, force_close=True)
            async with ClientSession(connector=connector) as session:
                yield session


class _Sender:
    """One end of a connection; what a closed one is sent is dropped."""

    def __init__(self, wire: Any) -> None:
        self._wire = wire

    async def send_str(self, data: str) -> None:
        if not self._wire.closed:
            # Whose end it is that has gone is told by the one who reads from it.
            with suppress(ConnectionError):
                await self._wire.send_str(data)


async def _pump(source: Any, take: Callable[[str], Awaitable[None]]) -> None:
    async for message in source:
        if message.type is not WSMsgType.TEXT:
            return
        await take(message.data)


def _end(task: asyncio.Task[None]) -> None:
    task.get_loop().call_soon(task.cancel)


def _with_address(found: dict[str, Any], host: str) -> dict[str, Any]:
    """Return a description of the browser or a page with the address that was asked."""
    shown = {name: one for name, one in found.items() if name != "devtoolsFrontendUrl"}
    if "webSocketDebuggerUrl" in shown:
        path = URL(shown["webSocketDebuggerUrl"]).path
        shown["webSocketDebuggerUrl"] = f"ws://{host}{path}"
    return shown
