"""One worker: plays trials one after the other, with a browser and logins of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.episode.environment import AttemptSpec, EpisodeEnvironment
from orchestrator.episode.episode import Episode
from orchestrator.episode.episode_runner import DECIDE_DEADLINE_S, EpisodeRunner, PlayedAttempt
from orchestrator.pool.slot import Slot
from orchestrator.runner.accounts import OriginLogins
from orchestrator.runner.browsers import BrowserKeeper
from orchestrator.runner.network_changes import await_stillness
from orchestrator.runner.site_access import SiteAccess
from orchestrator.store.trials import Trial
from tasks.schema import Task

if TYPE_CHECKING:
    from orchestrator.runner.world_runner import WorldRunner

_OPENING_AND_CHECKS_S = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """Plays trials of a lane.

    Attributes:
        logins: its own at live origins: a sign-out in one episode ends no other's.
    """

    world_runner: WorldRunner
    browsers: BrowserKeeper
    logins: OriginLogins

    @classmethod
    @asynccontextmanager
    async def of(cls, world_runner: WorldRunner) -> AsyncIterator[Worker]:
        """Make a worker of a lane; its browser ends with the block."""
        browsers = BrowserKeeper(world_runner.browser, world_runner.trial_runner.on_event)
        try:
            yield cls(
                world_runner=world_runner, browsers=browsers, logins=world_runner.logins.fresh()
            )
        finally:
            await browsers.close()

    async def play(self, trial: Trial) -> None:
        """Play one trial through its attempts.

        Raises:
            ArenaError: not even the last attempt could begin.
        """
        request = self.world_runner.request
        task = next(task for task in request.tasks if task.id == trial.task)

        async def attempt(number: int) -> PlayedAttempt:
            if number > 1 and not self.browsers.isolated:
                await await_stillness()
            spec = AttemptSpec(
                suite=request.suite.suite,
                task=task,
                repeat=trial.repeat,
                attempt=number,
                agent=request.agent.name,
                screenshots=request.screenshots,
            )
            return await self._attempt(spec, task)

        await self.world_runner.trial_runner.play(trial, task, attempt)

    async def _attempt(self, spec: AttemptSpec, task: Task) -> PlayedAttempt:
        world_runner, request = self.world_runner, self.world_runner.request
        runner = EpisodeRunner(
            agent=request.agent, interrupted=world_runner.interrupted, proof_hook=request.proof_hook
        )
        upstreams = world_runner.upstreams.only(task.sites)
        async with self._lease(upstreams.replicas, task) as slot:
            access = SiteAccess(upstreams=upstreams, slot=slot, logins=self.logins)
            environment = EpisodeEnvironment(
                atlas=world_runner.atlas,
                upstreams=upstreams,
                browser=await self.browsers.browser(),
                replicas=slot.replicas,
                accounts=access,
                database=access,
                api=access,
                lease=slot,
                resolves=world_runner.resolves,
            )
            played = await runner.play(Episode(spec, environment))
            if played.has_bug:
                await self.browsers.close()
            return played

    @asynccontextmanager
    async def _lease(self, sites: Sequence[str], task: Task) -> AsyncIterator[Slot]:
        slot_pool = self.world_runner.slot_pool
        if slot_pool is None or not sites:
            yield Slot(0, {})
            return
        async with slot_pool.lease(sites, hold_s=_longest(task)) as slot:
            yield slot


def _longest(task: Task) -> float:
    """Return what no episode of a task may exceed: each part has a shorter deadline of its own."""
    decisions = (task.limits.steps + 1) * DECIDE_DEADLINE_S
    return task.limits.seconds + decisions + _OPENING_AND_CHECKS_S
