"""Beside the answers: what failures fail at, drift over repeats, cost fronts, variance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from operator import itemgetter
from typing import Final

from arena_core.worlds import World
from orchestrator.analysis.stats.rates import NOTHING, clustered_mean, mean_of
from orchestrator.analysis.stats.results import Cell, EpisodeResult, EpisodeTable
from orchestrator.analysis.stats.variance import (
    LEAST_GAIN,
    RepeatsWorth,
    VarianceComponents,
    repeats_worth,
    variance_components,
    worthwhile_repeats,
)
from orchestrator.analysis.studies.findings import (
    CellCount,
    CellFigures,
    Component,
    CostFront,
    FailureCause,
    FrontPoint,
    RepeatGain,
    RepeatRate,
    RepeatTrend,
    VarianceFigures,
)

_TWO: Final = 2
Cost = Callable[[CellFigures], float | None]
COSTS: Final[tuple[tuple[str, Cost], ...]] = (
    ("US dollars", lambda one: one.spending.usd_per_episode),
    ("tokens", lambda one: one.spending.tokens_per_episode),
    ("seconds", lambda one: one.spending.seconds_per_episode),
)
_UP_TO: Final = 10


def failures_of(table: EpisodeTable) -> tuple[FailureCause, ...]:
    """Return what failed episodes failed at, the commonest first."""
    found: dict[tuple[str, str], list[tuple[Cell, EpisodeResult]]] = {}
    for cell, rows in table.cells.items():
        for row in rows:
            if row.success is False and row.first_unmet:
                found.setdefault((cell.suite, row.first_unmet), []).append((cell, row))
    causes = (
        FailureCause(
            suite=suite,
            check=check,
            tasks=len({row.task for _, row in mine}),
            failures=len(mine),
            cells=tuple(
                CellCount(cell=cell, count=count)
                for cell, count in Counter(cell for cell, _ in mine).items()
            ),
        )
        for (suite, check), mine in found.items()
    )
    return tuple(sorted(causes, key=lambda one: (-one.failures, one.suite, one.check)))


def trends_of(table: EpisodeTable, *, confidence: float) -> tuple[RepeatTrend, ...]:
    """Return the success of each cell by repeat, where tasks were played more than once."""
    found = (_trend(cell, rows, confidence) for cell, rows in table.cells.items())
    return tuple(one for one in found if len(one.rates) >= _TWO)


def _trend(cell: Cell, rows: EpisodeTable, confidence: float) -> RepeatTrend:
    scored = rows.scored
    slopes = [
        (mine.cluster, slope) for mine in scored.by_task if (slope := _slope(mine)) is not None
    ]
    change, interval = mean_of(slopes, confidence=confidence)
    return RepeatTrend(
        cell=cell,
        rates=tuple(
            _rate(repeat, mine, confidence)
            for repeat, mine in sorted(scored.by(lambda row: row.repeat).items(), key=itemgetter(0))
        ),
        change=change,
        interval=interval,
        tasks=len(slopes),
    )


def _rate(repeat: int, rows: EpisodeTable, confidence: float) -> RepeatRate:
    shares = [(mine.cluster, mine.mean(_success)) for mine in rows.by_task]
    found = clustered_mean(shares, episodes=len(rows), confidence=confidence)
    return RepeatRate(
        repeat=repeat, tasks=found.tasks, success=found.value or 0.0, interval=found.interval
    )


def _slope(rows: EpisodeTable) -> float | None:
    """Return the least-squares slope of a task's success over repeats; None of one repeat."""
    middle, rate = rows.mean(lambda row: row.repeat), rows.mean(_success)
    spread = math.fsum((row.repeat - middle) ** 2 for row in rows)
    if spread <= NOTHING:
        return None
    moved = math.fsum((row.repeat - middle) * (_success(row) - rate) for row in rows)
    return moved / spread


def _success(row: EpisodeResult) -> float:
    return float(row.success or 0)


def fronts_of(cells: Sequence[CellFigures], left_out: Collection[str]) -> tuple[CostFront, ...]:
    """Return the front of each suite and world in each way to count cost.

    Args:
        left_out: agents that know the solution, and so belong to no front.
    """
    groups: dict[tuple[str, World], list[CellFigures]] = {}
    for one in cells:
        if one.cell.agent not in left_out and one.success is not None:
            groups.setdefault((one.cell.suite, one.cell.world), []).append(one)
    return tuple(
        CostFront(
            by=by,
            suite=suite,
            world=world,
            points=tuple(_points(priced)),
            unknown=tuple(one.cell.agent for one in mine if cost(one) is None),
        )
        for by, cost in COSTS
        for (suite, world), mine in groups.items()
        if len(priced := [(paid, one) for one in mine if (paid := cost(one)) is not None]) > 1
    )


def _points(priced: Sequence[tuple[float, CellFigures]]) -> Iterable[FrontPoint]:
    for cost, one in sorted(priced, key=lambda pair: (pair[0], -(pair[1].success or 0))):
        success = one.success or 0.0
        better = (
            other.cell.agent
            for paid, other in priced
            if _beats(paid - cost, (other.success or 0.0) - success)
        )
        yield FrontPoint(
            agent=one.cell.agent,
            cost=cost,
            success=success,
            interval=one.clustered,
            beaten_by=next(better, None),
        )


def _beats(dearer: float, better: float) -> bool:
    """Whether these differences are better in cost or success and worse in neither."""
    no_worse = dearer <= NOTHING and better >= -NOTHING
    return no_worse and (dearer < -NOTHING or better > NOTHING)


def variance_figures(table: EpisodeTable) -> tuple[VarianceFigures, ...]:
    """Return the components of each agent on each suite, over the worlds that it played."""
    return tuple(
        _of(agent, suite, variance_components(mine))
        for (agent, suite), mine in table.by(lambda row: (row.agent, row.suite)).items()
    )


def _of(agent: str, suite: str, found: VarianceComponents) -> VarianceFigures:
    total = found.total
    if total is None:
        says = f"No components of variance: {found.undefined or 'nothing is scored'}."
        return VarianceFigures(agent=agent, suite=suite, components=(), gains=(), says=says)
    parts = (
        ("tasks", found.tasks),
        ("worlds", found.worlds),
        ("tasks × worlds", found.tasks_by_worlds),
        ("repeats", found.repeats),
    )
    worth = repeats_worth(found, tasks=found.task_count, up_to=_UP_TO)
    return VarianceFigures(
        agent=agent,
        suite=suite,
        components=tuple(
            Component(source=name, variance=value, share=value / total if total else 0.0)
            for name, value in parts
            if value is not None
        ),
        gains=tuple(RepeatGain(repeats=w.repeats, standard_error=w.standard_error) for w in worth),
        says=_worth_said(worth),
    )


def _worth_said(worth: Sequence[RepeatsWorth]) -> str:
    last = worthwhile_repeats(worth)
    if last is None:
        return "The worth of repeats cannot be estimated: no task was scored twice in one world."
    if last == worth[-1].repeats:
        return (
            f"Up to {last} repeats, each reduces the standard error by at least {LEAST_GAIN:.0%}."
        )
    more = "one repeat" if last == 1 else f"{last} repeats"
    return (
        f"Beyond {more}, another one reduces the standard error by less than"
        f" {LEAST_GAIN:.0%}: add tasks instead."
    )
