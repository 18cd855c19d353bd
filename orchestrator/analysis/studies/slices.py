"""Tasks over all cells, and success by site, family, difficulty and length."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from orchestrator.analysis.stats.rates import (
    Interval,
    clustered_mean,
)
from orchestrator.analysis.stats.results import Cell, EpisodeTable
from orchestrator.analysis.studies.study_runs import StudyRun

_DIFFICULTY: Final = (
    "Difficulty is the share of all scored episodes of a task that succeeded, over every agent and"
    " world of this study, each cell counted alike. The same episodes are then counted within each"
    " band, so a rate is low in the hard band partly because it made the band: compare cells inside"
    " a band, never bands with each other, and take difficulty from other runs where you can."
)
_BY_TASK: Final = "The interval is over the tasks of the template."
_SEVERAL_SITES: Final = "A task that uses several sites counts in each of them."
_BANDS: Final = (
    ("hard (below 33%)", 0.0, 1 / 3),
    ("middling (33 to 67%)", 1 / 3, 2 / 3),
    ("easy (67% and more)", 2 / 3, math.inf),
)
_LENGTHS: Final = (
    ("1 to 3 actions", 0, 3),
    ("4 to 6 actions", 4, 6),
    ("7 to 10 actions", 7, 10),
    ("11 actions and more", 11, math.inf),
)
_UNKNOWN_LENGTH: Final = "no reference"


class SliceKind(StrEnum):
    """By what tasks are parted.

    `difficulty`: by `TaskAcross.success`, over all agents and worlds; `length`: by the
    number of actions of the reference; `template`: in `StudyAnalysis.templates` alone.
    """

    SITE = "site"
    FAMILY = "family"
    DIFFICULTY = "difficulty"
    LENGTH = "length"
    TEMPLATE = "template"


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceRate:
    """One cell in a slice; success and interval as `success` and `clustered` in `CellFigures`."""

    cell: Cell
    tasks: int
    scored: int
    success: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """A part of the tasks.

    Attributes:
        value: `shop`, `information`, `hard (below 33%)`, `1 to 3 actions`.
        note: what to beware of in reading it; empty where nothing.
    """

    by: SliceKind
    value: str
    rates: tuple[SliceRate, ...]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCell:
    """One task in one cell; `successes` of `scored` of `episodes`."""

    cell: Cell
    successes: int
    scored: int
    episodes: int

    @property
    def rate(self) -> float | None:
        """Share of the scored episodes that succeeded."""
        return self.successes / self.scored if self.scored else None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskAcross:
    """One task over all cells.

    Attributes:
        success: the mean of its cells' rates, so that a cell with more repeats weighs no more; None
            where nothing is scored.
        interval: of `success`, for agents that might have played instead; None with one agent.
        length: actions of the reference; None without one.
        cells: those that have an episode of it.
    """

    suite: str
    task: str
    template: str
    sites: tuple[str, ...]
    family: str
    success: float | None
    length: int | None
    cells: tuple[TaskCell, ...]
    interval: Interval | None = None

    @property
    def solved_by(self) -> int:
        """How many agents succeeded at least once."""
        return len({one.cell.agent for one in self.cells if one.successes})

    @property
    def agents(self) -> int:
        """How many agents have a scored episode of it."""
        return len({one.cell.agent for one in self.cells if one.scored})


def tasks_across(
    table: EpisodeTable, runs: Iterable[StudyRun], *, confidence: float
) -> tuple[TaskAcross, ...]:
    """Return every task that was played, with its successes in each cell."""
    lengths = {(run.suite, task): known for run in runs for task, known in run.lengths.items()}
    played = table.by(lambda row: (row.suite, row.task))
    return tuple(
        _across(
            {cell: rows for cell in table.cells if (rows := played[name].cells.get(cell))},
            lengths.get(name),
            confidence,
        )
        for name in sorted(played)
    )


def _across(rows: Mapping[Cell, EpisodeTable], length: int | None, confidence: float) -> TaskAcross:
    [one, *_] = next(iter(rows.values()))
    cells = tuple(
        TaskCell(
            cell=cell,
            successes=sum(row.success is True for row in mine),
            scored=sum(row.success is not None for row in mine),
            episodes=len(mine),
        )
        for cell, mine in rows.items()
    )
    # A cell with more repeats makes a task no easier than another does.
    rates = [(one.cell.agent, rate) for one in cells if (rate := one.rate) is not None]
    found = clustered_mean(rates, episodes=sum(one.scored for one in cells), confidence=confidence)
    return TaskAcross(
        suite=one.suite,
        task=one.task,
        template=one.template,
        sites=one.sites,
        family=one.family,
        success=found.value,
        interval=found.interval,
        length=length,
        cells=cells,
    )


def slices_of(
    tasks: Sequence[TaskAcross], cells: Sequence[Cell], *, confidence: float
) -> tuple[Slice, ...]:
    """Return the slices that have tasks; a kind that has but one slice tells nothing, and is left.

    Returns:
        By kind in the order of `SliceKind`.
    """

    def sliced(
        by: SliceKind, named: Iterable[tuple[str, Callable[[TaskAcross], bool]]], note: str = ""
    ) -> list[Slice]:
        parts = [(value, [task for task in tasks if holds(task)]) for value, holds in named]
        filled = [(value, chosen) for value, chosen in parts if chosen]
        if len(filled) < 2:  # noqa: PLR2004
            return []
        return [
            Slice(
                by=by,
                value=value,
                rates=tuple(_rate(cell, chosen, confidence) for cell in cells),
                note=note,
            )
            for value, chosen in filled
        ]

    sites = sorted({site for task in tasks for site in task.sites})
    families = sorted({task.family for task in tasks})
    has_several = any(len(task.sites) > 1 for task in tasks)
    return (
        *sliced(
            SliceKind.SITE,
            [(site, _uses(site)) for site in sites],
            _SEVERAL_SITES if has_several else "",
        ),
        *sliced(SliceKind.FAMILY, [(family, _is_of(family)) for family in families]),
        *sliced(
            SliceKind.DIFFICULTY,
            [(name, _succeeds(low, high)) for name, low, high in _BANDS],
            _DIFFICULTY,
        ),
        *sliced(
            SliceKind.LENGTH,
            [
                *((name, _takes(low, high)) for name, low, high in _LENGTHS),
                (_UNKNOWN_LENGTH, lambda task: task.length is None),
            ],
        ),
    )


def templates_of(
    tasks: Sequence[TaskAcross], cells: Sequence[Cell], *, confidence: float
) -> tuple[Slice, ...]:
    """Return success by template; none where every task is a template of its own.

    A template's interval is over its tasks: it is for other instances of the same template.
    """
    groups: dict[tuple[str, str], list[TaskAcross]] = {}
    for task in tasks:
        groups.setdefault((task.suite, task.template), []).append(task)
    if all(len(one) == 1 for one in groups.values()):
        return ()
    has_suites = len({suite for suite, _ in groups}) > 1
    return tuple(
        Slice(
            by=SliceKind.TEMPLATE,
            value=f"{suite}/{template}" if has_suites else template,
            rates=tuple(
                _rate(cell, mine, confidence, by_task=True) for cell in cells if cell.suite == suite
            ),
            note=_BY_TASK,
        )
        for (suite, template), mine in groups.items()
    )


def _uses(site: str) -> Callable[[TaskAcross], bool]:
    return lambda task: site in task.sites


def _is_of(family: str) -> Callable[[TaskAcross], bool]:
    return lambda task: task.family == family


def _succeeds(low: float, high: float) -> Callable[[TaskAcross], bool]:
    return lambda task: task.success is not None and low <= task.success < high


def _takes(low: float, high: float) -> Callable[[TaskAcross], bool]:
    return lambda task: task.length is not None and low <= task.length <= high


def _rate(
    cell: Cell, tasks: Iterable[TaskAcross], confidence: float, *, by_task: bool = False
) -> SliceRate:
    mine = [(task, one) for task in tasks for one in task.cells if one.cell == cell]
    scored = sum(one.scored for _, one in mine)
    shares = [
        (f"{task.suite}/{task.task if by_task else task.template}", rate)
        for task, one in mine
        if (rate := one.rate) is not None
    ]
    found = clustered_mean(shares, episodes=scored, confidence=confidence)
    return SliceRate(
        cell=cell,
        tasks=found.tasks,
        scored=scored,
        success=found.value,
        interval=found.interval,
    )
