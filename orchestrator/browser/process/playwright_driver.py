"""Playwright's driver: a program between Arena and Chromium, which may die as well."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Playwright, async_playwright

from arena_core.errors import BrowserError
from orchestrator.browser.process.profile import kill_and_wait

_START_S: Final = 60.0
_CLOSE_S: Final = 10.0
# Errors that Playwright leaves in futures that nobody can await any more.
_CLOSED: Final = ("Connection closed", "Target page, context or browser has been closed")

# The task of Playwright's that reads what a driver says, and waits for its end.
_READER: Final = "PipeTransport.run"

_Handler = Callable[[asyncio.AbstractEventLoop, dict[str, Any]], object]


@asynccontextmanager
async def running_driver() -> AsyncIterator[Playwright]:
    """Start Playwright's driver, and stop it when the block ends, even if it has died.

    Raises:
        BrowserError: it died while it started, or did not answer.
    """
    _keep_deaths_quiet(asyncio.get_running_loop())
    playwright = await _started()
    try:
        yield playwright
    finally:
        with suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                await playwright.stop()


async def _started() -> Playwright:
    others, tasks = _drivers(), asyncio.all_tasks()
    starting = asyncio.ensure_future(async_playwright().start())
    try:
        done, _ = await asyncio.wait({starting}, timeout=_START_S)
        if done and starting.exception() is None:
            return starting.result()
        await _end(_drivers() - others, asyncio.all_tasks() - tasks)
        return await starting
    except asyncio.CancelledError:
        starting.cancel()
        await _end(_drivers() - others, asyncio.all_tasks() - tasks)
        raise
    except Exception as error:  # Playwright raises no class of its own here
        if not str(error).startswith(_CLOSED):
            raise
        what = "died while it started" if done else f"did not start within {_START_S:g} s"
        raise BrowserError(f"Playwright's driver {what}") from error


async def _end(drivers: frozenset[int], tasks: set[asyncio.Task[Any]]) -> None:
    """End drivers, and wait until Playwright, which reads from them, has seen the end of each.

    It waits in a task that nobody can name, and a loop that closes before would leave the pipe to
    the driver open.
    """
    for pid in drivers:
        with suppress(ProcessLookupError):
            await asyncio.to_thread(kill_and_wait, pid, time.monotonic() + _CLOSE_S)
    reading = {task for task in tasks if _READER in repr(task.get_coro())}
    if reading:
        await asyncio.wait(reading, timeout=_CLOSE_S)


def _drivers() -> frozenset[int]:
    """Return the drivers that this process has started; none without /proc."""
    found = set[int]()
    for children in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            for pid in children.read_text(encoding="ascii").split():
                if b"run-driver" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    found.add(int(pid))
    return frozenset(found)


class _QuietDeaths:
    """Handles what asyncio reports of a loop as before, but for the death of a driver.

    Whoever waits for a driver that dies gets a `BrowserError`. asyncio would also print that nobody
    asked a future of Playwright's own: "Future exception was never retrieved".
    """

    def __init__(self, before: _Handler | None) -> None:
        self._before = before

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if "never retrieved" in context["message"] and str(error).startswith(_CLOSED):
            return
        if self._before is None:
            loop.default_exception_handler(context)
        else:
            self._before(loop, context)


def _keep_deaths_quiet(loop: asyncio.AbstractEventLoop) -> None:
    before = loop.get_exception_handler()
    if not isinstance(before, _QuietDeaths):
        loop.set_exception_handler(_QuietDeaths(before))
