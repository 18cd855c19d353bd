"""Pictures of the current tab as it changes, for a person who looks: Chromium's screencast."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from typing import Any, Final

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from orchestrator.browser.tabs.cdp_channel import PageGoneError
from orchestrator.browser.tabs.tab import OpenTab

_ASKED: Final = {"format": "jpeg", "quality": 50, "maxWidth": 640, "maxHeight": 640}
_EVERY_S: Final = 0.5  # a picture takes 13 ms of a core, whatever its size
_BURST: Final = 4
_LOOK_S: Final = 1.0


async def film(current: Callable[[], OpenTab]) -> AsyncGenerator[str, None]:
    """Yield pictures of the current tab as JPEG in base64, the newest each time.

    Whoever is slow misses pictures. The wire is one of its own, which ends with the iteration: the
    page's other wires, and what is noted of the page, know nothing of it.
    """
    with suppress(PlaywrightError, PageGoneError):
        while True:
            tab = current()
            wire = await tab.page.context.new_cdp_session(tab.page)
            try:
                camera = _Camera(wire)
                await wire.send("Page.startScreencast", _ASKED)
                while current() is tab:
                    if await camera.has_new(_LOOK_S):
                        yield camera.latest
            finally:
                camera.stop()
                with suppress(PlaywrightError):
                    await wire.detach()


class _Camera:
    """Keeps the newest picture; Chromium sends no further ones before it was thanked for some.

    A page that moves all the time is thanked twice a second; one that changes by an action is
    thanked at once, so that the last picture is of how it stays.
    """

    def __init__(self, wire: CDPSession) -> None:
        self.latest = ""
        self._fresh = asyncio.Event()
        self._wire = wire
        self._due = 0.0
        self._thanks: set[asyncio.Task[None]] = set()
        wire.on("Page.screencastFrame", self._came)

    async def has_new(self, seconds: float) -> bool:
        """Wait for a picture that was not there before; False where none comes in time."""
        try:
            async with asyncio.timeout(seconds):
                await self._fresh.wait()
        except TimeoutError:
            return False
        self._fresh.clear()
        return True

    def stop(self) -> None:
        for task in self._thanks:
            task.cancel()

    def _came(self, frame: dict[str, Any]) -> None:
        self.latest = frame["data"]
        self._fresh.set()
        task = asyncio.get_running_loop().create_task(self._thank(frame["sessionId"]))
        self._thanks.add(task)
        task.add_done_callback(self._thanks.discard)

    async def _thank(self, number: int) -> None:
        now = asyncio.get_running_loop().time()
        self._due = max(self._due, now - _BURST * _EVERY_S) + _EVERY_S
        await asyncio.sleep(self._due - now)  # the rate that is asked for: nothing is awaited
        with suppress(PlaywrightError):
            await self._wire.send("Page.screencastFrameAck", {"sessionId": number})
