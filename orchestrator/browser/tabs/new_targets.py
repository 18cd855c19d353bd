"""Holds every new page of a browser until the watcher is in it.

Playwright reports a page once it has gone somewhere; by then it has run, and a program that drives
the browser may have clicked in it. Here Arena attaches to the page as it is created, holds it (CDP:
`waitForDebuggerOnStart`), installs the watcher, and lets it run. The page's events are kept until
its tab takes them over.
"""

from __future__ import annotations

import asyncio
import json
import signal
import socket
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, Self

from aiohttp import ClientError, ClientSession, ClientWebSocketResponse, TCPConnector, WSMsgType
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from arena_core.errors import BrowserError
from orchestrator.browser.tabs.address_changes import ASYNC_DEPTH, ForgedAnswers
from orchestrator.browser.tabs.cdp_channel import PageGoneError, RefusedError, Reply
from orchestrator.browser.tabs.watcher import WORLD, install_calls, page_source

_APPEARS_S: Final = 10.0
_GONE: Final = "the page has closed"
_CRASHED: Final = "the page has crashed"
_ENABLING: Final[tuple[tuple[str, Mapping[str, object]], ...]] = (
    ("Page.enable", {}),
    ("Runtime.enable", {}),
    ("Network.enable", {}),
    # Only with the debugger do call stacks reach back through timers and promises; it never pauses.
    ("Debugger.enable", {}),
    ("Debugger.setSkipAllPauses", {"skip": True}),
    ("Debugger.setAsyncCallStackDepth", {"maxDepth": ASYNC_DEPTH}),
)
_FROM_OUTSIDE: Final = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP})


@dataclass(frozen=True, slots=True)
class PageCrash:
    """How the process of a page ended.

    Attributes:
        status: in the browser's words: `crashed`, `killed`, `oom` and so on.
        code: the signal, or the exit code.
    """

    target: str
    status: str
    code: int

    @property
    def is_by_itself(self) -> bool:
        """Whether the page brought it down; else somebody ended it, such as the kernel."""
        return self.code not in _FROM_OUTSIDE

    def __str__(self) -> str:
        with suppress(ValueError):
            return f"{self.status}, {signal.Signals(self.code).name}"
        return f"{self.status}, code {self.code}"


class TargetSession:
    """The wire of one page, beside Playwright's; its events are kept until `release`."""

    def __init__(self, wire: _Wire, name: str, target: str) -> None:
        self.target = target
        self._wire = wire
        self.name = name
        self._handlers: defaultdict[str, list[Callable[[Reply], object]]] = defaultdict(list)
        self._kept: list[tuple[str, Reply]] | None = []
        self.is_gone = False
        self.world: int | None = None

    def on(self, event: str, handle: Callable[[Reply], object]) -> None:
        self._handlers[event].append(handle)

    def release(self) -> None:
        """Deliver the kept events in their order, and later ones at once."""
        while self._kept:
            self._hand_over(*self._kept.pop(0))
        self._kept = None

    async def send(self, method: str, params: Mapping[str, object] | None = None) -> Reply:
        if self.is_gone:
            raise PageGoneError(_GONE)
        return await self._wire.send(method, params, self.name)

    def post(self, method: str, params: Mapping[str, object] | None = None) -> Awaitable[None]:
        """Call a method without waiting for its answer."""
        return self._wire.post(method, params, self.name)

    @property
    def is_taken_over(self) -> bool:
        """Whether a tab stands for the page."""
        return self._kept is None

    def heard(self, method: str, params: Reply) -> None:
        if self._kept is None:
            self._hand_over(method, params)
        else:
            self._kept.append((method, params))

    def _hand_over(self, method: str, params: Reply) -> None:
        for handle in tuple(self._handlers[method]):
            handle(params)


