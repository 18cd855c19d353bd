"""The tables of a study for papers: LaTeX (booktabs) and Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from orchestrator.report.wording import interval, money, percent
from orchestrator.studies.findings import Answer, CellFigures, StudyAnalysis
from orchestrator.studies.wording import p_value, points, question_title, short_answer

Row = tuple[str, ...]

_LATEX: Final = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "–": "--",
    "−": "$-$",
    "…": r"\ldots{}",
    "×": r"$\times$",
}
_TO_ESCAPE: Final = re.compile("|".join(map(re.escape, _LATEX)))
# `\` before anything that Markdown or HTML in it would read.
_MARKDOWN: Final = re.compile(r"([\\`*_{}\[\]<>#|~&$])")


@dataclass(frozen=True, slots=True)
class Table:
    """A table: titles, which columns are numbers, and how its rows are made."""

    titles: Row
    numbers: tuple[bool, ...]
    caption: str
    rows: Callable[[StudyAnalysis], list[Row]]


def latex(table: Table, rows: Sequence[Row]) -> str:
    """Return a LaTeX table for `booktabs`; names may hold any letter."""
    columns = "".join("r" if number else "l" for number in table.numbers)
    lines = [
        "% needs \\usepackage{booktabs} and \\usepackage[T1]{fontenc}",
        "\\begin{table}",
        f"\\caption{{{_latex(table.caption)}}}",
        f"\\begin{{tabular}}{{{columns}}}",
        "\\toprule",
        " & ".join(_latex(title) for title in table.titles) + r" \\",
        "\\midrule",
        *(" & ".join(_latex(cell) for cell in row) + r" \\" for row in rows),
        "\\bottomrule",
        "\\end{tabular}",
        "\\end{table}",
    ]
    return "\n".join(lines) + "\n"


def markdown(table: Table, rows: Sequence[Row]) -> str:
    """Return a Markdown table of GitHub's kind."""
    rule = ["---:" if number else "---" for number in table.numbers]
    lines = [[_markdown(title) for title in table.titles], rule]
    lines += [[_markdown(cell) for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _latex(text: str) -> str:
    escaped = _TO_ESCAPE.sub(lambda found: _LATEX[found[0]], " ".join(text.split()))
    # Brackets at the start of a row would be read as an option of the `\\` before it.
    return f"{{}}{escaped}" if escaped.startswith("[") else escaped


def _markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def _cell_rows(analysis: StudyAnalysis) -> list[Row]:
    return [_cell_row(one) for one in analysis.cells]


def _cell_row(one: CellFigures) -> Row:
    spending = one.spending
    agent = f"{one.cell.agent} ({one.agent_note})" if one.agent_note else one.cell.agent
    return (
        agent,
        one.cell.suite,
        one.world_label,
        str(one.scored_tasks),
        f"{one.scored}/{one.episodes}",
        percent(one.success),
        interval(one.wilson),
        interval(one.clustered),
        interval(one.bounds),
        percent(one.completion_macro),
        "–" if spending.seconds_per_episode is None else f"{spending.seconds_per_episode:.1f}",
        money(spending.usd_per_episode),
    )


def _answer_rows(analysis: StudyAnalysis) -> list[Row]:
    return [_answer_row(one) for one in analysis.answers]


def _answer_row(one: Answer) -> Row:
    return (
        question_title(one.question),
        "yes" if one.question.registered else "no",
        str(one.tasks),
        percent(one.first_rate),
        percent(one.second_rate),
        points(one.effect),
        ""
        if one.interval is None
        else f"{points(one.interval.low)} to {points(one.interval.high)}",
        "–" if one.p is None else p_value(one.p),
        "–" if one.p_adjusted is None else p_value(one.p_adjusted),
        short_answer(one),
    )


CELLS: Final = Table(
    titles=(
        "agent",
        "suite",
        "world",
        "tasks",
        "scored",
        "success",
        "Wilson",
        "clustered",
        "bounds",
        "completion",
        "s/episode",
        "$/episode",
    ),
    numbers=(False, False, False, *(True,) * 9),
    caption="Success of each agent by suite and world; intervals over tasks (Wilson) and over"
    " templates (clustered), bounds with all unscored episodes failed and succeeded",
    rows=_cell_rows,
)
ANSWERS: Final = Table(
    titles=(
        "question",
        "registered",
        "tasks",
        "first",
        "second",
        "difference (points)",
        "interval",
        "p",
        "p (Holm)",
        "answer",
    ),
    numbers=(False, False, *(True,) * 7, False),
    caption="Paired comparisons on the same tasks; p after Holm's correction over the registered"
    " questions",
    rows=_answer_rows,
)
