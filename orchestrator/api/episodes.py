"""The part of `Arena` about single episodes, played step by step."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from arena_core.errors import UsageError
from orchestrator.api.arguments import require_at_least
from orchestrator.api.events import OnArenaEvent, ignore_event
from orchestrator.api.open_episode import Begun, OpenEpisode
from orchestrator.api.suites import SuiteOperations
from orchestrator.capacity.sizes import parse_size

if TYPE_CHECKING:
    from orchestrator.api.episode_terms import EpisodeTerms
    from orchestrator.api.episode_worlds import EpisodeWorlds, WorldChoice
    from tasks.schema import Task
    from tasks.sources import SuiteSource

AGENT = "python"


class EpisodeOperations(SuiteOperations):
    """Opens episodes, with a pool of replicas that lasts as long as the Arena is open."""

    def __init__(
        self,
        *,
        sites: Iterable[Path] | None = None,
        workers: int = 1,
        memory: str | None = None,
        on_event: OnArenaEvent = ignore_event,
    ) -> None:
        super().__init__(sites=sites, on_event=on_event)
        require_at_least(1, workers=workers)
        self._side_by_side = workers
        self._memory_bytes = None if memory is None else parse_size(memory)
        self._episodes: set[OpenEpisode] = set()
        self._linted: list[Task] = []
        self._beginning = asyncio.Lock()
        self._worlds: EpisodeWorlds | None = None

    async def __aexit__(self, *args: object) -> None:
        try:
            for episode in tuple(self._episodes):
                await episode.close()
        finally:
            self._worlds = None
            await super().__aexit__(*args)

    def episode(
        self,
        task: str,
        *,
        world: str = "offline",
        staged: bool = False,
        resolve: Sequence[str] = (),
        agent: str = AGENT,
        observations: Collection[str] = ("axtree",),
        out: Path | str | None = None,
        screenshots: bool = True,
        headless: bool = True,
        endpoint: str | None = None,
        seed: int | None = None,
        max_steps: int | None = None,
        max_seconds: float | None = None,
        viewport: tuple[int, int] | None = None,
    ) -> OpenEpisode:
        """Return an episode of a task, to be played step by step; nothing is started yet.

        Use it as an asynchronous context manager. Replicas are leased at its `reset`, from a pool
        that is kept for further episodes until this Arena is closed. Whatever model decides the
        steps is the program's own: only `evaluate` meters models and holds budgets.

        Args:
            task: `suite/task`, as in `task`.
            world: `offline` or `online`.
            staged: online, live origins are staged on this machine.
            resolve: `HOST:PORT:ADDR:PORT`: online, send a live host elsewhere.
            agent: the name that its evidence shows.
            observations: the forms of observation that it reads; no other is computed.
            out: a new folder for its evidence, which `score`, `read_run` and the commands read as a
                run of one episode; nothing is written where omitted.
            screenshots: take one screenshot per step.
            headless: show no browser window.
            endpoint: `cdp` gives the episode a Chromium of its own, with an address for a client of
                CDP: `cdp_url`. Such an episode ends by `finish`.
            seed: a MiniWoB++ page draws its problem from it. Every other task is the same whatever
                the seed; it stands in the lock of `out`, as do the next three.
            max_steps: in place of the task's limit, from 1 to 500.
            max_seconds: in place of the task's limit, up to 7200.
            viewport: width and height of the window in CSS pixels, each from 100 to 4096; the
                task's own (1280 by 720, MiniWoB++ 500 by 320) where omitted.

        Raises:
            UsageError: no such world or endpoint, the task is not played there, a number is out of
                its bounds, or an argument has no effect.
            UnknownNameError: no such suite, task or form of observation.
            TaskError: the suite is wrong.
        """
        from arena_core.worlds import World
        from orchestrator.api.arguments import read_world
        from orchestrator.api.episode_terms import EpisodeTerms
        from orchestrator.api.episode_worlds import WorldChoice
        from orchestrator.api.option_effects import refuse_offline_resolves
        from orchestrator.gateway.addresses import Resolve
        from orchestrator.observations.names import require_form
        from tasks.loader import load_source

        for form in observations:
            require_form(form)
        if endpoint not in {None, "cdp"}:
            message = f"there is no endpoint '{endpoint}'"
            raise UsageError(message, hint="cdp, or none")
        terms = EpisodeTerms.read(
            seed=seed, max_steps=max_steps, max_seconds=max_seconds, viewport=viewport
        )
        played_in = read_world(world)
        refuse_offline_resolves(resolve, staged=staged, online=played_in is World.ONLINE)
        choice = WorldChoice(
            world=played_in,
            staged=staged,
            resolves=tuple(Resolve.parse(text) for text in resolve),
            headless=headless,
        )
        _, found = self._suite_and_task(task)
        if played_in not in found.worlds:
            message = f"task '{found.id}' is not played {played_in}"
            raise UsageError(message, hint=f"it is played {' and '.join(found.worlds)}")
        name = task.rpartition("/")[0]

        async def begin() -> Begun:
            return await self._begin(
                load_source(name),
                found,
                choice,
                terms=terms,
                agent=agent,
                observations=frozenset(observations),
                out=None if out is None else Path(out),
                screenshots=screenshots,
                is_shared=endpoint is not None,
            )

        episode = OpenEpisode(
            terms.applied_to(found), played_in, begin, self._episodes.discard, endpoint
        )
        self._episodes.add(episode)
        return episode

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
        from orchestrator.api.episode_folder import EpisodeFolder
        from orchestrator.api.episode_terms import with_task
        from orchestrator.api.held import Held
        from orchestrator.api.preflight import refuse_faulty
        from orchestrator.episode.environment import AttemptSpec
        from orchestrator.episode.episode import Episode

        suite = source.suite
        if task not in self._linted:
            await refuse_faulty(suite.suite, source, (task,), self.atlas)
            self._linted.append(task)
        task = terms.applied_to(task)
        engine = await self._engine()
        folder = None
        if out is not None:
            folder = await EpisodeFolder.create(
                out,
                with_task(suite, task),
                task,
                choice,
                agent=agent,
                options=terms.options,
                atlas=self.atlas,
                engine=engine,
            )
        spec = AttemptSpec(
            suite=suite.suite,
            task=task,
            repeat=0,
            attempt=1,
            agent=agent,
            screenshots=screenshots,
            observations=observations,
            viewport=terms.viewport,
        )
        worlds = await self._episode_worlds()
        held = await Held.enter(worlds.environment(task, choice, is_shared=is_shared))
        return Begun(held, Episode(spec, held.value), folder)

    async def _episode_worlds(self) -> EpisodeWorlds:
        """Return the worlds of this Arena's episodes; the first call removes what is left over."""
        from orchestrator.api.episode_worlds import EpisodeWorlds
        from orchestrator.api.held import Held
        from orchestrator.operations.owners import process_owner
        from orchestrator.runner.open_world import WorldSize

        atlas, engine, opened = self.atlas, await self._engine(), self._require_open()
        async with self._beginning:
            if self._worlds is None:
                size = WorldSize(
                    workers=self._side_by_side,
                    spares=0,
                    memory_bytes=self._memory_bytes,
                )
                owner = await Held.enter(process_owner(engine, "episodes", self._note))
                opened.push_async_callback(owner.leave)
                worlds = EpisodeWorlds(engine, atlas, owner.value, size, self._on_event)
                opened.push_async_callback(worlds.close)
                self._worlds = worlds
            return self._worlds
