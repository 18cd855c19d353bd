"""What playing a suite must show: the oracle passes, idle fails, and worlds part only as said."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from evaluators.verdicts import OutcomeKind, Standing
from orchestrator.agents.registry import AgentOptions, make_agent
from orchestrator.engine.engine import Engine
from orchestrator.runner.events import OnEvent
from orchestrator.runner.locking import make_lock
from orchestrator.runner.request import RunRequest
from orchestrator.runner.run import Run
from orchestrator.store.lock import AgentLock
from orchestrator.store.rescoring import ScoredTrial, rescore
from orchestrator.store.run_folder import RunFolder
from sites.atlas import Atlas
from sites.worlds import World
from tasks.findings import Finding, Severity
from tasks.schema import Suite, Task


async def prove_suite(
    suite: Suite, tasks: tuple[Task, ...], atlas: Atlas, engine: Engine, on_event: OnEvent
) -> tuple[Finding, ...]:
    """Play tasks with `oracle` and `idle` in both worlds, live origins staged; return what fails.

    Raises:
        ArenaError: the machine could not play it at all.
    """
    played: dict[str, tuple[ScoredTrial, ...]] = {}
    with tempfile.TemporaryDirectory(prefix="arena-proof-") as scratch:
        for name in _EXPECTATIONS:
            request = RunRequest(
                suite=suite,
                tasks=tasks,
                worlds=(World.OFFLINE, World.ONLINE),
                agent=make_agent(name, AgentOptions()),
                agent_lock=AgentLock(name=name, options={"kind": name}),
                staged=True,
                screenshots=False,
            )
            played[name] = await _play(request, Path(scratch) / name, atlas, engine, on_event)
    return tuple(
        finding
        for name, expect in _EXPECTATIONS.items()
        for finding in _judge(name, expect, played[name])
    )


async def _play(
    request: RunRequest, path: Path, atlas: Atlas, engine: Engine, on_event: OnEvent
) -> tuple[ScoredTrial, ...]:
    lock = await make_lock(request, atlas, engine)
    folder = RunFolder.create(path, lock, request.suite)
    await Run(
        request=request,
        folder=folder,
        owner=lock.run,
        atlas=atlas,
        engine=engine,
        on_event=on_event,
        interrupted=asyncio.Event(),
    ).play()
    return rescore(folder)


def _judge(
    name: str, expect: Callable[[ScoredTrial], str | None], trials: Iterable[ScoredTrial]
) -> Iterable[Finding]:
    for played in trials:
        wrong = expect(played)
        if wrong is not None:
            yield Finding(Severity.ERROR, played.task.id, f"{name}, {played.trial.world}", wrong)


def _oracle_passes(played: ScoredTrial) -> str | None:
    """The reference succeeds, or parts from the offline world exactly as the task says."""
    outcome, parts = played.score.outcome, played.task.parts
    if played.trial.world is World.ONLINE and parts is not None:
        unmet = [v.check for v in played.score.verdicts if v.standing is Standing.UNMET]
        if str(outcome) != parts.outcome:
            return f"must part as '{parts.outcome}', ended as '{outcome}': {played.score.because}"
        if parts.at is not None and (not unmet or unmet[0] != parts.at):
            return f"must part at '{parts.at}', parted at {unmet or 'no check'}"
        return None
    if outcome.kind is not OutcomeKind.SUCCESS:
        return f"the reference must succeed, ended as '{outcome}': {played.score.because}"
    return None


def _idle_fails(played: ScoredTrial) -> str | None:
    """Doing nothing never succeeds, and meets no key node."""
    outcome, parts = played.score.outcome, played.task.parts
    is_online = played.trial.world is World.ONLINE
    if is_online and parts and parts.at is None and str(outcome) == parts.outcome:
        return None
    if outcome.kind is not OutcomeKind.FAILURE:
        return f"doing nothing must fail, ended as '{outcome}': {played.score.because}"
    if played.score.key_nodes_met:
        return "doing nothing meets a key node"
    return None


_EXPECTATIONS: dict[str, Callable[[ScoredTrial], str | None]] = {
    "oracle": _oracle_passes,
    "idle": _idle_fails,
}
