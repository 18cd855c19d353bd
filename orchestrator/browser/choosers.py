"""File choosers that a page asks for: none is ever opened, whoever uploads answers it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from orchestrator.browser.cdp_channel import CdpChannel, Reply

_OPENS_S: Final = 3.0


@dataclass(frozen=True, slots=True)
class FileChooser:
    """A chooser that a page asked for.

    Attributes:
        backend: the browser's node id of the file field.
        is_multiple: whether it takes several files.
    """

    backend: int
    is_multiple: bool


class FileChoosers:
    """Keeps the choosers of one page closed.

    Attributes:
        refused: called for each chooser that nobody waited for.
    """

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
    """Return the chooser that opens; None where none does soon."""
    try:
        async with asyncio.timeout(_OPENS_S):
            return await opened
    except TimeoutError:
        return None
