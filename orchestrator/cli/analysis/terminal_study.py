"""A study's or comparison's findings in the terminal, readable at 80 columns."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import Final

from arena_core.names import counted
from orchestrator.analysis.stats.rates import Interval
from orchestrator.analysis.studies.findings import (
    CellFigures,
    StudyAnalysis,
    WorldAgreement,
)
from orchestrator.analysis.studies.parted import PartedWorlds
from orchestrator.analysis.wording import interval, money, percent
from orchestrator.cli.console import Column, Console

_WIDTH: Final = 80
_MOST: Final = 110  # letters a line that are still read with ease
_NAME: Final = 26
_TIED: Final = "\u00a0"


def show_study(analysis: StudyAnalysis, console: Console) -> None:
    """Print what was found: one JSON document, or answers first and figures after them."""
    if console.as_json:
        console.json(analysis.document())
        return
    width = reading_width()
    for line in _lines(analysis, width):
        console.line(line)
    _cells(analysis.cells, console)
    for block in (_worlds(analysis), _more(analysis), _notes(analysis)):
        lines = [line for text in block for line in folded(text, width)]
        if lines:
            console.line("")
        for line in lines:
            console.line(line)


def reading_width() -> int:
    """Return how long a line of words may be."""
    return min(_MOST, shutil.get_terminal_size((_WIDTH, 24)).columns) if _is_shown() else _WIDTH


def _is_shown() -> bool:
    return sys.stdout.isatty()


def _lines(analysis: StudyAnalysis, width: int) -> Iterable[str]:
    yield analysis.title
    yield "=" * min(width, len(analysis.title))
    yield ""
    for answer in analysis.answers:
        yield from folded(answer.sentence, width)
        if answer.would_turn is not None:
            yield from folded(answer.would_turn, width, "  ")
    if analysis.answers:
        yield ""


def folded(text: str, width: int, indent: str = "") -> list[str]:
    """Return a text in lines; those after the first are indented."""
    lines = textwrap.wrap(
        text.replace(" %", f"{_TIED}%"),  # a number and its sign stay on one line
        width,
        initial_indent=indent,
        subsequent_indent="  ",
        break_on_hyphens=False,
    )
    return [line.replace(_TIED, " ") for line in lines]


_COLUMNS: Final = (
    Column("agent"),
    Column("world"),
    Column("success", right=True),
    Column("interval", right=True),
    Column("bounds", right=True),
    Column("scored", right=True),
    Column("cost", right=True),
)


def _cells(cells: Sequence[CellFigures], console: Console) -> None:
    """Print a table a suite: a column for it would not fit beside the figures."""
    for number, suite in enumerate(dict.fromkeys(one.cell.suite for one in cells)):
        mine = [one for one in cells if one.cell.suite == suite]
        if number:
            console.line("")
        tasks = max(one.tasks for one in mine)
        console.line(f"{suite}, {counted(tasks, 'task')}")
        console.table(_COLUMNS, [_cell(one) for one in mine], None)


def _cell(one: CellFigures) -> list[str]:
    name = one.cell.agent
    return [
        name if len(name) <= _NAME else f"{name[: _NAME - 1]}…",
        one.cell.world.value,
        percent(one.success),
        interval(one.clustered).replace(" to ", "–"),
        interval(one.bounds).replace(" to ", "–") if one.scored < one.episodes else "",
        f"{one.scored}/{one.episodes + one.pending}",
        money(one.spending.usd_per_episode),
    ]


def _worlds(analysis: StudyAnalysis) -> Iterable[str]:
    for robust in analysis.robustness:
        yield robust.sentence
    for one in analysis.agreement:
        yield _agreement(one)
    for parted in analysis.parted:
        yield _parted(parted)
    for ranks in analysis.rank_correlation:
        if len(ranks.agents) > 1:
            yield ranks.says


def _agreement(one: WorldAgreement) -> str:
    kappa = "kappa undefined" if one.kappa is None else f"kappa {one.kappa:.2f}"
    if one.kappa_interval is not None:
        kappa += f" ({one.kappa_interval.low:.2f} to {one.kappa_interval.high:.2f})"
    kappa = kappa.replace("-", "−")
    return (
        f"{one.agent} on {one.suite}: the worlds agree on {percent(one.rate)} of {one.paired} tasks"
        f" (both {len(one.both)}, only offline {len(one.offline_only)}, only online"
        f" {len(one.online_only)}, neither {len(one.neither)}); {kappa}"
    )


def _parted(one: PartedWorlds) -> str:
    shares = (
        f"{cause.cause} {cause.tasks} ({percent(cause.share)}{_within(cause.interval)})"
        for cause in one.causes
        if cause.tasks
    )
    tasks = counted(one.tasks, "task")
    return f"{one.agent} on {one.suite}: why the worlds part on {tasks}: {', '.join(shares)}"


def _within(span: Interval | None) -> str:
    return "" if span is None else f", {interval(span)}"


def _more(analysis: StudyAnalysis) -> Iterable[str]:
    for one in analysis.cells:
        if len(one.passes) > 1:
            last = one.passes[-1]
            yield (
                f"{one.cell.agent}, {one.cell.world}: one of {last.k} plays succeeds for"
                f" {percent(last.at)} of tasks, all {last.k} for {percent(last.hat)}"
                f" (pass@{last.k}, pass^{last.k})"
            )
    designs: dict[str, list[str]] = {}
    for power in analysis.power:
        designs.setdefault(power.says, []).append(power.question)
    for says, questions in designs.items():
        yield says if len(designs) == 1 else f"{'; '.join(questions)}: {says}"


def _notes(analysis: StudyAnalysis) -> Iterable[str]:
    if analysis.pending:
        pending = counted(analysis.pending, "episode is", "episodes are")
        yield f"note: Not finished: {pending} still to be played."
    for note in analysis.notes:
        yield f"note: {note}"
