"""Tasks over all cells, and success by site, family, difficulty and length."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from orchestrator.stats.rates import rate_of
from orchestrator.stats.results import EpisodeResult
from orchestrator.studies.findings import (
    Cell,
    Slice,
    SliceKind,
    SliceRate,
    TaskAcross,
    TaskCell,
)
from orchestrator.studies.results import StudyRun

_DIFFICULTY: Final = (
    "Difficulty is the share of all scored episodes of a task that succeeded, over every agent and"
    " world of this study, each cell counted alike. The same episodes are then counted within each"
    " band, so a rate is low in the hard band partly because it made the band: compare cells inside"
    " a band, never bands with each other, and take difficulty from other runs where you can."
)
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


def tasks_across(
    by_cell: Mapping[Cell, Sequence[EpisodeResult]], runs: Iterable[StudyRun]
) -> tuple[TaskAcross, ...]:
    """Return every task that was played, with its successes in each cell."""
    lengths = {(run.suite, task): known for run in runs for task, known in run.lengths.items()}
    played: dict[tuple[str, str], dict[Cell, list[EpisodeResult]]] = {}
    for cell, rows in by_cell.items():
        for row in rows:
            played.setdefault((row.suite, row.task), {}).setdefault(cell, []).append(row)
    return tuple(
        _across(rows, lengths.get(name)) for name, rows in sorted(played.items(), key=_first)
    )


def _first(entry: tuple[tuple[str, str], object]) -> tuple[str, str]:
    return entry[0]


def _across(rows: Mapping[Cell, Sequence[EpisodeResult]], length: int | None) -> TaskAcross:
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
    rates = [rate for cell in cells if (rate := cell.rate) is not None]
    return TaskAcross(
        suite=one.suite,
        task=one.task,
        template=one.template,
        sites=one.sites,
        family=one.family,
        success=math.fsum(rates) / len(rates) if rates else None,
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


def _uses(site: str) -> Callable[[TaskAcross], bool]:
    return lambda task: site in task.sites


def _is_of(family: str) -> Callable[[TaskAcross], bool]:
    return lambda task: task.family == family


def _succeeds(low: float, high: float) -> Callable[[TaskAcross], bool]:
    return lambda task: task.success is not None and low <= task.success < high


def _takes(low: float, high: float) -> Callable[[TaskAcross], bool]:
    return lambda task: task.length is not None and low <= task.length <= high


def _rate(cell: Cell, tasks: Iterable[TaskAcross], confidence: float) -> SliceRate:
    mine = [one for task in tasks for one in task.cells if one.cell == cell]
    found = rate_of([rate for one in mine if (rate := one.rate) is not None], confidence)
    return SliceRate(
        cell=cell,
        tasks=found.count,
        scored=sum(one.scored for one in mine),
        success=found.value,
        interval=found.interval,
    )
