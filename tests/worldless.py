"""An open Arena whose episodes are played in a world without engine and browser."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fake_world import FakeWorld

from orchestrator.api.arena import Arena
from orchestrator.api.held import Held
from orchestrator.api.open_episode import Begun
from orchestrator.episode.environment import AttemptSpec, EpisodeEnvironment
from orchestrator.episode.episode import Episode

if TYPE_CHECKING:
    from orchestrator.api.episode_terms import EpisodeTerms
    from orchestrator.api.episode_worlds import WorldChoice
    from tasks.schema import Task
    from tasks.sources import SuiteSource


class WorldlessArena(Arena):
    """Plays every episode in a world of its own, and notes how each lease ended.

    Attributes:
        worlds: of the episodes, in their order; a test may put one there before it is asked for.
        leases: `given back` or `broke off`, in the order in which they ended.
    """

    def __init__(self) -> None:
        super().__init__(workers=99)
        self.worlds: list[FakeWorld] = []
        self.prepared: list[FakeWorld] = []
        self.leases: list[str] = []

    async def _begin(
        self,
        source: SuiteSource,
        task: Task,
        choice: WorldChoice,
        *,
        terms: EpisodeTerms,
        agent: str,
        observations: frozenset[str],
        out: Path | None,
        screenshots: bool,
        is_shared: bool,
    ) -> Begun:
        world = self.prepared.pop(0) if self.prepared else FakeWorld()
        self.worlds.append(world)
        held = await Held.enter(self._lease(world, task))
        spec = AttemptSpec(
            suite=source.suite.suite,
            task=terms.applied_to(task),
            repeat=0,
            attempt=1,
            agent=agent,
            screenshots=False,
            observations=observations,
            viewport=terms.viewport,
        )
        return Begun(held, Episode(spec, held.value), None)

    @asynccontextmanager
    async def _lease(self, world: FakeWorld, task: Task) -> AsyncIterator[EpisodeEnvironment]:
        try:
            yield world.environment(sites=task.sites)
            self.leases.append("given back")
        except Exception:
            self.leases.append("broke off")
            raise
