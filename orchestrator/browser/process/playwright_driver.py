"""Playwright's driver, and the browser profile that it leaves behind if it is killed.

The driver is a program between Arena and Chromium, and may die as well.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import stat
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

from playwright.async_api import CDPSession, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from arena_core.errors import BrowserError

_CLOSE_S: Final = 10.0
# Errors that Playwright leaves in futures that nobody can await any more.
_CLOSED: Final = ("Connection closed", "Target page, context or browser has been closed")

_Handler = Callable[[asyncio.AbstractEventLoop, dict[str, Any]], object]


@asynccontextmanager
async def running_driver() -> AsyncIterator[Playwright]:
    """Start Playwright's driver, and stop it when the block ends, even if it has died.

    Raises:
        BrowserError: it died while it started.
    """
    _keep_deaths_quiet(asyncio.get_running_loop())
    try:
        playwright = await async_playwright().start()
    except Exception as error:  # Playwright raises no class of its own here
        if not str(error).startswith(_CLOSED):
            raise
        raise BrowserError("Playwright's driver died while it started") from error
    try:
        yield playwright
    finally:
        with suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                await playwright.stop()


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


_FOLDER: Final = re.compile(r"--user-data-dir=(.+?)(?= --|$)")
_PROFILES: Final = "playwright_chromiumdev_profile-*"
_GONE_S: Final = 5.0
# The clock of files ticks every few milliseconds.
_CLOCK_LAGS_S: Final = 0.1
_LOOK_S: Final = 0.05
_PROC: Final = Path("/proc")


class Profile:
    """The profile of one browser; with no folder given, `find` asks the browser.

    A driver that dies while it starts the browser leaves a profile that nobody could ask for.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._made_after = time.time() - _CLOCK_LAGS_S

    async def find(self, session: CDPSession) -> None:
        said = (await session.send("SystemInfo.getInfo"))["commandLine"]
        found = _FOLDER.search(said)
        self._folder = Path(found[1]) if found else None

    async def remove(self) -> None:
        """Kill what still writes into it, and remove it if it is still there."""
        if self._folder is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_GONE_S):
                    left = await asyncio.to_thread(remove_dead_profiles, self._made_after)
                    while left:  # its browser ends a moment after the driver
                        await asyncio.sleep(_LOOK_S)
                        left = await asyncio.to_thread(remove_dead_profiles, self._made_after)
            return
        if not self._folder.exists():
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(_GONE_S):
                while pids := list(_using(self._folder)):
                    for pid in pids:
                        with suppress(ProcessLookupError, PermissionError):
                            os.kill(pid, signal.SIGKILL)
                    await asyncio.sleep(_LOOK_S)
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)


def remove_dead_profiles(made_after: float) -> tuple[Path, ...]:
    """Remove this user's profiles that no browser is on, made after a time; return all others.

    An empty one may belong to a browser that is just about to start: it stays.
    """
    left: list[Path] = []
    if sys.platform != "linux":
        return ()
    for folder in Path(tempfile.gettempdir()).glob(_PROFILES):
        with suppress(OSError):
            found = folder.lstat()
            is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
            if not is_ours or found.st_mtime < made_after:
                continue
            if any(_using(folder)) or not any(folder.iterdir()):
                left.append(folder)
            else:
                shutil.rmtree(folder)
    return tuple(left)


def _using(folder: Path) -> Iterator[int]:
    """Yield the processes that were started on a profile; none without /proc."""
    if sys.platform != "linux":
        return
    wanted = f"--user-data-dir={folder}".encode()
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if wanted in (entry / "cmdline").read_bytes().split(b"\0"):
                    yield int(entry.name)
