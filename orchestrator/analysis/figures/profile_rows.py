"""Rows of the tables that say how far an agent can be relied on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum

from orchestrator.analysis.stats.rates import Interval
from orchestrator.analysis.stats.results import Cell
from orchestrator.analysis.studies.findings import CellFigures, StudyAnalysis
from orchestrator.analysis.studies.reliability import Calibration, CollateralFigures, Reliability
from orchestrator.analysis.wording import interval, percent, points, points_span

Row = tuple[str, ...]
_NONE = "–"


def world_labels(analysis: StudyAnalysis) -> Mapping[Cell, str]:
    """Return what each cell's world is called."""
    return {one.cell: one.world_label for one in analysis.cells}


def reliability_rows(analysis: StudyAnalysis) -> list[Row]:
    """Return how alike repeats end and go, a row a cell."""
    figures = {one.cell: one for one in analysis.cells}
    found = ((one.cell, _reliability(one, figures[one.cell])) for one in analysis.reliability)
    return _by_cell(analysis, found)


def _by_cell(analysis: StudyAnalysis, found: Iterable[tuple[Cell, Row]]) -> list[Row]:
    """Return rows that begin with the agent, the suite and the world of their cell."""
    labels = world_labels(analysis)
    return [(cell.agent, cell.suite, labels[cell], *row) for cell, row in found]


def _reliability(one: Reliability, figures: CellFigures) -> Row:
    most = max(figures.passes, key=lambda passes: passes.k, default=None)
    arm = one.weakest
    return (
        percent(figures.success),
        _NONE if most is None else f"{percent(most.hat)} (k = {most.k})",
        str(one.outcome.tasks),
        percent(one.outcome.value),
        interval(one.outcome.interval) or _NONE,
        percent(one.path.value),
        interval(one.path.interval) or _NONE,
        _NONE if arm is None else f"{arm.ratio or 0.0:.2f} in {arm.arm}",
    )


def collateral_rows(analysis: StudyAnalysis) -> list[Row]:
    """Return what was changed beside what tasks allow, a row a cell."""
    return _by_cell(analysis, ((one.cell, _collateral(one)) for one in analysis.collateral))


def _collateral(one: CollateralFigures) -> Row:
    looked = f"{one.harmed.episodes} of {one.scored}"
    if not one.harmed.episodes:
        return (looked, "0", *(_NONE,) * 5)
    return (
        looked,
        str(one.harmed.tasks),
        percent(one.harmed.value),
        interval(one.harmed.interval) or _NONE,
        str(one.extra),
        _listed(one.worst),
        _listed(one.changes),
    )


def _listed(counts: Iterable[tuple[StrEnum, int]]) -> str:
    return ", ".join(f"{kind} {count:,}" for kind, count in counts) or "none"


def parted_rows(analysis: StudyAnalysis) -> list[Row]:
    """Return why the worlds part, a row a cause that there is."""
    return [
        (
            one.agent,
            one.suite,
            cause.cause.value,
            f"{cause.tasks} of {one.tasks}",
            percent(cause.share),
            interval(cause.interval) or _NONE,
        )
        for one in analysis.parted
        for cause in one.causes
        if cause.tasks
    ]


def parting_rows(analysis: StudyAnalysis) -> list[Row]:
    """Return where the worlds part, a row a task."""
    return [
        (one.agent, one.suite, task.task, str(task.step), task.cause.value, task.because)
        for one in analysis.parted
        for task in one.parts
    ]


def calibration_rows(analysis: StudyAnalysis) -> list[Row]:
    """Return how stated confidence compares with what came of it, a row a cell."""
    return _by_cell(analysis, ((one.cell, _calibration(one)) for one in analysis.calibration))


def _calibration(one: Calibration) -> Row:
    apart = one.discrimination
    return (
        f"{one.stated} of {one.scored}",
        str(one.tasks),
        percent(one.confidence),
        percent(one.success),
        _within(points(one.excess), one.excess_interval, points_span),
        _within(_number(one.brier), one.brier_interval, _numbers),
        _number(one.rate_brier),
        _NONE if apart is None else _within(_number(apart.value), apart.interval, _numbers),
    )


def _within(value: str, span: Interval | None, said: Callable[[Interval | None], str]) -> str:
    return value if span is None else f"{value} ({said(span)})"


def _number(value: float | None) -> str:
    return _NONE if value is None else f"{value:.2f}"


def _numbers(span: Interval | None) -> str:
    return _NONE if span is None else f"{span.low:.2f} to {span.high:.2f}"
