"""An event loop in a thread of its own, for programs that do not have one or are inside another."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Coroutine, Generator
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import Any, Generic, TypeVar

from arena_core.errors import UsageError

Result = TypeVar("Result")
Item = TypeVar("Item")


class BackgroundLoop:
    """Runs coroutines to their end, one call at a time or from several threads side by side."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="arena-loop", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine and return what it returns.

        Ctrl-C cancels it, waits until it has cleaned up, and is raised again then.

        Raises:
            UsageError: it is called by the loop itself, as an event's callback would do.
        """
        if threading.current_thread() is self._thread:
            work.close()
            message = "an event callback cannot call the Arena that calls it"
            raise UsageError(message, hint="keep the event, and call Arena after the callback")
        call = _Call(self._loop, work)
        # Ctrl-C may come at any moment from here on: whether the work has begun by then, the loop
        # knows, which takes both requests in the order in which they were made.
        try:
            self._loop.call_soon_threadsafe(call.start)
            return call.done.result()
        except KeyboardInterrupt:
            self._loop.call_soon_threadsafe(call.stop)
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
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
        finally:
            self._loop.close()


class _Call(Generic[Result]):
    """One coroutine that the loop runs for a thread that waits."""

    def __init__(self, loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Result]) -> None:
        self.done: Future[Result] = Future()
        self._loop = loop
        self._work = work
        self._task: asyncio.Task[Result] | None = None

    def start(self) -> None:
        self._task = self._loop.create_task(self._work)
        self._task.add_done_callback(self._settle)

    def stop(self) -> None:
        """Cancel the work, or see to it that it never begins."""
        if self._task is not None:
            self._task.cancel()
        else:
            self._work.close()
            self.done.cancel()

    def _settle(self, task: asyncio.Task[Result]) -> None:
        if task.cancelled():
            self.done.cancel()
        elif (failure := task.exception()) is not None:
            self.done.set_exception(failure)
        else:
            self.done.set_result(task.result())


async def _next(items: AsyncGenerator[Item, None]) -> tuple[Item] | None:
    """Return the next item in a tuple; None where there is none."""
    try:
        return (await anext(items),)
    except StopAsyncIteration:
        return None


async def _close(items: AsyncGenerator[Any, None]) -> None:
    await items.aclose()
