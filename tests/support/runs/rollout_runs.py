"""Rollouts from a step of a recorded run, played by a real worker on a world without engine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from orchestrator.agents.choice import find_agent, open_agent
from orchestrator.analysis.run_report.run_report import RunReport, read_run
from orchestrator.episode.environment import EpisodeEnvironment
from orchestrator.runs.attempts import AttemptRunner, Progress
from orchestrator.runs.jobs import Job, PlayedRun
from orchestrator.runs.request import RunRequest, tasks_of
from orchestrator.runs.rollouts import plan_rollouts
from orchestrator.runs.spec import RunSettings
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.runs.worker import Worker
from support.agents.scripted_model import Says, ScriptedModel
from support.runs.sampled_runs import GOLDEN
from support.worlds.fake_world import FakeWorld


@dataclass
class FakeEnvironments:
    """Leases a fresh fake world to each episode.

    Attributes:
        prepare: changes the world that the n-th lease gets, from 0.
        worlds: those that were leased, with the states that they were to begin in.
    """

    prepare: Callable[[int, FakeWorld], None] = lambda _number, _world: None
    worlds: list[FakeWorld] = field(default_factory=list)
    isolated: bool = True

    def in_browser(self, _: object) -> FakeEnvironments:
        """Return these: there is no browser."""
        return self

    @asynccontextmanager
    async def of_task(self, task: Any, **_: object) -> AsyncIterator[EpisodeEnvironment]:
        world = FakeWorld(receipts=(GOLDEN,))
        self.prepare(len(self.worlds), world)
        self.worlds.append(world)
        yield world.environment(sites=task.sites)

    async def renew_browser(self) -> None:
        """Do nothing: there is none."""


async def rolled_out(
    folder: Path,
    source: RunReport,
    step: str,
    replies: Sequence[Says],
    *,
    count: int = 2,
    agent: str = "chat",
    environments: FakeEnvironments | None = None,
    stop_after: int | None = None,
) -> RunReport:
    """Play rollouts from a step of each episode of a run, one after the other.

    The run is made where its folder is not there yet, and gone on with where it is.

    Args:
        folder: of the run of rollouts.
        source: the run that they go on from.
        step: as `arena sample --from-step` takes it.
        replies: of the model, in the order in which it is asked.
        count: of rollouts from each step.
        agent: who plays them.
        environments: what they are played in.
        stop_after: how many are played before the process ends.
    """
    interrupted = asyncio.Event()
    with ScriptedModel(list(replies)) as model:
        options = {"model": "scripted", "model_url": model.url, "temperature": 1.0, "seed": 5}
        opened = open_agent(find_agent(agent), options if agent == "chat" else {})
        try:
            kept = _opened(folder, source, step, count)
            lock = kept.lock()
            request = RunRequest(
                suite=kept.suite(),
                tasks=tasks_of(lock, kept.suite()),
                agent=opened.maker,
                agent_lock=lock.agent,
                settings=RunSettings(repeats=lock.repeats, screenshots=False),
                rollouts=lock.rollouts,
            )
            with kept.writing() as ledger:
                runner = AttemptRunner(
                    folder=kept,
                    ledger=ledger,
                    limit=2,
                    progress=Progress(total=request.episodes),
                    on_event=lambda _: None,
                )
                runner.recover({task.id: task for task in request.tasks})
                run = PlayedRun(name=lock.run, request=request, attempt_runner=runner)
                worker = Worker(
                    interrupted=interrupted,
                    environments=cast("Any", environments or FakeEnvironments()),
                )
                done = {attempt.key for attempt in ledger.finished()}
                left = [
                    key
                    for world in request.worlds
                    for key in request.keys_in(world)
                    if key not in done
                ]
                for key in left[:stop_after]:
                    await worker.play(Job(run, key))
        finally:
            await opened.maker.close()
    return read_run(kept)


def _opened(folder: Path, source: RunReport, step: str, count: int) -> RunFolder:
    if folder.exists():
        return RunFolder.open(folder)
    plan = plan_rollouts(source.folder, (), step, count)
    lock = source.lock.model_copy(
        update={
            "run": folder.name,
            "repeats": count,
            "tasks": tuple(task.id for task in plan.tasks),
            "rollouts": plan.rollouts,
        }
    )
    return RunFolder.create(folder, lock, source.folder.suite())
