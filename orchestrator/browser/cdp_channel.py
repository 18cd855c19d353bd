"""One page's line to the browser: CDP calls with a deadline, and errors that say who is gone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Generic, Protocol, TypeVar

import msgspec
from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from arena_core.errors import BrowserError, PageSilentError

CALL_S = 15.0

Reply = dict[str, Any]  # a CDP message as it came: its shape is the protocol's, read at one place
ShapeT = TypeVar("ShapeT")


class PageGoneError(Exception):
    """The page that was spoken to has closed; the browser lives."""


class RefusedError(Exception):
    """The browser refused a call: what it names does not exist, or no more."""


class BrowserWatchdog:
    """Turns the loss of the browser into a BrowserError of everything that waits for it.

    Args:
        prove: called where something broke off; calls `lose` where the browser is gone.
    """

    def __init__(self, prove: Callable[[], Awaitable[None]]) -> None:
        self.prove = prove
        self._lost: str | None = None
        self._scopes: set[asyncio.Timeout] = set()

    @property
    def is_lost(self) -> bool:
        """Whether the browser is gone or a page of it crashed."""
        return self._lost is not None

    def lose(self, why: str) -> None:
        """Make every operation under way, and every later one, raise BrowserError."""
        if self._lost is None:
            self._lost = why
            now = asyncio.get_running_loop().time()
            for scope in self._scopes:
                scope.reschedule(now)

    @asynccontextmanager
    async def bounded(self, doing: str, seconds: float) -> AsyncIterator[None]:
        """Run a block with a deadline, and break it off when the browser is lost.

        Raises:
            BrowserError: on either, and on errors of the browser that nothing inside expected.
        """
        self._check(doing)
        scope = asyncio.timeout(seconds)
        try:
            async with scope:
                self._scopes.add(scope)
                try:
                    yield
                finally:
                    self._scopes.discard(scope)
        except TimeoutError as error:
            self._check(doing)
            message = f"the browser did not answer within {seconds:.0f} s: {doing}"
            raise BrowserError(message) from error
        except (PlaywrightError, PageGoneError, RefusedError) as error:
            await self.prove()
            self._check(doing)
            message = f"the browser broke off: {doing}: {_first_line(error)}"
            raise BrowserError(message) from error

    def _check(self, doing: str) -> None:
        if self._lost is not None:
            message = f"{self._lost}; it was to: {doing}"
            raise BrowserError(message)


class CdpSession(Protocol):
    """A wire to one page that is not Playwright's."""

    def on(self, event: str, handle: Callable[[Reply], object], /) -> object:
        """Call `handle` with the parameters of each such event."""

    async def send(self, method: str, params: dict[str, Any], /) -> Reply:
        """Call a method of the protocol."""


class CdpChannel:
    """The CDP session of one page.

    Args:
        session: the wire.
        failed: called with an error in a handler, which Playwright would answer by dropping the
            whole connection.
    """

    def __init__(self, session: CDPSession | CdpSession, failed: Callable[[str], None]) -> None:
        self._session = session
        self._failed = failed
        self._bulk: BulkChannel | None = None

    def on(self, event: str, handle: Callable[[Reply], None]) -> None:
        """Call `handle` with the parameters of each such event, in the order they happened."""

        def guarded(parameters: Reply) -> None:
            try:
                handle(parameters)
            except (LookupError, TypeError, ValueError) as error:
                self._failed(f"the browser sent a {event} that makes no sense: {error!r}")

        self._session.on(event, guarded)

    async def send(
        self, method: str, params: Mapping[str, object] | None = None, *, within_s: float = CALL_S
    ) -> Reply:
        """Call a method of the protocol.

        Raises:
            RefusedError: the browser says no, for instance because a node is gone.
            PageGoneError: the page has closed.
            PageSilentError: no answer within the deadline.
        """
        try:
            async with asyncio.timeout(within_s):
                reply: Reply = await self._session.send(method, dict(params or {}))
                return reply
        except TimeoutError as error:
            raise _no_answer(method, within_s) from error
        except PlaywrightError as error:
            text = _first_line(error)
            if "Protocol error" in text and "Target closed" not in text:
                raise RefusedError(text) from error
            raise PageGoneError(text) from error

    async def send_for_bulk(
        self, method: str, params: Mapping[str, object], shape: type[ShapeT]
    ) -> ShapeT:
        """Call a method whose reply is large, and read what `shape` names of it; else as `send`.

        The reply travels as one text. As a structure it would be walked value by value on its way
        through the driver, which for a page of 2,000 rows takes longer than making it (measured:
        2.8 s of processor time against 1.2 s). A `msgspec` type is read in an eighth of the time
        that everything in it would take as dictionaries, and leaves the garbage collector nothing.
        """
        if self._bulk is None:
            self._bulk = BulkChannel(self)
        return await self._bulk.send(method, params, shape)


