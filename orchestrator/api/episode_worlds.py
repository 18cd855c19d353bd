"""The worlds that an open Arena plays single episodes in: opened once, grown as tasks need it."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from arena_core.held import Held
from arena_core.worlds import World
from orchestrator.episode.environment import EpisodeEnvironment
from orchestrator.runs.environments import BrowserKeeper, Environments
from orchestrator.runs.events import OnEvent, ProgressNote
from orchestrator.runs.open_world import OpenWorld, OriginLogins, WorldSize, open_world
from orchestrator.runs.request import browser_for
from orchestrator.runs.single_episode import WorldChoice
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.pool.slot_pool import NO_STARTS
from orchestrator.sandbox.reset.state import TakenState
from sites.registry import SiteRegistry
from sites.upstreams import Upstreams
from tasks.schema import Task


@dataclass(frozen=True, slots=True)
class _Key:
    """What episodes must have in common to share a world.

    Attributes:
        sites: online, what is visited live or staged differs with the task; offline it is empty.
    """

    choice: WorldChoice
    sites: frozenset[str]


class EpisodeWorlds:
    """Opens worlds when they are first needed, and keeps them for the next episodes.

    A browser and the logins at live origins are one episode's at a time, and kept for the next.
    """

    def __init__(
        self, engine: Engine, registry: SiteRegistry, owner: str, size: WorldSize, on_event: OnEvent
    ) -> None:
        self._engine = engine
        self._registry = registry
        self._owner = owner
        self._size = size
        self._on_event = on_event
        self._opening = asyncio.Lock()
        self._playing = 0
        self._worlds: dict[_Key, Held[OpenWorld]] = {}
        self._idle: defaultdict[_Key, list[tuple[BrowserKeeper, OriginLogins]]] = defaultdict(list)

    @property
    def playing(self) -> int:
        """How many episodes hold what they lease, or wait for it."""
        return self._playing

    @asynccontextmanager
    async def environment(
        self,
        task: Task,
        choice: WorldChoice,
        *,
        is_shared: bool = False,
        states: Mapping[str, TakenState] = NO_STARTS,
        since: Mapping[str, TakenState | None] = NO_STARTS,
    ) -> AsyncIterator[EpisodeEnvironment]:
        """Lease what an episode of a task needs; it is given back with the block.

        Args:
            task: what is played.
            choice: where.
            is_shared: the browser is the episode's own, and an outside program drives it.
            states: by site, the state that it begins in, in place of what the task sets up.
            since: by site, the state that changes are told from, where that is another one.
        """
        self._playing += 1
        if self._playing > self._size.workers:
            why = f"'{task.id}' waits until another episode is closed"
            hint = f"Arena(workers={self._playing}) has room for it"
            self._on_event(ProgressNote(f"{why}; {hint}"))
        try:
            async with self._environment(task, choice, states, since, is_shared=is_shared) as found:
                yield found
        finally:
            self._playing -= 1

    def foresee(
        self, task: Task, choice: WorldChoice, states: Mapping[str, TakenState] = NO_STARTS
    ) -> None:
        """Learn where the next episode of a task is likely to begin: used replicas go there."""
        key, upstreams = self._shared_by(task, choice)
        held = self._worlds.get(key)
        if held is not None and held.value.slot_pool is not None:
            likely = {site: states.get(site) for site in upstreams.replicas}
            held.value.slot_pool.foresee(lambda: (likely,))

    def _shared_by(self, task: Task, choice: WorldChoice) -> tuple[_Key, Upstreams]:
        """Return which world a task is played in, and what answers for its sites there."""
        is_online = choice.world is World.ONLINE
        settings = choice.settings.model_copy(update={"screenshots": True})
        key = _Key(
            replace(choice, settings=settings),  # pictures change nothing of the world
            frozenset(task.sites) if is_online or settings.tape else frozenset(),
        )
        asked = choice.settings
        upstreams = self._registry.upstreams(
            task.sites, choice.world, staged=asked.staged, taped=asked.tapes
        )
        return key, upstreams

    @asynccontextmanager
    async def _environment(
        self,
        task: Task,
        choice: WorldChoice,
        states: Mapping[str, TakenState],
        since: Mapping[str, TakenState | None],
        *,
        is_shared: bool,
    ) -> AsyncIterator[EpisodeEnvironment]:
        key, upstreams = self._shared_by(task, choice)
        world = await self._world(key, upstreams)
        # The next episode may well begin where this one does, as branches do.
        self.foresee(task, choice, states)
        browsers, logins = (
            self._idle[key].pop()
            if self._idle[key]
            else (BrowserKeeper(world.browser, self._on_event), world.logins.fresh())
        )
        try:
            environments = Environments(world, browsers, logins)
            if is_shared:
                async with environments.shared_of_task(task, states=states) as (environment, _):
                    yield environment
            else:
                async with environments.of_task(task, states=states, since=since) as environment:
                    yield environment
        finally:
            self._idle[key].append((browsers, logins))

    async def close(self) -> None:
        """End browsers, replicas and staged origins."""
        for idle in self._idle.values():
            for browsers, _ in idle:
                await browsers.close()
        self._idle.clear()
        while self._worlds:
            _, held = self._worlds.popitem()
            await held.leave()

    async def _world(self, key: _Key, upstreams: Upstreams) -> OpenWorld:
        async with self._opening:
            if key not in self._worlds:
                self._worlds[key] = await Held.enter(
                    open_world(
                        self._engine,
                        self._registry,
                        upstreams,
                        self._owner,
                        size=self._size,
                        on_event=self._on_event,
                        resolves=key.choice.settings.resolves,
                        tapes=key.choice.settings.tapes,
                        browser=browser_for(key.choice.settings, headless=key.choice.headless),
                    )
                )
            world = self._worlds[key].value
            if world.slot_pool is not None:
                await world.slot_pool.include(upstreams.replicas)
            return replace(world, upstreams=upstreams)
