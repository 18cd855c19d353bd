"""From what is asked of a run to what is played: read, refused where it makes no sense, written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from arena_core.errors import UsageError
from arena_core.worlds import World
from orchestrator.api.arguments import read_worlds, require_at_least
from orchestrator.api.model_use import Replay, spending_limits
from orchestrator.api.option_effects import (
    refuse_idle_pace,
    refuse_offline_resolves,
    refuse_without_effect,
)
from orchestrator.api.preflight import refuse_faulty
from orchestrator.api.run_resources import RunResources
from orchestrator.engine.engine import Engine
from orchestrator.gateway.addresses import Resolve
from orchestrator.runner.agent_choice import (
    AgentChoice,
    agent_of_lock,
    choose_agent,
    require_references,
)
from orchestrator.runner.budgets import share_budget
from orchestrator.runner.lock_writer import make_lock
from orchestrator.runner.request import RunRequest, tasks_of
from orchestrator.store.run_folder import RunFolder
from sites.atlas import Atlas
from tasks.loader import load_source
from tasks.select import Selection, select_tasks
from tasks.sources import SuiteSource


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """What a new run is asked to do; see `Arena.evaluate`."""

    patterns: tuple[str, ...]
    suite: str
    agent: AgentChoice
    worlds: tuple[str, ...]
    repeats: int
    attempts: int
    staged: bool
    resolves: tuple[str, ...]
    options: Mapping[str, object]
    resources: RunResources
    screenshots: bool
    headless: bool
    record_requests: bool = False
    trace: bool = False
    max_usd: float | None = None
    max_tokens: int | None = None

    def prepare(self) -> tuple[RunRequest, SuiteSource]:
        """Return what is played, and where its tasks are written.

        Raises:
            UsageError: arguments contradict each other, nothing would be played, a limit of what
                is spent cannot be held, or the oracle is asked to play a task without a reference.
            StoreError: the run to be replayed cannot be read.
            UnknownNameError: no such suite, task or agent.
            TaskError: the suite is wrong.
        """
        worlds = read_worlds(self.worlds)
        require_at_least(1, repeats=self.repeats, attempts=self.attempts)
        refuse_offline_resolves(self.resolves, staged=self.staged, online=World.ONLINE in worlds)
        agent = choose_agent(self.agent, self.options)
        limits = spending_limits(agent, self.max_usd, self.max_tokens)
        replay = Replay.of(agent)
        source = load_source(self.suite)
        suite = source.suite
        request = RunRequest(
            suite=suite,
            tasks=select_tasks(suite, Selection(ids=self.patterns)),
            worlds=worlds,
            agent=agent.maker,
            agent_lock=agent.lock,
            repeats=self.repeats,
            attempts=self.attempts,
            staged=self.staged,
            resolves=tuple(Resolve.parse(text) for text in self.resolves),
            limits=limits,
            recording=replay.recording,
            replayed=replay.lock,
            screenshots=self.screenshots,
            headless=self.headless,
            records_requests=self.record_requests,
            traces=self.trace,
            importers=source.importers,
        )
        if not request.trials():
            names = ", ".join(task.id for task in request.tasks)
            message = (
                f"nothing to play: no task chosen runs {' or '.join(worlds)} (chosen: {names})"
            )
            raise UsageError(message)
        require_references(agent.lock, request.tasks)
        return self.resources.of(request), source

    async def refuse_mistakes(self, request: RunRequest, source: SuiteSource, atlas: Atlas) -> None:
        """Refuse tasks with mistakes and options without effect, before anything is started.

        Raises:
            TaskError: file and line of the first mistakes.
            UsageError: the option that would change nothing.
        """
        await refuse_faulty(self.suite, source, request.tasks, atlas)
        refuse_without_effect(request, self.resources, atlas)

    async def write_down(
        self, request: RunRequest, atlas: Atlas, engine: Engine, out: Path | str | None, runs: Path
    ) -> RunFolder:
        """Make the run's folder with its lock; `out`, or one of its own in `runs`.

        Raises:
            UsageError: the workers do not fit the memory; there is no folder then.
            ImageError: an image is missing.
            StoreError: the folder exists already, or cannot be made.
        """
        await share_budget(request, atlas, engine)
        lock = await make_lock(request, atlas, engine)
        return RunFolder.create(runs / lock.run if out is None else Path(out), lock, request.suite)


def resumed_request(
    folder: RunFolder,
    agent: AgentChoice | None,
    options: Mapping[str, object],
    resources: RunResources,
    atlas: Atlas,
    *,
    screenshots: bool,
    headless: bool,
    max_usd: float | None = None,
    max_tokens: int | None = None,
) -> RunRequest:
    """Return what a run that goes on plays: what its lock says, with these resources.

    Raises:
        StoreError: the lock or the suite cannot be read.
        UsageError: the resources would have no effect, or the agent is missing or another one.
    """
    lock, suite = folder.lock(), folder.suite()
    chosen = agent_of_lock(lock.agent, agent, options)
    limits = spending_limits(
        chosen,
        lock.current_limits.max_usd if max_usd is None else max_usd,
        lock.current_limits.max_tokens if max_tokens is None else max_tokens,
    )
    replay = Replay.of(chosen)
    request = resources.over(lock).of(
        RunRequest(
            suite=suite,
            tasks=tasks_of(lock, suite),
            worlds=lock.worlds,
            agent=chosen.maker,
            agent_lock=lock.agent,
            repeats=lock.repeats,
            attempts=lock.attempts,
            staged=bool(lock.staged),
            resolves=tuple(Resolve.parse(text) for text in lock.resolves),
            limits=limits,
            recording=replay.recording,
            replayed=replay.lock,
            screenshots=screenshots,
            headless=headless,
            records_requests=lock.records_requests,
            traces=lock.traces,
        )
    )
    refuse_idle_pace(request, resources, atlas)
    return request
