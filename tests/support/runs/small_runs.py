"""Run folders with chosen outcomes: real locks, suites, ledgers and evidence, and no browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from arena_core.actions import Stop
from arena_core.worlds import World
from evaluators.evidence import (
    Ended,
    EpisodeFault,
    Evidence,
    PersonTimes,
    StepEvidence,
    UnscoredReason,
)
from evaluators.scores import score
from orchestrator.agents.interface import AgentClass, AgentLock
from orchestrator.runs.store.browser_lock import BrowserLock
from orchestrator.runs.store.ledger import AttemptState, EpisodeKey
from orchestrator.runs.store.lock import HostEnvelope, RunLock, hash_suite
from orchestrator.runs.store.run_folder import RunFolder
from tasks.schema import Suite

RIGHT: Final = "39.99"

Outcomes = Mapping[World, Mapping[str, Sequence[bool | None]]]
"""By world and task, one outcome a repeat; None is unscored, what is left out was not played."""


def small_suite(
    tasks: Sequence[str], *, name: str = "small", asks: Mapping[str, str] | None = None
) -> Suite:
    """Return a suite of tasks that want an answer; `asks` gives some another one than `RIGHT`."""
    return Suite.model_validate(
        {
            "suite": name,
            "version": 1,
            "title": "Small",
            "tasks": [
                {
                    "id": task,
                    "family": "information",
                    "intent": f"What does the product of {task} cost?",
                    "sites": ["shop"],
                    "start": ["shop:/"],
                    "checks": [
                        {
                            "name": "price",
                            "when": "end",
                            "locate": {"by": "answer"},
                            "match": {"how": "include", "value": (asks or {}).get(task, RIGHT)},
                        }
                    ],
                    "reference": [{"do": "goto", "page": "shop:/"}, {"do": "stop", "answer": "1"}],
                }
                for task in tasks
            ],
        }
    )


def write_run(
    path: Path,
    agent: str,
    outcomes: Outcomes,
    *,
    suite: Suite | None = None,
    repeats: int = 1,
    image: str = "ab",
    tasks: Sequence[str] = (),
    options: Mapping[str, float] | None = None,
    vary: Sequence[str] = (),
    browser: BrowserLock | None = None,
    times: PersonTimes | None = None,
) -> RunFolder:
    """Write a run's folder.

    Args:
        path: of the folder.
        agent: its name.
        outcomes: what became of each episode that was played.
        suite: the tasks; those of `outcomes` where omitted.
        repeats: how many were asked for.
        image: two letters of the shop image's digest.
        tasks: ids that were chosen; all of the suite where empty.
        options: of the agent.
        vary: what was varied, as the lock holds it.
        browser: as the lock holds it; None as in locks of earlier versions.
        times: how long a person took for each episode; None where an agent played.
    """
    named = list(dict.fromkeys(task for one in outcomes.values() for task in one))
    suite = suite or small_suite(named)
    lock = RunLock(
        run=f"run-{path.name}",
        created_at="2026-11-22T10:00:00+00:00",
        suite=suite.suite,
        suite_version=suite.version,
        suite_hash=hash_suite(suite),
        tasks=tuple(tasks) or tuple(task.id for task in suite.tasks),
        worlds=tuple(outcomes),
        repeats=repeats,
        attempts=1,
        vary=tuple(vary),
        agent=AgentLock(
            name=agent,
            kind=agent,
            options=dict(options or {}),
            agent_class=AgentClass.PERSON if times else AgentClass.CONTESTANT,
        ),
        images={"arena/shop:1": "sha256:" + image * 32},
        engine="20.10.24",
        browser="131.0.6778.85",
        browser_used=browser,
        packages={"playwright": "1.48"},
        host=HostEnvelope(platform="Linux", python="3.11", cpus=2, memory_mb=24000),
    )
    folder = RunFolder.create(path, lock, suite)
    checks = {task.id: task.checks for task in suite.tasks}
    with folder.writing() as ledger:
        for world, by_task in outcomes.items():
            for task, played in by_task.items():
                for repeat, success in enumerate(played):
                    key = EpisodeKey(task, world, repeat)
                    evidence = _evidence(suite.suite, agent, key, success=success)
                    evidence = evidence.model_copy(update={"person": times})
                    number = ledger.start(key)
                    folder.save_evidence(key.folder(number), evidence, {})
                    outcome = score(checks[task], evidence).outcome
                    ledger.end(key, number, AttemptState.FINISHED, str(outcome))
    return folder


def _evidence(suite: str, agent: str, key: EpisodeKey, *, success: bool | None) -> Evidence:
    answer = f"it is {RIGHT}" if success else "I do not know"
    steps = tuple(
        StepEvidence(
            index=index,
            action=Stop(answer=answer) if index else None,
            url="http://shop.arena.test/",
            logical="shop:/",
            title="Shop",
        )
        for index in range(2)
    )
    fault = EpisodeFault(reason=UnscoredReason.INFRA, message="the container was removed")
    return Evidence(
        suite=suite,
        task=key.task,
        world=key.world,
        agent=agent,
        repeat=key.repeat,
        attempt=1,
        started_at=f"2026-11-22T10:00:0{key.repeat % 10}+00:00",
        seconds=1.5,
        answer=None if success is None else answer,
        ended=None if success is None else Ended.STOPPED,
        steps=steps,
        fault=fault if success is None else None,
    )
