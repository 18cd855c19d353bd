"""The CDP endpoint of one episode, on a loopback port of its own."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from aiohttp import ClientError, ClientSession, TCPConnector, WSMsgType, web
from aiohttp.typedefs import Handler
from yarl import URL

from arena_core.errors import BrowserError
from orchestrator.browser.cdp_proxy.agent_commands import EpisodeObserver, act_of
from orchestrator.browser.cdp_proxy.relay import OVER, Relay
from orchestrator.browser.cdp_proxy.rules import SessionFacts, is_hidden, may_open

_LOG = logging.getLogger(__name__)
_LOOPBACK: Final = "127.0.0.1"
_HOSTS: Final = frozenset({"127.0.0.1", "localhost"})
_ANSWER_S: Final = 15.0
_LISTS: Final = ("/json", "/json/", "/json/list", "/json/list/")
_CLOSE_S: Final = 5.0
_MOST_GOODBYE: Final = 120  # bytes that fit into a close frame
_DEEP: Final = 1 << 28  # bytes of one message; what Chromium itself takes

SocketMaker = Callable[[], Awaitable[socket.socket]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyOptions:
    """What a proxy connects to.

    Attributes:
        socket_inside: returns a fresh socket of the browser's network.
        port: the debugging port in that network.
        downloads, files, may_rewrite_requests: see `rules.SessionFacts`.
    """

    socket_inside: SocketMaker
    port: int
    downloads: Path
    files: Mapping[str, Path] = field(default_factory=dict)
    may_rewrite_requests: bool = True


class CdpProxy:
    """A running proxy, opened by `async with CdpProxy.open(...)`.

    Attributes:
        url: the address for an agent, `http://127.0.0.1:PORT`.
        was_reached: set once a client has connected.
        lost: set when a connection ended that should not have: the browser closed it, or a bug here
            did.
    """

    def __init__(self, options: ProxyOptions, observer: EpisodeObserver) -> None:
        self.url = ""
        self.was_reached = asyncio.Event()
        self.lost = asyncio.Event()
        self._options = options
        self._observer = observer
        self._relays: dict[Relay, tuple[asyncio.Task[None], asyncio.Event]] = {}
        self._frozen = ""

    @classmethod
    @asynccontextmanager
    async def open(cls, options: ProxyOptions, observer: EpisodeObserver) -> AsyncIterator[Self]:
        proxy = cls(options, observer)
        app = web.Application(middlewares=[proxy._guard])
        app.add_routes(
            [
                *(web.get(path, proxy._version) for path in ("/json/version", "/json/version/")),
                *(web.get(path, proxy._list) for path in _LISTS),
                web.put("/json/new", proxy._new),
                web.get("/devtools/{kind:browser|page}/{id}", proxy._connect),
            ]
        )
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        try:
            try:
                await web.TCPSite(runner, _LOOPBACK, 0).start()
            except OSError as error:
                why = error.strerror or error
                raise BrowserError(
                    f"the CDP endpoint cannot listen on {_LOOPBACK}: {why}"
                ) from error
            proxy.url = f"http://{_LOOPBACK}:{runner.addresses[0][1]}"
            yield proxy
        finally:
            await proxy.hang_up()
            await runner.cleanup()

    def freeze(self, why: str = OVER) -> None:
        """Refuse every command from now on: the episode is over."""
        self._frozen = self._frozen or why
        for relay in self._relays:
            relay.frozen = self._frozen

    async def hang_up(self, why: str = OVER) -> None:
        """Refuse every command from now on, and disconnect every client.

        What a client held in the browser goes on: new pages, requests.
        """
        self.freeze(why)
        connections = tuple(self._relays.values())
        for pump, _ in connections:
            pump.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                for _, released in connections:
                    await released.wait()

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse web pages, and host names that a page could have pointed at this machine."""
        host = request.headers.get("Host", "").rpartition(":")[0] or request.headers.get("Host", "")
        if "Origin" in request.headers:
            raise web.HTTPForbidden(text="pages may not use this endpoint (Origin is set)")
        if host not in _HOSTS:
            raise web.HTTPForbidden(text="ask for this endpoint as 127.0.0.1 or localhost")
        if self._frozen:
            raise web.HTTPGone(text=self._frozen)
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
        why = await self._observer.acts(act) if act is not None else None
        if why is not None:
            raise web.HTTPGone(text=why)
        try:
            made = json.loads(await self._ask("PUT", f"/json/new?{url}"))
        finally:
            self._observer.acted()
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
            self._observer.connected()
            relay = Relay(
                client=_Sender(client),
                browser=_Sender(browser),
                observer=self._observer,
                known=SessionFacts(
                    downloads=self._options.downloads,
                    files=self._options.files,
                    may_rewrite_requests=self._options.may_rewrite_requests,
                ),
                target=name if kind == "page" else "",
                hang_up=lambda: _end(up),
            )
            relay.frozen = self._frozen
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
                await client.close(message=self._frozen.encode()[:_MOST_GOODBYE])
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
        """Yield a session whose one connection was made inside the browser's namespace."""
        made = await self._options.socket_inside()
        with made:
            connector = TCPConnector(socket_factory=lambda _: made, limit=1, force_close=True)
            async with ClientSession(connector=connector) as session:
                yield session


class _Sender:
    """One end of a connection; messages to a closed one are dropped."""

    def __init__(self, wire: Any) -> None:
        self._wire = wire

    async def send_str(self, data: str) -> None:
        if not self._wire.closed:
            # Whoever reads from this end notices that it is gone.
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
    """Return a description of the browser or a page with the address that the client used."""
    shown = {name: one for name, one in found.items() if name != "devtoolsFrontendUrl"}
    if "webSocketDebuggerUrl" in shown:
        path = URL(shown["webSocketDebuggerUrl"]).path
        shown["webSocketDebuggerUrl"] = f"ws://{host}{path}"
    return shown
