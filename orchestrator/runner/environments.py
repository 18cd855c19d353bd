"""The environments of episodes that are played one after the other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Self

from orchestrator.browser.exposed import ExposedBrowser, expose
from orchestrator.episode.environment import EpisodeEnvironment
from orchestrator.episode.interfaces import EpisodeBrowser
from orchestrator.pool.slot import Slot
from orchestrator.runner.accounts import OriginLogins
from orchestrator.runner.browsers import BrowserKeeper
from orchestrator.runner.events import OnEvent
from orchestrator.runner.open_world import OpenWorld
from orchestrator.runner.site_access import SiteAccess
from tasks.schema import Task


class Environments:
    """Makes environments in an open world; browser and logins at live origins outlast each.

    Both are its own: a sign-out in one of its episodes ends no login of another's.
    """

    def __init__(self, world: OpenWorld, browsers: BrowserKeeper, logins: OriginLogins) -> None:
        self._world = world
        self._browsers = browsers
        self._logins = logins

    @classmethod
    @asynccontextmanager
    async def of(cls, world: OpenWorld, on_event: OnEvent) -> AsyncIterator[Self]:
        """Make them for a world; their browser ends with the block."""
        browsers = BrowserKeeper(world.browser, on_event)
        try:
            yield cls(world, browsers, world.logins.fresh())
        finally:
            await browsers.close()

    @property
    def world(self) -> OpenWorld:
        """The world that they are made in."""
        return self._world

    @property
    def isolated(self) -> bool:
        """Whether the browser has a network of its own, which no container's start changes."""
        return self._browsers.isolated

    @asynccontextmanager
    async def shared_of_task(
        self, task: Task, *, hold_s: float | None = None
    ) -> AsyncIterator[tuple[EpisodeEnvironment, ExposedBrowser]]:
        """Put an environment together whose browser is its own and an outside program's to drive.

        Arguments and errors are those of `of_task`; BrowserError also where the browser can have no
        network of its own.
        """
        async with self._leased(task, hold_s) as slot, expose(self._world.browser) as browser:
            yield self._environment(task, slot, browser, is_shared=True), browser

    @asynccontextmanager
    async def of_task(
        self, task: Task, *, hold_s: float | None = None
    ) -> AsyncIterator[EpisodeEnvironment]:
        """Lease golden replicas of a task's sites, and put its environment together.

        The replicas are given back with the block, and brought back to golden behind it.

        Args:
            task: what is played; one episode of it.
            hold_s: how long the block may take; it is cancelled then. None for no limit: a driver
                from outside may take its time.

        Raises:
            LeaseError: no replicas were ready in time, or the block took longer than it may.
            BrowserError: no browser starts.
            ArenaError: a replica could not be made ready.
        """
        async with self._leased(task, hold_s) as slot:
            yield self._environment(task, slot, await self._browsers.browser())

    def _environment(
        self, task: Task, slot: Slot, browser: EpisodeBrowser, *, is_shared: bool = False
    ) -> EpisodeEnvironment:
        upstreams = self._world.upstreams.only(task.sites)
        access = SiteAccess(upstreams=upstreams, slot=slot, logins=self._logins)
        return EpisodeEnvironment(
            atlas=self._world.atlas,
            upstreams=upstreams,
            browser=browser,
            replicas=slot.replicas,
            accounts=access,
            database=access,
            api=access,
            lease=slot,
            resolves=self._world.resolves,
            is_shared=is_shared,
        )

    async def renew_browser(self) -> None:
        """End the browser, so that the next episode gets another one."""
        await self._browsers.close()

    @asynccontextmanager
    async def _leased(self, task: Task, hold_s: float | None) -> AsyncIterator[Slot]:
        sites = self._world.upstreams.only(task.sites).replicas
        if self._world.slot_pool is None or not sites:
            yield Slot(0, {})
            return
        async with self._world.slot_pool.lease(sites, hold_s=hold_s) as slot:
            yield slot
