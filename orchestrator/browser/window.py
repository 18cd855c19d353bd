"""A window of Chromium for a person: a profile of its own, every request through one proxy."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from orchestrator.browser.launch import find_chromium

_END_S: Final = 10.0
_NONE_BUNDLED: Final = Path("/nonexistent")


def has_display(environment: Mapping[str, str]) -> bool:
    """Whether a window can be shown here."""
    return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


@asynccontextmanager
async def open_window(proxy_url: str, page: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Open a window on a page; it closes with the block, and its profile goes with it.

    Raises:
        BrowserMissingError: none is installed.
    """
    chromium = find_chromium(None, os.environ, _NONE_BUNDLED)
    with TemporaryDirectory(prefix="arena-browse-", ignore_cleanup_errors=True) as profile:
        process = await asyncio.create_subprocess_exec(
            str(chromium),
            f"--user-data-dir={profile}",
            f"--proxy-server={proxy_url}",
            "--proxy-bypass-list=<-loopback>",
            "--no-first-run",
            "--no-default-browser-check",
            "--disable-background-networking",
            *(["--no-sandbox"] if os.geteuid() == 0 else []),  # Chromium refuses root otherwise
            page,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the command, which then ends it
        )
        try:
            yield process
        finally:
            await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(_END_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
