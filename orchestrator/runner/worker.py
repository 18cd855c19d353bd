"""One worker: plays trials one after the other, with a browser and logins of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from orchestrator.agent_interface import AgentMaker, SeesByReference
from orchestrator.episode.environment import AttemptSpec
from orchestrator.episode.episode import Episode
from orchestrator.episode.episode_runner import DECIDE_DEADLINE_S, EpisodeRunner, PlayedAttempt
from orchestrator.episode.recorded import RecordedEpisode
from orchestrator.outside.agent_command import AgentCommand
from orchestrator.outside.outside_runner import OutsideRunner
from orchestrator.runner.attempts import TrialRunner
from orchestrator.runner.environments import Environments
from orchestrator.runner.events import OnEvent
from orchestrator.runner.network_changes import await_stillness
from orchestrator.runner.open_world import OpenWorld
from orchestrator.runner.request import RunRequest
from orchestrator.runner.run_budget import AttemptMeter
from orchestrator.store.trials import Trial
from tasks.schema import Task

_OPENING_AND_CHECKS_S = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedRun:
    """A run that is played: what is asked of it, and what keeps its ledger and evidence.

    Attributes:
        name: what the log calls it.
    """

    name: str
    request: RunRequest
    trial_runner: TrialRunner


@dataclass(frozen=True, slots=True)
class Job:
    """One trial of one of the runs that are played side by side."""

    run: PlayedRun
    trial: Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """Plays trials of one world, each in an environment of its own.

    Attributes:
        interrupted: set where the user wants the run to end after the step under way.
    """

    interrupted: asyncio.Event
    environments: Environments

    @classmethod
    @asynccontextmanager
    async def of(
        cls, world: OpenWorld, on_event: OnEvent, interrupted: asyncio.Event
    ) -> AsyncIterator[Worker]:
        """Make a worker of a world; its browser ends with the block."""
        async with Environments.of(world, on_event) as environments:
            yield cls(interrupted=interrupted, environments=environments)

    async def play(self, job: Job) -> None:
        """Play one trial through its attempts.

        Raises:
            ArenaError: not even the last attempt could begin.
        """
        request, keeper, trial = job.run.request, job.run.trial_runner, job.trial
        task = next(task for task in request.tasks if task.id == trial.task)

        async def attempt(number: int) -> PlayedAttempt:
            if number > 1 and not self.environments.isolated:
                await await_stillness()
            spec = AttemptSpec(
                suite=request.suite.suite,
                task=task,
                repeat=trial.repeat,
                attempt=number,
                agent=request.agent.name,
                screenshots=request.screenshots,
                observations=forms_of(request.agent, task),
                records_requests=request.records_requests,
                traces=request.traces,
            )
            meter = AttemptMeter(
                budget=keeper.budget,
                ledger=keeper.ledger,
                trial=trial,
                number=number,
            )
            return await self._attempt(request, spec, task, meter)

        await keeper.play(trial, task, attempt)

    async def _attempt(
        self, request: RunRequest, spec: AttemptSpec, task: Task, meter: AttemptMeter
    ) -> PlayedAttempt:
        if isinstance(request.agent, AgentCommand):
            return await self._attempt_outside(spec, task, request.agent)
        runner = EpisodeRunner(
            agent=request.agent,
            interrupted=self.interrupted,
            proof_hook=request.proof_hook,
            meter=meter,
            recording=request.recording,
        )
        if task.recorded is not None:
            world = self.environments.world
            return await runner.play(RecordedEpisode(spec, world.atlas, world.upstreams.world))
        async with self.environments.of_task(task, hold_s=_longest(task)) as environment:
            played = await runner.play(Episode(spec, environment))
            if played.has_bug:
                await self.environments.renew_browser()
            return played

    async def _attempt_outside(
        self, spec: AttemptSpec, task: Task, command: AgentCommand
    ) -> PlayedAttempt:
        hold_s = command.seconds + task.limits.seconds + _OPENING_AND_CHECKS_S
        async with self.environments.shared_of_task(task, hold_s=hold_s) as (environment, browser):
            runner = OutsideRunner(command=command, browser=browser, interrupted=self.interrupted)
            return await runner.play(Episode(spec, environment))


def _longest(task: Task) -> float:
    """Return what no episode of a task may exceed: each part has a shorter deadline of its own."""
    decisions = (task.limits.steps + 1) * DECIDE_DEADLINE_S
    return task.limits.seconds + decisions + _OPENING_AND_CHECKS_S


def forms_of(maker: AgentMaker, task: Task) -> frozenset[str]:
    """Return the forms of observation that the agent of a task reads."""
    if isinstance(maker, SeesByReference):
        return maker.observations | maker.observations_of(task.reference_actions)
    return maker.observations
