"""One worker: plays trials one after the other, with a browser and logins of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from arena_core.errors import DatabaseError
from evaluators.changes import Change, IgnoredChanges
from evaluators.evidence import UnscoredReason
from orchestrator.access.apis import ApiAnswer
from orchestrator.episode.environment import AttemptSpec, EpisodeEnvironment
from orchestrator.episode.performance import DECIDE_DEADLINE_S, perform
from orchestrator.episode.recorder import Recorder
from orchestrator.pool.slot import Slot
from orchestrator.reset.watch import Mark
from orchestrator.runner.accounts import LiveAccounts
from orchestrator.runner.browsers import BrowserKeeper
from orchestrator.runner.network_changes import await_stillness
from orchestrator.runner.request import replicas_of
from orchestrator.store.trials import Trial
from tasks.schema import Task

if TYPE_CHECKING:
    from orchestrator.runner.world_runner import WorldRunner

_OPENING_AND_CHECKS_S = 600.0


class NoReplicas:
    """Stands where an episode has no replicas: it knows no account and answers no query."""

    async def query(self, site: str, sql: str) -> tuple[tuple[object, ...], ...]:  # noqa: ARG002
        """Refuse: a live site's database is out of reach.

        Raises:
            DatabaseError: always.
        """
        raise _out_of_reach(site)

    async def changes(self, site: str, ignored: IgnoredChanges) -> tuple[Change, ...]:  # noqa: ARG002
        """Refuse: what changed on a live site is out of reach.

        Raises:
            DatabaseError: always.
        """
        raise _out_of_reach(site)

    async def ask_api(self, site: str, role: str, path: str) -> ApiAnswer:  # noqa: ARG002
        """Refuse: API logins are those of replicas.

        Raises:
            DatabaseError: always.
        """
        raise _out_of_reach(site)

    async def marks(self) -> Mapping[str, Mark]:
        """Return nothing: there is no replica whose state could move."""
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """Plays trials of a lane.

    Attributes:
        live: its own logins at live origins: a sign-out in one episode ends no other's.
    """

    world_runner: WorldRunner
    browsers: BrowserKeeper
    live: LiveAccounts | None

    @classmethod
    @asynccontextmanager
    async def of(cls, world_runner: WorldRunner) -> AsyncIterator[Worker]:
        """Make a worker of a lane; its browser ends with the block."""
        browsers = BrowserKeeper(world_runner.browser, world_runner.trial_runner.on_event)
        live = replace(world_runner.live, jars={}) if world_runner.live else None
        try:
            yield cls(world_runner=world_runner, browsers=browsers, live=live)
        finally:
            await browsers.close()

    async def play(self, trial: Trial) -> None:
        """Play one trial through its attempts.

        Raises:
            ArenaError: not even the last attempt could begin.
        """
        request = self.world_runner.request
        task = next(task for task in request.tasks if task.id == trial.task)

        async def attempt(number: int) -> Recorder:
            if number > 1 and not self.browsers.isolated:
                await await_stillness()
            spec = AttemptSpec(
                suite=request.suite.suite,
                task=task,
                repeat=trial.repeat,
                attempt=number,
                agent=request.agent,
                screenshots=request.screenshots,
                proof_hook=request.proof_hook,
            )
            return await self._attempt(spec, task)

        await self.world_runner.trial_runner.play(trial, task, attempt)

    async def _attempt(self, spec: AttemptSpec, task: Task) -> Recorder:
        world_runner = self.world_runner
        async with self._lease(
            replicas_of(task, world_runner.atlas, world_runner.world), task
        ) as slot:
            environment = EpisodeEnvironment(
                atlas=world_runner.atlas,
                world=world_runner.world,
                browser=await self.browsers.browser(),
                replicas=slot.replicas if slot else {},
                accounts=self._accounts(slot),
                database=slot or NoReplicas(),
                resolves=world_runner.resolves,
                staged=tuple(name for name in task.sites if name in world_runner.staged),
                interrupted=world_runner.interrupted,
            )
            recorder = Recorder(spec, environment, slot.receipts if slot else ())
            await perform(recorder)
            if recorder.has_bug:
                await self.browsers.close()
            if slot is not None:
                await _account_for(slot, recorder)
            return recorder

    @asynccontextmanager
    async def _lease(self, sites: Sequence[str], task: Task) -> AsyncIterator[Slot | None]:
        slot_pool = self.world_runner.slot_pool
        if slot_pool is None or not sites:
            yield None
            return
        async with slot_pool.lease(sites, hold_s=_longest(task)) as slot:
            yield slot

    def _accounts(self, slot: Slot | None) -> LiveAccounts | Slot:
        if self.live is not None:
            return replace(self.live, replicas=slot)
        return slot or LiveAccounts(atlas=self.world_runner.atlas)


def _out_of_reach(site: str) -> DatabaseError:
    message = f"site '{site}' is visited live: its database is out of reach"
    return DatabaseError(message, hint="limit the check to `worlds: [offline]`")


def _longest(task: Task) -> float:
    """Return what no episode of a task may exceed: each part has a shorter deadline of its own."""
    decisions = (task.limits.steps + 1) * DECIDE_DEADLINE_S
    return task.limits.seconds + decisions + _OPENING_AND_CHECKS_S


async def _account_for(slot: Slot, recorder: Recorder) -> None:
    """Tell the slot what was written to; a container that died makes the attempt `infra`."""
    wrote = set(slot.replicas) if recorder.has_bug else recorder.wrote & set(slot.replicas)
    for site in wrote:
        slot.wrote(site)
    lost = await slot.lost()
    if lost is not None:
        recorder.fault(UnscoredReason.INFRA, lost)
