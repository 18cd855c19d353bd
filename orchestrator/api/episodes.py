"""Begins the episodes that a program plays step by step, in worlds that last until it is closed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from arena_core.errors import StateError, UsageError
from arena_core.held import Held
from arena_core.names import counted
from arena_core.worlds import World
from orchestrator.api.begun_episode import Begun
from orchestrator.api.open_episode import OpenEpisode
from orchestrator.api.opened import OpenArena, require_at_least
from orchestrator.api.suites import refuse_faulty
from orchestrator.sandbox.memory import parse_size

if TYPE_CHECKING:
    from orchestrator.api.episode_worlds import EpisodeWorlds
    from orchestrator.episode.checkpoint import Checkpoint, PageWay
    from orchestrator.runs.single_episode import EpisodeFolder, EpisodeTerms, WorldChoice
    from orchestrator.sandbox.engine.engine import Engine
    from orchestrator.sandbox.reset.state import TakenState
    from sites.registry import SiteRegistry
    from tasks.schema import Suite, Task


class Episodes:
    """Opens episodes, with a pool of replicas that lasts as long as the Arena is open."""

    def __init__(self, opened: OpenArena, *, workers: int, memory: str | None) -> None:
        require_at_least(1, workers=workers)
        self._opened = opened
        self._side_by_side = workers
        self._memory_bytes = None if memory is None else parse_size(memory)
        self._open: set[OpenEpisode] = set()
        self._linted: list[tuple[str, Task, Suite]] = []
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
        checkpoint: Checkpoint | None = None,
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
            checkpoint: where it begins, in place of its start.
        """
        from orchestrator.browser.observations.forms import require_form
        from orchestrator.runs.new_run import refuse_episode_browser

        for form in observations:
            require_form(form)
        if endpoint not in {None, "cdp"}:
            raise UsageError(f"there is no endpoint '{endpoint}'", hint="cdp, or none")
        if choice.world not in task.worlds:
            message = f"task '{task.id}' is not played {choice.world}"
            raise UsageError(message, hint=f"it is played {' and '.join(task.worlds)}")
        refuse_episode_browser(choice, task, self._opened.registry, endpoint=endpoint)

        played = terms.applied_to(task)
        asked = AskedEpisode(
            suite=name,
            task=task,
            choice=choice,
            terms=terms,
            agent=agent,
            observations=frozenset(observations),
            is_shared=endpoint is not None,
        )

        def opened(maker: _Maker, goes_on: Checkpoint | None = None) -> OpenEpisode:
            episode = OpenEpisode(
                played,
                choice.world,
                maker,
                self._open.discard,
                endpoint=endpoint,
                goes_on=goes_on,
            )
            self._open.add(episode)
            return episode

        maker = _Maker(self, asked, opened, out)
        if checkpoint is not None:
            maker.require_fits(checkpoint)
        return opened(maker, checkpoint)

    async def begin(
        self,
        asked: AskedEpisode,
        out: Path | None,
        goes_on: tuple[Checkpoint, PageWay] | None,
        folder: EpisodeFolder | None = None,
    ) -> Begun:
        """Lease what an episode needs, once its task is known to have no mistake.

        Args:
            asked: what it is to be.
            out: a new folder for its evidence, where it has no `folder` yet.
            goes_on: the checkpoint that it begins at, and how its pages come back.
            folder: its own, of one that goes back.

        Raises:
            StateError: an image is another than the checkpoint was taken with.
        """
        from orchestrator.episode.environment import AttemptSpec
        from orchestrator.episode.episode import Episode
        from orchestrator.runs.single_episode import EpisodeFolder, with_task

        registry, choice, terms = self._opened.registry, asked.choice, asked.terms
        suite = await self._linted_suite(asked.suite, asked.task)
        task = terms.applied_to(asked.task)
        engine = await self._opened.engine()
        if goes_on is not None:
            await _require_images(goes_on[0], registry, engine)
        if out is not None and folder is None:
            folder = await EpisodeFolder.create(
                out,
                with_task(suite, task),
                task,
                choice,
                agent=asked.agent,
                options=terms.options | ({"checkpoint": goes_on[0].name} if goes_on else {}),
                registry=registry,
                engine=engine,
            )
        spec = AttemptSpec(
            suite=suite.suite,
            task=task,
            repeat=0,
            attempt=1,
            agent=asked.agent,
            screenshots=choice.settings.screenshots,
            observations=asked.observations,
            viewport=terms.viewport,
            may_go_back=True,
        )
        worlds = await self._worlds_of_all()
        if goes_on is not None:
            mark, way = goes_on
            states, since = mark.states(way), mark.began
        else:
            states = {} if terms.state is None else _states_of(terms.state, task, choice)
            since = {}
        environment = worlds.environment(
            task, choice, is_shared=asked.is_shared, states=states, since=since
        )
        held = await Held.enter(environment)
        return Begun(held, Episode(spec, held.value, goes_on), folder)

    def foresee(self, asked: AskedEpisode, mark: Checkpoint, way: PageWay) -> None:
        """Learn that an episode is about to go back: what it holds is brought there at once."""
        if self._worlds is not None:
            self._worlds.foresee(asked.task, asked.choice, mark.states(way))

    async def _linted_suite(self, name: str, task: Task) -> Suite:
        """Return the suite of a task without mistakes; it is read once, also for many branches."""
        from tasks.loader import load_source

        for known, linted, suite in self._linted:
            if (known, linted) == (name, task):
                return suite
        source = await asyncio.to_thread(load_source, name)
        await refuse_faulty(source.suite.suite, source, (task,), self._opened.registry)
        self._linted.append((name, task, source.suite))
        return source.suite

    def require_room(self, count: int) -> None:
        """Raise UsageError where so many more episodes cannot be played beside those that are."""
        require_at_least(1, count=count)
        playing = 0 if self._worlds is None else self._worlds.playing
        if playing + count > self._side_by_side:
            message = (
                f"{counted(count, 'branch')} beside {counted(playing, 'episode')} that is played:"
                f" there is room for {self._side_by_side}"
            )
            raise UsageError(message, hint=f"Arena(workers={playing + count})")

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


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedEpisode:
    """What an episode is to be; arguments as those of `Episodes.open`."""

    suite: str
    task: Task
    choice: WorldChoice
    terms: EpisodeTerms
    agent: str
    observations: frozenset[str]
    is_shared: bool


