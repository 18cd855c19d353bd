"""An event loop in a thread of its own, for programs that do not have one or are inside another."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Coroutine, Generator
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any, TypeVar

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
        begun: list[asyncio.Task[Result]] = []

        async def noted() -> Result:
            task = asyncio.current_task()
            if task is not None:
                begun.append(task)
            return await work

        future = asyncio.run_coroutine_threadsafe(noted(), self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            self._loop.call_soon_threadsafe(lambda: [task.cancel() for task in begun])
            with suppress(CancelledError):
                future.result()
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


async def _next(items: AsyncGenerator[Item, None]) -> tuple[Item] | None:
    """Return the next item in a tuple; None where there is none."""
    try:
        return (await anext(items),)
    except StopAsyncIteration:
        return None


async def _close(items: AsyncGenerator[Any, None]) -> None:
    await items.aclose()
