"""What every part of an open Arena shares: its sites, its events, and an engine once needed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import AsyncExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from arena_core.errors import UsageError
from orchestrator.api.events import OnArenaEvent, WarningNote, ignore_event
from orchestrator.runner.events import ProgressNote
from orchestrator.work_events import WorkLine
from sites.atlas import Atlas

if TYPE_CHECKING:
    from orchestrator.engine.engine import Engine


class OpenArena:
    """The ground that the parts of `Arena` stand on."""

    def __init__(
        self, *, sites: Iterable[Path] | None = None, on_event: OnArenaEvent = ignore_event
    ) -> None:
        self._folders = None if sites is None else tuple(sites)
        self._on_event = on_event
        self._connecting = asyncio.Lock()
        self._connected: Engine | None = None
        self._opened: AsyncExitStack | None = None

    async def __aenter__(self) -> Self:
        if self._opened is not None:
            message = "this Arena is open already"
            raise UsageError(message, hint="open another one: Arena()")
        self._opened = AsyncExitStack()
        return self

    async def __aexit__(self, *_: object) -> None:
        opened, self._opened, self._connected = self._opened, None, None
        if opened is not None:
            await opened.aclose()

    @cached_property
    def atlas(self) -> Atlas:
        """All sites that can be used, Arena's and one's own, read when first asked for.

        A site of one's own that cannot be used is left out, and reported as a `WarningNote` event.

        Raises:
            ManifestError: a manifest of Arena's is wrong, or a folder of sites is none.
        """
        from sites.atlas import load_atlas, sites_in

        folders = None if self._folders is None else [sites_in(one) for one in self._folders]
        atlas = load_atlas(folders)
        for name, error in sorted(atlas.broken.items()):
            self._on_event(WarningNote(f"site '{name}' of your own is left out: {error.message}"))
        return atlas

    async def _engine(self) -> Engine:
        """Return the connection to the Docker engine, made when something first needs it.

        Raises:
            EngineMissingError: none answers.
            UsageError: this Arena is not open.
        """
        from orchestrator.engine.engine import Engine

        opened = self._require_open()
        async with self._connecting:
            if self._connected is None:
                self._connected = await opened.enter_async_context(await Engine.connect())
            return self._connected

    def _note(self, text: str) -> None:
        """Report that something is prepared or waited for."""
        self._on_event(ProgressNote(text))

    def _note_work(self, text: str) -> None:
        """Report a line of work that is reported step by step too."""
        self._on_event(WorkLine(text))

    def _require_open(self) -> AsyncExitStack:
        if self._opened is None:
            message = "this Arena is not open"
            raise UsageError(message, hint="use it inside: async with Arena() as arena")
        return self._opened
