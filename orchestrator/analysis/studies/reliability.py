"""How far an agent can be relied on: whether repeats of a task end alike and go the same way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from math import comb
from statistics import fmean
from typing import Final

from orchestrator.analysis.stats.rates import ClusteredRate, clustered_mean
from orchestrator.analysis.stats.results import Cell, EpisodeTable
from orchestrator.analysis.studies.robustness import Robustness

_TWO: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """The reliability profile of one cell: read it beside its success.

    An agent that always fails is as consistent as one that always succeeds.

    Attributes:
        outcome: the chance that two repeats of a task both succeed or both fail, over the tasks
            with two scored repeats or more; intervals by template.
        path: how alike two repeats of a task go, from 0 to 1: twice the actions that are in both,
            in the same order and on the same pages, divided by all of both (Ratcliff and
            Obershelp), each repeat with the next.
        weakest: the arm with the lowest robustness ratio; None without one.
    """

    cell: Cell
    outcome: ClusteredRate
    path: ClusteredRate
    weakest: Robustness | None


def reliability_of(
    cells: Sequence[Cell],
    table: EpisodeTable,
    robustness: Sequence[Robustness],
    *,
    confidence: float,
) -> tuple[Reliability, ...]:
    """Return the profile of each cell in which a task has two scored repeats."""
    found = (_profile(one, table, robustness, confidence) for one in cells)
    return tuple(one for one in found if one.outcome.tasks)


def _profile(
    cell: Cell, table: EpisodeTable, robustness: Sequence[Robustness], confidence: float
) -> Reliability:
    rows = table.cells.get(cell, EpisodeTable()).scored.by_task
    repeated = [task for task in rows if len(task) >= _TWO]

    def mean(how: Callable[[EpisodeTable], float]) -> ClusteredRate:
        return clustered_mean(
            [(task.cluster, how(task)) for task in repeated],
            episodes=sum(map(len, repeated)),
            confidence=confidence,
        )

    ratios = [
        one
        for one in robustness
        if (one.clean, one.suite, one.world) == (cell.agent, cell.suite, cell.world)
        and one.ratio is not None
    ]
    return Reliability(
        cell=cell,
        outcome=mean(_ends_alike),
        path=mean(_goes_alike),
        weakest=min(ratios, key=lambda one: one.ratio or 0.0, default=None),
    )


def _ends_alike(task: EpisodeTable) -> float:
    right, count = sum(bool(row.success) for row in task), len(task)
    return (comb(right, 2) + comb(count - right, 2)) / comb(count, 2)


def _goes_alike(task: EpisodeTable) -> float:
    rows = sorted(task, key=lambda row: row.repeat)
    return fmean(
        SequenceMatcher(None, one.path, other.path, autojunk=False).ratio()
        for one, other in pairwise(rows)
    )
