"""Episodes' rows, and tasks of outcomes, for statistics."""

from __future__ import annotations

from arena_core.worlds import World
from evaluators.evidence import UnscoredReason
from orchestrator.analysis.stats.results import EpisodeResult, TaskOutcomes, TaskPair


def row(
    task: str,
    *,
    success: bool | None = True,
    repeat: int = 0,
    agent: str = "A",
    suite: str = "s",
    world: World = World.OFFLINE,
    template: str | None = None,
    sites: tuple[str, ...] = ("shop",),
    reason: UnscoredReason | None = None,
    usd: float | None = 0.5,
    seconds: float = 10.0,
    started_at: str = "2026-01-01T00:00:00+00:00",
    run: str = "run",
) -> EpisodeResult:
    """Make a row: success, unless it says otherwise; unscored ones are infra."""
    return EpisodeResult(
        agent=agent,
        suite=suite,
        world=world,
        task=task,
        repeat=repeat,
        template=template or task,
        sites=sites,
        family="content",
        success=success,
        reason=reason or (UnscoredReason.INFRA if success is None else None),
        completion=None,
        key_nodes_met=0,
        key_nodes=0,
        alignment=None,
        steps=1,
        seconds=seconds,
        usd=usd,
        tokens=100,
        started_at=started_at,
        run=run,
        folder=f"{task}-{repeat}",
    )


def outcomes(*marks: str, clusters: str = "") -> tuple[TaskOutcomes, ...]:
    """Make tasks from marks: `+` succeeded, `-` failed, `?` unscored; one letter a cluster."""
    names = clusters or [f"c{place}" for place in range(len(marks))]
    return tuple(
        TaskOutcomes(f"t{place}", cluster, marked(one))
        for place, (one, cluster) in enumerate(zip(marks, names, strict=True))
    )


def pairs(*marks: str, clusters: str = "") -> tuple[TaskPair, ...]:
    """Make pairs from marks as `++-|--+`: the first side's repeats, then the second's."""
    names = clusters or [f"c{place}" for place in range(len(marks))]
    made = []
    for place, (one, cluster) in enumerate(zip(marks, names, strict=True)):
        first, second = one.split("|")
        made.append(TaskPair(f"t{place}", cluster, marked(first), marked(second)))
    return tuple(made)


def table(both: int, first_only: int, second_only: int, neither: int) -> tuple[TaskPair, ...]:
    """Make a paired 2 x 2 table of tasks that were played once."""
    return pairs(
        *(["+|+"] * both + ["+|-"] * first_only + ["-|+"] * second_only + ["-|-"] * neither)
    )


def marked(marks: str) -> tuple[bool | None, ...]:
    """Read `+`, `-` and `?`."""
    return tuple({"+": True, "-": False, "?": None}[mark] for mark in marks)
