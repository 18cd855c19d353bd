"""Leases of a fake world, for episodes as a program holds them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from arena_core.held import Held
from arena_core.worlds import World
from orchestrator.api.begun_episode import Begun
from orchestrator.api.open_episode import OpenEpisode
from orchestrator.browser.observation import AXTREE
from orchestrator.episode.checkpoint import Checkpoint, PageWay
from orchestrator.episode.environment import EpisodeEnvironment
from orchestrator.episode.episode import Episode
from orchestrator.runs.single_episode import EpisodeFolder
from support.worlds.fake_world import FakeWorld, attempt_at, browsing_task

TASK = browsing_task()


class Leases:
    """Hands out a fake environment, and notes how each lease ended."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.ended: list[str] = []
        self.foreseen: list[tuple[str, PageWay, int]] = []  # and how many leases had ended
        self.may_begin = asyncio.Event()
        self.may_begin.set()
        self.given_back = asyncio.Event()
        self.closed: list[OpenEpisode] = []
        self._failure = failure
        self.begun: list[PageWay | None] = []
        self.world = FakeWorld()

    def episode(self) -> OpenEpisode:
        return OpenEpisode(TASK, World.OFFLINE, self, self.closed.append)

    async def begin(
        self,
        goes_on: tuple[Checkpoint, PageWay] | None = None,
        folder: EpisodeFolder | None = None,
    ) -> Begun:
        await self.may_begin.wait()
        self.begun.append(goes_on and goes_on[1])
        held = await Held.enter(self._lease())
        spec = replace(attempt_at(TASK), may_go_back=True)
        return Begun(held, Episode(spec, held.value, goes_on), folder)

    def foresee(self, mark: Checkpoint, way: PageWay) -> None:
        self.foreseen.append((mark.name, way, len(self.ended)))

    def require_fits(self, mark: Checkpoint) -> None:
        mark.require_fits(TASK, World.OFFLINE, None, {AXTREE})

    def more(self, count: int) -> tuple[OpenEpisode, ...]:
        return tuple(self.episode() for _ in range(count))

    @asynccontextmanager
    async def _lease(self) -> AsyncIterator[EpisodeEnvironment]:
        if self._failure is not None:
            raise self._failure
        try:
            yield self.world.environment()
            self.ended.append("given back")
            self.given_back.set()
        except Exception:
            self.ended.append("broke off")
            raise