class _Refusal(msgspec.Struct, frozen=True):
    message: str


class _Answer(msgspec.Struct, Generic[ShapeT], frozen=True):
    """What comes back for a call: one of both."""

    result: ShapeT | None = None
    error: _Refusal | None = None


class _Numbered(msgspec.Struct, frozen=True):
    """Any message; events have no number."""

    id: int = 0


class BulkChannel:
    """A second session with the same page, nested in its wire, that speaks in texts."""

    def __init__(self, channel: CdpChannel) -> None:
        self._channel = channel
        self._opening = asyncio.Lock()
        self._session = ""
        self._sent = 0
        self._waiting: dict[int, asyncio.Future[str]] = {}
        channel.on("Target.receivedMessageFromTarget", self._received)

    async def send(self, method: str, params: Mapping[str, object], shape: type[ShapeT]) -> ShapeT:
        """Call a method; errors as `CdpChannel.send`."""
        await self._open()
        self._sent += 1
        number = self._sent
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        message = json.dumps({"id": number, "method": method, "params": params})
        try:
            await self._channel.send(
                "Target.sendMessageToTarget", {"sessionId": self._session, "message": message}
            )
            async with asyncio.timeout(CALL_S):
                text = await answer
        except TimeoutError as error:
            raise _no_answer(method, CALL_S) from error
        finally:
            del self._waiting[number]
        answers: type[_Answer[ShapeT]] = _Answer[shape]  # type: ignore[valid-type]
        reply = decoded(text, answers)
        if reply.error is not None:
            raise RefusedError(reply.error.message)
        if reply.result is None:
            message = f"the browser's answer to {method} has no result"
            raise BrowserError(message)
        return reply.result

    async def _open(self) -> None:
        async with self._opening:
            if not self._session:
                target = (await self._channel.send("Target.getTargetInfo"))["targetInfo"]
                attached = await self._channel.send(
                    "Target.attachToTarget", {"targetId": target["targetId"], "flatten": False}
                )
                self._session = attached["sessionId"]

    def _received(self, event: Reply) -> None:
        if event["sessionId"] != self._session:
            return
        text: str = event["message"]
        answer = self._waiting.get(decoded(text, _Numbered).id)
        if answer is not None and not answer.done():
            answer.set_result(text)


def decoded(text: str, shape: type[ShapeT]) -> ShapeT:
    """Read JSON as a type of `msgspec`.

    Pages may hold halves of surrogate pairs, which only Python's own parser lets pass.

    Raises:
        BrowserError: it has another shape.
    """
    try:
        try:
            return msgspec.json.decode(text, type=shape)
        except msgspec.DecodeError:
            return msgspec.convert(json.loads(text), shape)
    except ValueError as error:
        message = f"the browser sent what makes no sense: {error}"
        raise BrowserError(message) from error


def _no_answer(method: str, within_s: float) -> PageSilentError:
    return PageSilentError(f"the browser did not answer {method} within {within_s:.0f} s")


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
