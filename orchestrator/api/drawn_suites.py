"""Asks sites what drawn tasks expect; replicas that are only read stay open from draw to draw."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Final, Self

from arena_core.errors import DatabaseError, TaskError
from arena_core.names import counted
from arena_core.work_events import WorkEnded, WorkLine, WorkPlanned, WorkStep
from arena_core.worlds import World
from evaluators.locators.db import DbLocator
from evaluators.values.text import rows_as_text
from orchestrator.api.episode_worlds import EpisodeWorlds
from orchestrator.api.opened import OpenArena
from orchestrator.authoring.proof.prover import Prover
from orchestrator.authoring.proof.rules import lookups
from orchestrator.episode.environment import Database, EpisodeEnvironment
from orchestrator.runs.open_world import WorldSize
from orchestrator.runs.single_episode import WorldChoice
from orchestrator.runs.spec import RunSettings
from orchestrator.sandbox.command_lock import process_owner
from tasks.near_misses import Found
from tasks.schema import Suite, Task

Leases = Callable[[Task, WorldChoice], AbstractAsyncContextManager[EpisodeEnvironment]]

_OFFLINE: Final = WorldChoice(settings=RunSettings(worlds=(World.OFFLINE,)))


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedSites:
    """Answers what the checks of drawn tasks expect.

    Tasks that set nothing up and ask only databases find the same rows in all fresh replicas, so
    they share those. The worlds of all others are set up, one for each.

    Attributes:
        prover: asks in worlds that are set up.
        leases: replicas of a task's sites.
    """

    opened: OpenArena
    prover: Prover
    leases: Leases

    @classmethod
    @asynccontextmanager
    async def of(cls, opened: OpenArena, workers: int) -> AsyncIterator[Self]:
        """Open them; replicas end with the block.

        Args:
            opened: has the sites and the engine.
            workers: how many worlds are set up and asked side by side.
        """
        engine, registry, on_event = await opened.engine(), opened.registry, opened.on_event
        prover = Prover(registry=registry, engine=engine, on_event=on_event, workers=workers)
        async with process_owner(engine, "drawing", opened.note) as owner:
            worlds = EpisodeWorlds(engine, registry, owner, WorldSize(spares=0), on_event)
            try:
                yield cls(opened=opened, prover=prover, leases=worlds.environment)
            finally:
                await worlds.close()

    async def ask(self, suite: Suite, tasks: tuple[Task, ...]) -> Found:
        """Return what was found, by task and look-up.

        Raises:
            TaskError: a world cannot be set up, or something cannot be asked.
        """
        apart = tuple(task for task in tasks if not reads_only_rows(task))
        found = dict(await self.prover.compute(suite, apart)) if apart else {}
        alike: dict[tuple[str, ...], list[Task]] = {}
        for task in tasks:
            if reads_only_rows(task):
                alike.setdefault(task.sites, []).append(task)
        tell = self.opened.on_event
        tell(WorkPlanned(len(alike)))
        for sites, of_them in alike.items():
            unit = " and ".join(sites)
            tell(WorkStep(unit, f"{counted(len(of_them), 'task')} to ask"))
            async with self.leases(of_them[0], _OFFLINE) as environment:
                for task in of_them:
                    found |= await _rows(environment.database, task)
            tell(WorkEnded(unit))
            tell(WorkLine(f"{unit}: {counted(len(of_them), 'task')} asked"))
        return found


def reads_only_rows(task: Task) -> bool:
    """Whether all that is asked for a task are the rows of replicas as they begin."""
    return not task.given and len(_queries(task)) == len(lookups(task))


def _queries(task: Task) -> Mapping[str, DbLocator]:
    return {one.name: one.locate for one in lookups(task) if isinstance(one.locate, DbLocator)}


async def _rows(database: Database, task: Task) -> Mapping[tuple[str, str], Sequence[str]]:
    found: dict[tuple[str, str], Sequence[str]] = {}
    for name, query in _queries(task).items():
        try:
            rows = await database.query(query.site, query.sql)
        except DatabaseError as error:
            message = f"'{task.id}', check '{name}' cannot be computed: {error.message}"
            raise TaskError(message) from error
        found[task.id, name] = rows_as_text(rows)
    return found
