"""Episodes' rows, and tasks of outcomes, for statistics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from arena_core.worlds import World
from evaluators.evidence import UnscoredReason
from orchestrator.analysis.stats.results import EpisodeResult, EpisodeTable, TaskOutcomes, TaskPair


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """One episode: success, unless `won` or `unscored` say otherwise."""

    won: bool = True
    unscored: UnscoredReason | None = None
    nodes: tuple[int, int] = (0, 0)
    steps: int = 1
    alignment: float = 1.0


def played(
    plays: Mapping[str, Iterable[Play]],
    *,
    world: World = World.OFFLINE,
    templates: Mapping[str, str] | None = None,
) -> EpisodeTable:
    """Make a table of the repeats of each task; a task without a template is alone in it."""
    return EpisodeTable(
        replace(
            row(
                task,
                success=None if one.unscored else one.won,
                reason=one.unscored,
                repeat=repeat,
                world=world,
                template=(templates or {}).get(task),
            ),
            key_nodes_met=one.nodes[0],
            key_nodes=one.nodes[1],
            completion=one.nodes[0] / one.nodes[1] if one.nodes[1] and not one.unscored else None,
            alignment=one.alignment if one.nodes[1] and not one.unscored else None,
            steps=one.steps,
        )
        for task, repeats in plays.items()
        for repeat, one in enumerate(repeats)
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
