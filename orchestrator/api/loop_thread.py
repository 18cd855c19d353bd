"""An event loop in a thread of its own, that runs coroutines for threads that wait."""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import AsyncGenerator, Coroutine, Generator
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import Any, Generic, TypeVar

from anyio.from_thread import start_blocking_portal

from arena_core.errors import UsageError

Result = TypeVar("Result")
Item = TypeVar("Item")


class LoopThread:
    """An event loop in a thread of its own, for programs that have none or are inside another.

    It runs coroutines to their end, one call at a time or from several threads side by side.
    """

    def __init__(self) -> None:
        self._portals = start_blocking_portal()
        self._portal = self._portals.__enter__()
        self._ident = self._portal.call(threading.get_ident)
        self._is_open = True
        atexit.register(self.close)

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine and return what it returns.

        Ctrl-C cancels it, waits until it has cleaned up, and is raised again then.

        Raises:
            UsageError: it is called by the loop itself, as an event's callback would do.
        """
        if threading.get_ident() == self._ident:
            work.close()
            message = "an event callback cannot call the Arena that calls it"
            raise UsageError(message, hint="keep the event, and call Arena after the callback")
        call = _Call(work)
        # Ctrl-C may come at any moment from here on: whether the work has begun by then, the loop
        # knows, which takes both requests in the order in which they were made.
        try:
            self._portal.start_task_soon(call.play)
            return call.done.result()
        except KeyboardInterrupt:
            self._portal.call(call.stop)
            with suppress(CancelledError):
                call.done.result()
            raise

    def iterate(self, items: AsyncGenerator[Item, None]) -> Generator[Item, None, None]:
        """Yield what an asynchronous generator yields, as it comes, and close it at the end."""
        try:
            while found := self.run(_next(items)):
                yield found[0]
        finally:
            self.run(_close(items))

    def close(self) -> None:
        """End the loop and its thread; safe to repeat."""
        atexit.unregister(self.close)
        if self._is_open:
            self._is_open = False
            self._portals.__exit__(None, None, None)


class _Call(Generic[Result]):
    """One coroutine that the loop runs for a thread that waits.

    It is cancelled as asyncio cancels a task: once, so that it can await while it cleans up. The
    scopes of anyio would cancel each of these awaits too.
    """

    def __init__(self, work: Coroutine[Any, Any, Result]) -> None:
        self.done: Future[Result] = Future()
        self._work = work
        self._task: asyncio.Task[Any] | None = None

    async def play(self) -> None:
        """Run the work, unless it was stopped before."""
        if self.done.cancelled():
            return
        self._task = asyncio.current_task()
        try:
            result = await self._work
        except asyncio.CancelledError:
            self.done.cancel()
            raise
        except BaseException as failure:  # noqa: BLE001  it is raised where somebody waits
            self.done.set_exception(failure)
        else:
            self.done.set_result(result)

    def stop(self) -> None:
        """Cancel the work, or see to it that it never begins."""
        if self._task is not None:
            self._task.cancel()
        else:
            self._work.close()
            self.done.cancel()


async def _next(items: AsyncGenerator[Item, None]) -> tuple[Item] | None:
    """Return the next item in a tuple; None where there is none."""
    try:
        return (await anext(items),)
    except StopAsyncIteration:
        return None


async def _close(items: AsyncGenerator[Any, None]) -> None:
    await items.aclose()
