"""What the namespaces of an `Arena` share: its sites, an engine once needed, and its events."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from arena_core.errors import UsageError
from arena_core.work_events import WorkEvent, WorkLine
from orchestrator.runs.events import ProgressNote, RunEvent
from orchestrator.sandbox.pool.pool_context import PoolEvent
from sites.registry import SiteRegistry

if TYPE_CHECKING:
    from orchestrator.sandbox.engine.engine import Engine


@dataclass(frozen=True, slots=True)
class WarningNote:
    """Something is not as it should be, and the work goes on without it."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBegan:
    """A run is written down and begins to play.

    Attributes:
        folder: of the run; what `arena.runs.resume` and `arena.runs.read` take.
        agent: as reports show it.
        agent_note: what its figures stand for; None for a contestant.
        episodes: how many the run has in all, those that finished earlier included.
        workers: how many are played side by side in each world.
    """

    folder: Path
    agent: str
    agent_note: str | None
    episodes: int
    workers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyBegan:
    """A study is registered and begins to be played.

    Attributes:
        folder: of the study.
        agents: their labels.
        episodes: how many the study has in all, those that finished earlier included.
        workers: how many are played side by side in each world.
    """

    folder: Path
    name: str
    agents: tuple[str, ...]
    episodes: int
    workers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SitesStarting:
    """`arena.sites.up` begins to start so many replicas."""

    replicas: int


ArenaEvent = WarningNote | RunBegan | StudyBegan | RunEvent | SitesStarting | PoolEvent | WorkEvent
OnArenaEvent = Callable[[ArenaEvent], None]


def ignore_event(event: ArenaEvent) -> None:
    """Report nothing to anybody."""


class OpenArena:
    """What the namespaces of an `Arena` share.

    Attributes:
        folders: of sites of one's own; None where they are found by themselves.
        on_event: called with whatever happens.
    """

    def __init__(self, *, sites: Iterable[Path] | None, on_event: OnArenaEvent) -> None:
        self.folders = None if sites is None else tuple(sites)
        self.on_event = on_event
        self._connecting = asyncio.Lock()
        self._connected: Engine | None = None
        self._opened: AsyncExitStack | None = None

    def with_events(self, on_event: OnArenaEvent) -> OpenArena:
        """Return the same, open as long as this is, and reports what happens elsewhere."""
        other = copy.copy(self)
        other.on_event = on_event
        return other

    def open(self) -> None:
        """Open it.

        Raises:
            UsageError: it is open already.
        """
        if self._opened is not None:
            raise UsageError("this Arena is open already", hint="open another one: Arena()")
        self._opened = AsyncExitStack()

    async def close(self) -> None:
        """Close what was opened for it, the last first."""
        opened, self._opened, self._connected = self._opened, None, None
        if opened is not None:
            await opened.aclose()

    @property
    def to_close(self) -> AsyncExitStack:
        """What is closed when the Arena's block ends.

        Raises:
            UsageError: it is not open.
        """
        if self._opened is None:
            message = "this Arena is not open"
            raise UsageError(message, hint="use it inside: async with Arena() as arena")
        return self._opened

    @cached_property
    def registry(self) -> SiteRegistry:
        """See `Arena.registry`."""
        from sites.registry import load_registry, sites_in

        registry = load_registry(
            None if self.folders is None else [sites_in(one) for one in self.folders]
        )
        for name, error in sorted(registry.broken.items()):
            self.warn(f"site '{name}' of your own is left out: {error.message}")
        return registry

    async def engine(self) -> Engine:
        """Return the connection to the Docker engine, made when something first needs it.

        Where DOCKER_HOST is `attached:FILE`, it stands for the sites of this file.

        Raises:
            EngineMissingError: none answers.
            UsageError: this Arena is not open.
        """
        from orchestrator.sandbox.attached_sites import connect

        opened = self.to_close
        async with self._connecting:
            if self._connected is None:
                self._connected = await opened.enter_async_context(await connect())
            return self._connected

    def warn(self, text: str) -> None:
        """Report that something is not as it should be."""
        self.on_event(WarningNote(text))

    def note(self, text: str) -> None:
        """Report that something is prepared or waited for."""
        self.on_event(ProgressNote(text))

    def note_work(self, text: str) -> None:
        """Report a line of work that is reported step by step too."""
        self.on_event(WorkLine(text))


def require_at_least(least: int, **values: int | None) -> None:
    """Refuse the first value below a bound, by its name; None is no value."""
    for name, value in values.items():
        if value is not None and value < least:
            raise UsageError(f"{name}: {value} is not at least {least}")
