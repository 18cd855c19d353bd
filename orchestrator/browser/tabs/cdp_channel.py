"""CDP calls to one page, with deadlines and errors that say whether page or browser is gone."""

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

Reply = dict[str, Any]  # a CDP message as it came
ShapeT = TypeVar("ShapeT")


class PageGoneError(Exception):
    """The page has closed; the browser lives."""


class RefusedError(Exception):
    """The browser refused a call: what it names does not exist, or no longer does."""


class BrowserWatchdog:
    """Turns the loss of the browser into a BrowserError of everything that waits for it.

    Args:
        prove: called when something broke off; calls `lose` if the browser is gone.

    Attributes:
        gone: set when the browser is lost.
    """

    def __init__(self, prove: Callable[[], Awaitable[None]]) -> None:
        self.prove = prove
        self.gone = asyncio.Event()
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
            self.gone.set()
            now = asyncio.get_running_loop().time()
            for scope in self._scopes:
                scope.reschedule(now)

    @asynccontextmanager
    async def bounded(self, doing: str, seconds: float) -> AsyncIterator[None]:
        """Run a block with a deadline, and break it off when the browser is lost."""
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
            raise BrowserError(f"the browser did not {doing} within {seconds:.0f} s") from error
        except (PlaywrightError, PageGoneError, RefusedError) as error:
            await self.prove()
            self._check(doing)
            raise BrowserError(f"the browser failed to {doing}: {_first_line(error)}") from error

    def _check(self, doing: str) -> None:
        if self._lost is not None:
            raise BrowserError(f"cannot {doing}: {self._lost}")


class CdpSession(Protocol):
    """A wire to one page that is not Playwright's."""

    def on(self, event: str, handle: Callable[[Reply], object], /) -> object: ...

    async def send(self, method: str, params: dict[str, Any], /) -> Reply: ...


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
        """Call `handle` with the parameters of each such event, in their order."""

        def guarded(parameters: Reply) -> None:
            try:
                handle(parameters)
            except (LookupError, TypeError, ValueError) as error:
                self._failed(f"the browser sent an invalid {event}: {error!r}")

        self._session.on(event, guarded)

    async def send(
        self, method: str, params: Mapping[str, object] | None = None, *, within_s: float = CALL_S
    ) -> Reply:
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
        """Call a method with a large reply, and read what `shape` names of it; else as `send`.

        The reply travels as one text. As a structure it would be walked value by value on its way
        through the driver, which for a page of 2,000 rows takes longer than making it (measured:
        2.8 s of processor time against 1.2 s). A `msgspec` type is read in an eighth of the time
        that dictionaries would take, and leaves the garbage collector nothing.
        """
        if self._bulk is None:
            self._bulk = BulkChannel(self)
        return await self._bulk.send(method, params, shape)


class _Refusal(msgspec.Struct, frozen=True):
    message: str


class _Answer(msgspec.Struct, Generic[ShapeT], frozen=True):
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
        reply = decode(text, answers)
        if reply.error is not None:
            raise RefusedError(reply.error.message)
        if reply.result is None:
            raise BrowserError(f"the browser's answer to {method} has no result")
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
        answer = self._waiting.get(decode(text, _Numbered).id)
        if answer is not None and not answer.done():
            answer.set_result(text)


def decode(text: str, shape: type[ShapeT]) -> ShapeT:
    """Read JSON as a type of `msgspec`.

    Pages may hold halves of surrogate pairs, which only Python's own parser lets pass.
    """
    try:
        try:
            return msgspec.json.decode(text, type=shape)
        except msgspec.DecodeError:
            return msgspec.convert(json.loads(text), shape)
    except ValueError as error:
        raise BrowserError(f"the browser sent an invalid reply: {error}") from error


def _no_answer(method: str, within_s: float) -> PageSilentError:
    return PageSilentError(f"the browser did not answer {method} within {within_s:.0f} s")


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