class NewTargets:
    """Attaches to every page of a browser before it runs.

    Attributes:
        crashed: called with each page whose process ended.
        forged_answers: those that the browser's client gave in place of sites.
    """

    def __init__(self, wire: _Wire, selectors: tuple[str, ...] = ()) -> None:
        self._wire = wire
        self._selectors = selectors
        self._sessions: dict[str, TargetSession] = {}
        self._by_target: dict[str, TargetSession] = {}
        self._changed = asyncio.Event()
        self.crashed: Callable[[PageCrash], None] = lambda _: None
        self.forged_answers = ForgedAnswers()
        wire.on_event = self._heard

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        port: int,
        socket_inside: Callable[[], Awaitable[socket.socket]],
        selectors: tuple[str, ...] = (),
    ) -> AsyncIterator[Self]:
        """Connect to a browser's debugging port, and hold its new pages until the block ends."""
        try:
            async with _connected(port, socket_inside) as wire:
                new_targets = cls(wire, selectors)
                pages = [{"type": "page"}]
                await wire.send(
                    "Target.setDiscoverTargets", {"discover": True, "filter": pages}, ""
                )
                await wire.send(
                    "Target.setAutoAttach",
                    {
                        "autoAttach": True,
                        "waitForDebuggerOnStart": True,
                        "flatten": True,
                        "filter": pages,
                    },
                    "",
                )
                yield new_targets
        except ClientError as error:
            raise BrowserError(f"the browser's debugging port does not answer: {error}") from error

    async def of(self, page: Page) -> TargetSession:
        """Return the wire of a page that Playwright reported."""
        try:
            asking = await page.context.new_cdp_session(page)
            target = (await asking.send("Target.getTargetInfo"))["targetInfo"]["targetId"]
            await asking.detach()
            async with asyncio.timeout(_APPEARS_S):
                while (found := self._by_target.get(target)) is None:
                    self._changed.clear()
                    await self._changed.wait()
        except (PlaywrightError, TimeoutError) as error:
            raise PageGoneError(str(error)) from error
        return found

    async def _heard(self, method: str, params: Reply, session: str) -> None:
        if session:
            if (found := self._sessions.get(session)) is not None:
                found.heard(method, params)
                await self._reinstall_watcher(found, method, params)
        elif method == "Target.attachedToTarget":
            await self._attached(params)
        elif method == "Target.detachedFromTarget":
            gone = self._sessions.pop(params["sessionId"], None)
            if gone is not None:
                gone.is_gone = True
                self._by_target.pop(gone.target, None)
        elif method == "Target.targetCrashed":
            crash = PageCrash(params["targetId"], params["status"], params["errorCode"])
            if (found := self._by_target.get(crash.target)) is not None:
                self._wire.give_up(found.name, _CRASHED)
            self.crashed(crash)

    async def _reinstall_watcher(self, session: TargetSession, method: str, params: Reply) -> None:
        """Put the watcher anew into a page's first document, see `watcher.page_source`.

        The tab that does it for later documents exists only once Playwright has reported the page.
        """
        if method == "Runtime.executionContextCreated" and params["context"]["name"] == WORLD:
            session.world = params["context"]["id"]
        if method != "Page.frameNavigated" or "parentId" in params["frame"]:
            return
        if session.world is not None and not session.is_taken_over:
            call = {"expression": page_source(hears_scripts=True), "contextId": session.world}
            await session.post("Runtime.evaluate", call)

    async def _attached(self, params: Reply) -> None:
        name, target = params["sessionId"], params["targetInfo"]["targetId"]
        session = self._sessions[name] = TargetSession(self._wire, name, target)
        # One wire keeps the order, and the page runs only after the last: no need to await answers.
        for method, call in _ENABLING:
            await session.post(method, call)
        for method, call in install_calls(hears_scripts=True, selectors=self._selectors):
            await session.post(method, call)
        await session.post("Runtime.runIfWaitingForDebugger")
        self._by_target[target] = session
        self._changed.set()


class _Wire:
    """One connection to the browser, with flat sessions."""

    def __init__(self, connection: ClientWebSocketResponse) -> None:
        self.on_event: Callable[[str, Reply, str], Awaitable[None]] = _ignore
        self._connection = connection
        self._count = 0
        self._waiting: dict[int, asyncio.Future[Reply]] = {}
        self._asked: dict[int, str] = {}

    async def send(self, method: str, params: Mapping[str, object] | None, session: str) -> Reply:
        self._count += 1
        number = self._count
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._asked[number] = session
        try:
            await self._write(number, method, params, session)
            reply = await answer
        finally:
            self._waiting.pop(number, None)
            self._asked.pop(number, None)
        if "error" in reply:
            text = str(reply["error"]["message"])
            if "Session with given id" in text or "closed" in text:
                raise PageGoneError(text)
            raise RefusedError(text)
        result: Reply = reply["result"]
        return result

    async def post(self, method: str, params: Mapping[str, object] | None, session: str) -> None:
        self._count += 1
        await self._write(self._count, method, params, session)

    async def read(self) -> None:
        async for message in self._connection:
            if message.type is not WSMsgType.TEXT:
                break
            found: dict[str, Any] = json.loads(message.data)
            if "id" in found:
                waiting = self._waiting.get(found["id"])
                if waiting is not None and not waiting.done():
                    waiting.set_result(found)
            else:
                await self.on_event(found["method"], found["params"], found.get("sessionId", ""))
        self.close()

    def close(self) -> None:
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(PageGoneError(_GONE))

    def give_up(self, session: str, why: str) -> None:
        """Fail everything that waits for an answer of a session."""
        for number in [number for number, of in self._asked.items() if of == session]:
            waiting = self._waiting[number]
            if not waiting.done():
                waiting.set_exception(PageGoneError(why))

    async def _write(
        self, number: int, method: str, params: Mapping[str, object] | None, session: str
    ) -> None:
        message: dict[str, object] = {"id": number, "method": method, "params": dict(params or {})}
        if session:
            message["sessionId"] = session
        try:
            await self._connection.send_str(json.dumps(message))
        except (ClientError, ConnectionError) as error:
            raise PageGoneError(str(error)) from error


async def _ignore(method: str, params: Reply, session: str) -> None: ...


@asynccontextmanager
async def _connected(
    port: int, socket_inside: Callable[[], Awaitable[socket.socket]]
) -> AsyncIterator[_Wire]:
    base = f"http://127.0.0.1:{port}"
    made = [await socket_inside(), await socket_inside()]
    connector = TCPConnector(socket_factory=lambda _: made.pop(), force_close=True)
    try:
        async with ClientSession(connector=connector) as http:
            async with http.get(f"{base}/json/version") as answer:
                url = (await answer.json())["webSocketDebuggerUrl"]
            async with http.ws_connect(url, max_msg_size=0, compress=0) as connection:
                wire = _Wire(connection)
                reading = asyncio.create_task(wire.read())
                try:
                    yield wire
                finally:
                    reading.cancel()
                    wire.close()
                    await asyncio.gather(reading, return_exceptions=True)
    finally:
        for unused in made:
            unused.close()
