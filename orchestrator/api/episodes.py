"""Begins the episodes that a program plays step by step, in worlds that last until it is closed."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from arena_core.errors import UsageError
from arena_core.held import Held
from arena_core.worlds import World
from orchestrator.api.open_episode import Begun, OpenEpisode
from orchestrator.api.opened import OpenArena, require_at_least
from orchestrator.api.suites import refuse_faulty
from orchestrator.sandbox.memory import parse_size

if TYPE_CHECKING:
    from orchestrator.api.episode_worlds import EpisodeWorlds
    from orchestrator.runs.single_episode import EpisodeTerms, WorldChoice
    from orchestrator.sandbox.reset.state import TakenState
    from tasks.schema import Task
    from tasks.sources import SuiteSource


class Episodes:
    """Opens episodes, with a pool of replicas that lasts as long as the Arena is open."""

    def __init__(self, opened: OpenArena, *, workers: int, memory: str | None) -> None:
        require_at_least(1, workers=workers)
        self._opened = opened
        self._side_by_side = workers
        self._memory_bytes = None if memory is None else parse_size(memory)
        self._open: set[OpenEpisode] = set()
        self._linted: list[Task] = []
        self._beginning = asyncio.Lock()
        self._worlds: EpisodeWorlds | None = None

    async def close(self) -> None:
        """Close those that are open."""
        try:
            for episode in tuple(self._open):
                await episode.close()
        finally:
            self._worlds = None

    def open(
        self,
        name: str,
        task: Task,
        choice: WorldChoice,
        terms: EpisodeTerms,
        *,
        agent: str,
        observations: Collection[str],
        out: Path | None,
        endpoint: str | None,
    ) -> OpenEpisode:
        """Return an episode of a task, of which nothing is started yet; see `Arena.episode`.

        Args:
            name: of the task's suite.
            task: what is played.
            choice: where.
            terms: in place of what the task says.
            agent: the name that its evidence shows.
            observations: the forms that are computed.
            out: a new folder for its evidence.
            endpoint: `cdp`, or None.
        """
        from orchestrator.browser.observations.forms import require_form
        from tasks.loader import load_source

        for form in observations:
            require_form(form)
        if endpoint not in {None, "cdp"}:
            raise UsageError(f"there is no endpoint '{endpoint}'", hint="cdp, or none")
        if choice.world not in task.worlds:
            message = f"task '{task.id}' is not played {choice.world}"
            raise UsageError(message, hint=f"it is played {' and '.join(task.worlds)}")

        async def begin() -> Begun:
            return await self.begin(
                load_source(name),
                task,
                choice,
                terms=terms,
                agent=agent,
                observations=frozenset(observations),
                out=out,
                is_shared=endpoint is not None,
            )

        played = terms.applied_to(task)
        episode = OpenEpisode(played, choice.world, begin, self._open.discard, endpoint)
        self._open.add(episode)
        return episode

    async def begin(
        self,
        source: SuiteSource,
        task: Task,
        choice: WorldChoice,
        *,
        terms: EpisodeTerms,
        agent: str,
        observations: frozenset[str],
        out: Path | None,
        is_shared: bool,
    ) -> Begun:
        """Lease what an episode needs, once its task is known to have no mistake."""
        from orchestrator.episode.environment import AttemptSpec
        from orchestrator.episode.episode import Episode
        from orchestrator.runs.single_episode import EpisodeFolder, with_task

        suite, registry = source.suite, self._opened.registry
        if task not in self._linted:
            await refuse_faulty(suite.suite, source, (task,), registry)
            self._linted.append(task)
        task = terms.applied_to(task)
        engine = await self._opened.engine()
        folder = None
        if out is not None:
            folder = await EpisodeFolder.create(
                out,
                with_task(suite, task),
                task,
                choice,
                agent=agent,
                options=terms.options,
                registry=registry,
                engine=engine,
            )
        spec = AttemptSpec(
            suite=suite.suite,
            task=task,
            repeat=0,
            attempt=1,
            agent=agent,
            screenshots=choice.settings.screenshots,
            observations=observations,
            viewport=terms.viewport,
        )
        worlds = await self._worlds_of_all()
        states = {} if terms.state is None else _states_of(terms.state, task, choice)
        environment = worlds.environment(task, choice, is_shared=is_shared, states=states)
        held = await Held.enter(environment)
        return Begun(held, Episode(spec, held.value), folder)

    async def _worlds_of_all(self) -> EpisodeWorlds:
        """Return the worlds of all episodes; the first call removes what is left over."""
        from orchestrator.api.episode_worlds import EpisodeWorlds
        from orchestrator.runs.open_world import WorldSize
        from orchestrator.sandbox.command_lock import process_owner

        opened = self._opened
        engine, to_close = await opened.engine(), opened.to_close
        async with self._beginning:
            if self._worlds is None:
                size = WorldSize(
                    workers=self._side_by_side, spares=0, memory_bytes=self._memory_bytes
                )
                owner = await Held.enter(process_owner(engine, "episodes", opened.note))
                to_close.push_async_callback(owner.leave)
                worlds = EpisodeWorlds(engine, opened.registry, owner.value, size, opened.on_event)
                to_close.push_async_callback(worlds.close)
                self._worlds = worlds
            return self._worlds


def _states_of(name: str, task: Task, choice: WorldChoice) -> Mapping[str, TakenState]:
    """Return what a saved state holds of a task's sites.

    Raises:
        UsageError: the task is not played offline, or none of its sites is in the state.
        UnknownNameError: there is no such state.
        StateError: its file is damaged.
    """
    from orchestrator.sandbox.states import store

    if choice.world is not World.OFFLINE:
        raise UsageError(f"the state '{name}' is of replicas: an episode online cannot begin there")
    saved = store.kept(name)
    found = {site: taken for site, taken in saved.sites.items() if site in task.sites}
    if not found:
        held = ", ".join(sorted(saved.sites))
        message = f"the state '{name}' holds {held}, and '{task.id}' visits {', '.join(task.sites)}"
        raise UsageError(message, hint="arena state list")
    return found