@dataclass(frozen=True, slots=True)
class _Maker:
    """Begins an episode, and others like it, whose evidence goes into no folder."""

    episodes: Episodes
    asked: AskedEpisode
    opened: Callable[[_Maker], OpenEpisode]
    out: Path | None = None

    async def begin(
        self,
        goes_on: tuple[Checkpoint, PageWay] | None = None,
        folder: EpisodeFolder | None = None,
    ) -> Begun:
        return await self.episodes.begin(self.asked, self.out, goes_on, folder)

    def foresee(self, mark: Checkpoint, way: PageWay) -> None:
        self.episodes.foresee(self.asked, mark, way)

    def require_fits(self, mark: Checkpoint) -> None:
        asked = self.asked
        task = asked.terms.applied_to(asked.task)
        mark.require_fits(task, asked.choice.world, asked.terms.viewport, asked.observations)

    def more(self, count: int) -> tuple[OpenEpisode, ...]:
        self.episodes.require_room(count)
        return tuple(self.opened(replace(self, out=None)) for _ in range(count))


def terms_at(mark: Checkpoint, terms: EpisodeTerms, endpoint: str | None) -> EpisodeTerms:
    """Return the terms that a checkpoint's episode was played on.

    Raises:
        UsageError: others were asked for, or they are out of bounds.
    """
    from orchestrator.runs.single_episode import EpisodeTerms
    from orchestrator.runs.spec import read_asked

    beside = [*terms.options, *([] if endpoint is None else ["endpoint"])]
    if beside:
        message = f"{', '.join(beside)} beside the checkpoint '{mark.name}' would have no effect"
        raise UsageError(message, hint="the checkpoint says how its episode is played")
    return read_asked(
        EpisodeTerms,
        seed=mark.seed,
        max_steps=mark.limits.steps,
        max_seconds=mark.limits.seconds,
        viewport=mark.viewport,
    )


async def _require_images(mark: Checkpoint, registry: SiteRegistry, engine: Engine) -> None:
    """Refuse to go on from a checkpoint of other images, before anything is started.

    Raises:
        StateError: a site's image is another one now.
    """
    for name, was in mark.images.items():
        found = await engine.image(registry.site(name).image.tag)
        if found is not None and found.id != was:  # one that is missing is an error of its own
            message = f"site '{name}': the checkpoint '{mark.name}' is of image {was[:19]}…"
            hint = "take it anew: a state never goes over to another image"
            raise StateError(f"{message}, and here it is {found.id[:19]}…", hint=hint)


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
