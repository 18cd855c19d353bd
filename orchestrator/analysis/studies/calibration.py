"""Whether an agent is right as often as it says, where it says how sure it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from orchestrator.analysis.stats.discrimination import Discrimination, Stated, discrimination
from orchestrator.analysis.stats.rates import Interval, mean_of
from orchestrator.analysis.stats.results import Cell, EpisodeResult, EpisodeTable

FEWEST: Final = 20  # episodes: with fewer, no figure says more than a guess


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How the stated confidences of one cell compare with what came of them.

    Over the scored episodes whose agent stated one when it ended; each task counts once, intervals
    go by templates. All figures are None where fewer than `FEWEST` stated one.

    Attributes:
        stated: how many did; `scored`: of how many with a score.
        tasks: of how many tasks they are.
        confidence, success: means of both.
        excess: confidence - success: above 0 where the agent is surer than it is right.
        brier: mean squared distance of confidence and outcome, 0 at best.
        rate_brier: what stating the cell's own rate each time would have had.
        discrimination: the chance that a success was stated with more confidence than a failure.
    """

    cell: Cell
    stated: int
    scored: int
    tasks: int
    confidence: float | None = None
    success: float | None = None
    excess: float | None = None
    excess_interval: Interval | None = None
    brier: float | None = None
    brier_interval: Interval | None = None
    rate_brier: float | None = None
    discrimination: Discrimination | None = None


def calibration_of(
    cells: Sequence[Cell], table: EpisodeTable, *, confidence: float
) -> tuple[Calibration, ...]:
    """Return the figures of each cell; nothing where no agent of any cell stated a confidence."""
    found = tuple(_calibration(cell, table, confidence) for cell in cells)
    return found if any(one.stated for one in found) else ()


def _calibration(cell: Cell, table: EpisodeTable, level: float) -> Calibration:
    scored = table.cells.get(cell, EpisodeTable()).scored
    stated = scored.where(lambda row: row.confidence is not None)
    tasks = stated.by_task
    counted = Calibration(cell=cell, stated=len(stated), scored=len(scored), tasks=len(tasks))
    if len(stated) < FEWEST:
        return counted
    sure = math.fsum(task.mean(_sure) for task in tasks) / len(tasks)
    success = math.fsum(task.mean(_won) for task in tasks) / len(tasks)
    excess, excess_interval = mean_of(
        [(task.cluster, task.mean(lambda row: _sure(row) - _won(row))) for task in tasks],
        confidence=level,
    )
    brier, brier_interval = mean_of(
        [(task.cluster, task.mean(lambda row: (_sure(row) - _won(row)) ** 2)) for task in tasks],
        confidence=level,
    )
    return replace(
        counted,
        confidence=sure,
        success=success,
        excess=excess,
        excess_interval=_inside(excess_interval, -1.0),
        brier=brier,
        brier_interval=_inside(brier_interval, 0.0),
        rate_brier=success * (1 - success),
        discrimination=discrimination(
            [
                Stated(task.cluster, _sure(row), bool(row.success), 1 / len(task))
                for task in tasks
                for row in task
            ],
            confidence=level,
        ),
    )


def _sure(row: EpisodeResult) -> float:
    return row.confidence or 0.0


def _won(row: EpisodeResult) -> float:
    return float(bool(row.success))


def _inside(found: Interval | None, least: float) -> Interval | None:
    """Return an interval without values that there cannot be."""
    return None if found is None else Interval(max(least, found.low), min(1.0, found.high))
