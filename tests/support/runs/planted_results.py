"""Rows of episodes whose truth is known: agents that err at planted rates, in both worlds alike."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Final

from arena_core.worlds import World
from evaluators.evidence import UnscoredReason
from orchestrator.agents.interface import AgentClass, AgentLock
from orchestrator.analysis.stats.results import EpisodeResult
from orchestrator.analysis.studies.study_runs import StudyRun
from orchestrator.runs.store.lock import HostEnvelope, RunLock
from sites.upstreams import UpstreamKind

ERRING: Final = {"errs10": 0.10, "errs25": 0.25, "errs30": 0.30}


def planted(
    erring: Mapping[str, float] = ERRING,
    *,
    tasks: int = 20,
    repeats: int = 5,
    worlds: Sequence[World] = tuple(World),
    seed: int = 0,
    unscored: float = 0.0,
    a_template: int = 1,
) -> tuple[EpisodeResult, ...]:
    """Return rows of agents that fail each episode by chance, alike in both worlds.

    Args:
        erring: the chance of a failure by agent.
        unscored: the chance that an episode has no outcome.
        a_template: how many tasks are of one template.
    """
    drawn = random.Random(seed)
    return tuple(
        result(
            agent,
            world,
            number,
            repeat,
            success=None if drawn.random() < unscored else drawn.random() >= errs,
            template=f"template-{number // a_template}",
        )
        for repeat in range(repeats)
        for number in range(tasks)
        for agent, errs in erring.items()
        for world in worlds
    )


def result(
    agent: str,
    world: World,
    number: int,
    repeat: int = 0,
    *,
    success: bool | None,
    template: str | None = None,
    suite: str = "demo",
    usd: float | None = None,
    tokens: int = 0,
) -> EpisodeResult:
    """Return one row; a failure met one of two key nodes."""
    nodes_met = 2 if success else 1
    return EpisodeResult(
        agent=agent,
        suite=suite,
        world=world,
        task=f"task-{number}",
        repeat=repeat,
        template=template or f"task-{number}",
        sites=(("shop", "wiki", "forum")[number % 3],),
        family=("information", "content")[number % 2],
        success=success,
        reason=UnscoredReason.INFRA if success is None else None,
        completion=None if success is None else nodes_met / 2,
        key_nodes_met=nodes_met,
        key_nodes=2,
        alignment=None if success is None else nodes_met / 2,
        steps=4,
        seconds=2.0,
        usd=usd,
        tokens=tokens,
        started_at="2026-11-22T10:00:00+00:00",
        run=f"runs/{agent}",
        folder=f"{world}-task-{number}-r{repeat}-a1",
    )


def runs_of(rows: Sequence[EpisodeResult], pending: int = 0) -> tuple[StudyRun, ...]:
    """Return the runs that such rows would be of, one an agent and suite."""
    groups: dict[tuple[str, str], list[EpisodeResult]] = {}
    for row in rows:
        groups.setdefault((row.agent, row.suite), []).append(row)
    return tuple(_run(label, suite, mine, pending) for (label, suite), mine in groups.items())


def _run(label: str, suite: str, rows: Sequence[EpisodeResult], pending: int) -> StudyRun:
    tasks = tuple(dict.fromkeys(row.task for row in rows))
    worlds = tuple(world for world in World if any(row.world is world for row in rows))
    lock = RunLock(
        run=f"20261122-{label}",
        created_at="2026-11-22T10:00:00+00:00",
        suite=suite,
        suite_version=1,
        suite_hash="ab" * 32,
        tasks=tasks,
        worlds=worlds,
        repeats=1 + max(row.repeat for row in rows),
        attempts=3,
        agent=AgentLock(name=label, kind=label, options={}, agent_class=AgentClass.CONTESTANT),
        staged=("shop",) if World.ONLINE in worlds else (),
        upstreams={World.ONLINE: {"shop": UpstreamKind.STAGED}} if World.ONLINE in worlds else {},
        images={"arena/shop:1": "sha256:" + "ab" * 32},
        engine="20.10.24",
        browser="131.0",
        packages={"playwright": "1.48"},
        host=HostEnvelope(platform="Linux", python="3.11", cpus=2, memory_mb=16000),
    )
    return StudyRun(
        label=label,
        suite=suite,
        name=f"runs/{label}",
        lock=lock,
        pending=dict.fromkeys(worlds, pending),
        worlds_of=dict.fromkeys(tasks, worlds),
        lengths={task: 2 + number % 7 for number, task in enumerate(tasks)},
    )
