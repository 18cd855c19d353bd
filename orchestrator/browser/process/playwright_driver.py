"""Playwright's driver: a program between Arena and Chromium, which may die as well."""

from __future__ import annotations

import asyncio
import os
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
    try:
        return await asyncio.wait_for(async_playwright().start(), _START_S)
    except BaseException as error:  # Playwright raises no class of its own here
        await _end(others, tasks)
        if isinstance(error, TimeoutError):
            what = f"did not start within {_START_S:g} s"
        elif str(error).startswith(_CLOSED):
            what = "died while it started"
        else:
            raise
        raise BrowserError(f"Playwright's driver {what}") from error


async def _end(others: frozenset[int], tasks: set[asyncio.Task[Any]]) -> None:
    """End the drivers that are not among others, and wait until Playwright has seen that.

    It waits in tasks that nobody can name, and a loop that closes before would leave the pipe to
    the driver open.
    """
    for pid in _drivers() - others:
        with suppress(ProcessLookupError):
            await asyncio.to_thread(kill_and_wait, pid, time.monotonic() + _CLOSE_S)
    its_own = {one for one in asyncio.all_tasks() - tasks if _is_playwrights(one)}
    if its_own:
        await asyncio.wait(its_own, timeout=_CLOSE_S)


def _is_playwrights(task: asyncio.Task[Any]) -> bool:
    code = getattr(task.get_coro(), "cr_code", None)
    return code is not None and f"{os.sep}playwright{os.sep}" in code.co_filename


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
