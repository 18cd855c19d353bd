"""Dialogs and file choosers of a page: none hangs an episode, and no chooser ever opens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final

from playwright.async_api import Dialog, Page
from playwright.async_api import Error as PlaywrightError

from orchestrator.browser.tabs.cdp_channel import CdpChannel, Reply

DIALOG_PATIENCE_S: Final = 10.0
_OPENS_S: Final = 3.0


@dataclass(frozen=True, slots=True)
class FileChooser:
    """A chooser that a page asked for; `backend` is the file field's node id in the browser."""

    backend: int
    is_multiple: bool


class FileChoosers:
    """Keeps the choosers of one page closed; `refused` is called for each that nobody awaited."""

    def __init__(self, channel: CdpChannel) -> None:
        self._channel = channel
        self._awaited: asyncio.Future[FileChooser] | None = None
        self.refused: Callable[[], None] = lambda: None
        channel.on("Page.fileChooserOpened", self._opened)

    async def start(self) -> None:
        """Take all choosers over from the browser; `Page` must be enabled."""
        await self._channel.send("Page.setInterceptFileChooserDialog", {"enabled": True})

    @asynccontextmanager
    async def expected(self) -> AsyncIterator[asyncio.Future[FileChooser]]:
        """Let the block wait for the next chooser, which then counts as answered."""
        self._awaited = asyncio.get_running_loop().create_future()
        try:
            yield self._awaited
        finally:
            self._awaited.cancel()
            self._awaited = None

    def _opened(self, event: Reply) -> None:
        chooser = FileChooser(
            int(event.get("backendNodeId", 0)), event.get("mode") == "selectMultiple"
        )
        if self._awaited is not None and not self._awaited.done():
            self._awaited.set_result(chooser)
        else:
            self.refused()


async def next_chooser(opened: asyncio.Future[FileChooser]) -> FileChooser | None:
    """Return the chooser that opens; None if none does soon."""
    try:
        async with asyncio.timeout(_OPENS_S):
            return await opened
    except TimeoutError:
        return None


def leave_dialogs(page: Page, noted: Callable[[str], None]) -> None:
    """Leave a page's dialogs to the program that drives it; accept one that nobody answers.

    Playwright dismisses a dialog at once if nobody listens.
    """

    async def answer(dialog: Dialog) -> None:
        noted(f'{dialog.type} "{" ".join(dialog.message.split())[:200]}" (left to the agent)')
        await asyncio.sleep(DIALOG_PATIENCE_S)
        with suppress(PlaywrightError):  # somebody has answered it meanwhile
            await dialog.accept(dialog.default_value or None)

    page.on("dialog", answer)


def answer_dialogs(page: Page, noted: Callable[[str], None]) -> None:
    """Accept every dialog of a page at once, so that none hangs an episode.

    An alert is read, a confirmation agreed to, a prompt answered with its default, and leaving a
    page allowed: the agent asked for what led there. Each is noted as one line.
    """

    async def answer(dialog: Dialog) -> None:
        if dialog.type != "beforeunload":
            noted(f'{dialog.type} "{" ".join(dialog.message.split())[:200]}" (accepted)')
        try:
            await dialog.accept(dialog.default_value or None)
        except PlaywrightError:
            return  # the page closed, and its dialog with it

    page.on("dialog", answer)
