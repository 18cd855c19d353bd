"""An open Arena whose episodes are played in a world without engine and browser."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from arena_core.held import Held
from orchestrator.api.arena import Arena
from orchestrator.api.begun_episode import Begun
from orchestrator.api.episodes import Episodes
from orchestrator.api.opened import OpenArena
from orchestrator.episode.environment import AttemptSpec, EpisodeEnvironment
from orchestrator.episode.episode import Episode
from support.worlds.fake_world import FakeWorld

if TYPE_CHECKING:
    from orchestrator.api.episodes import AskedEpisode
    from orchestrator.episode.checkpoint import Checkpoint, PageWay
    from orchestrator.runs.single_episode import EpisodeFolder
    from tasks.schema import Task


class WorldlessArena(Arena):
    """Plays every episode in a world of its own, and notes how each lease ended.

    Attributes:
        worlds: of the episodes, in their order.
        leases: `given back` or `broke off`, in the order in which they ended.
    """

    def __init__(self) -> None:
        super().__init__()
        self._episodes: WorldlessEpisodes = WorldlessEpisodes(self._opened)
        self.worlds, self.leases = self._episodes.worlds, self._episodes.leases

    @property
    def prepared(self) -> list[FakeWorld]:
        """The worlds of the next episodes, in their order."""
        return self._episodes.prepared

    @prepared.setter
    def prepared(self, worlds: list[FakeWorld]) -> None:
        self._episodes.prepared = worlds


class WorldlessEpisodes(Episodes):
    """Begins each episode in a world of its own."""

    def __init__(self, opened: OpenArena) -> None:
        super().__init__(opened, workers=99, memory=None)
        self.worlds: list[FakeWorld] = []
        self.prepared: list[FakeWorld] = []
        self.leases: list[str] = []

    async def begin(
        self,
        asked: AskedEpisode,
        out: Path | None,
        goes_on: tuple[Checkpoint, PageWay] | None,
        folder: EpisodeFolder | None = None,
    ) -> Begun:
        world = self.prepared.pop(0) if self.prepared else FakeWorld()
        self.worlds.append(world)
        held = await Held.enter(self._lease(world, asked.task))
        spec = AttemptSpec(
            suite=asked.suite,
            task=asked.terms.applied_to(asked.task),
            repeat=0,
            attempt=1,
            agent=asked.agent,
            screenshots=False,
            observations=asked.observations,
            viewport=asked.terms.viewport,
            may_go_back=True,
        )
        return Begun(held, Episode(spec, held.value, goes_on), folder)

    @asynccontextmanager
    async def _lease(self, world: FakeWorld, task: Task) -> AsyncIterator[EpisodeEnvironment]:
        try:
            yield world.environment(sites=task.sites)
            self.leases.append("given back")
        except Exception:
            self.leases.append("broke off")
            raise
