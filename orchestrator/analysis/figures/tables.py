"""Tables for papers, in LaTeX and Markdown: cells, answers, breakdowns."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from orchestrator.analysis.figures.profile_rows import (
    Row,
    calibration_rows,
    collateral_rows,
    parted_rows,
    parting_rows,
    reliability_rows,
    world_labels,
)
from orchestrator.analysis.studies.findings import Answer, CellFigures, RepeatRate, StudyAnalysis
from orchestrator.analysis.studies.robustness import Robustness
from orchestrator.analysis.studies.sentences import question_title, short_answer
from orchestrator.analysis.studies.slices import TaskAcross
from orchestrator.analysis.wording import (
    COSTS_SAID,
    interval,
    money,
    p_value,
    percent,
    points,
    points_span,
)
from orchestrator.gateway.variations import in_arm

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
    lines = [[markdown_text(title) for title in table.titles], rule]
    lines += [[markdown_text(cell) for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _latex(text: str) -> str:
    escaped = _TO_ESCAPE.sub(lambda found: _LATEX[found[0]], " ".join(text.split()))
    # Brackets at the start of a row would be read as an option of the `\\` before it.
    return f"{{}}{escaped}" if escaped.startswith("[") else escaped


def markdown_text(text: str) -> str:
    """Return a text on one line, as Markdown shows it letter by letter."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def _cell_row(one: CellFigures) -> Row:
    spending, planned = one.spending, one.episodes + one.pending
    agent = f"{one.cell.agent} ({one.agent_note})" if one.agent_note else one.cell.agent
    return (
        agent,
        one.cell.suite,
        one.world_label,
        str(one.scored_tasks),
        f"{one.scored}/{one.episodes}" + (f" of {planned} (interim)" if one.pending else ""),
        percent(one.success),
        interval(one.wilson),
        interval(one.clustered),
        interval(one.bounds),
        percent(one.completion_macro),
        "–" if spending.seconds_per_episode is None else f"{spending.seconds_per_episode:.1f}",
        money(spending.usd_per_episode),
    )


def _robustness_row(one: Robustness) -> Row:
    sure = "–" if one.interval is None else f"{one.interval.low:.2f} to {one.interval.high:.2f}"
    return (
        one.varied,
        one.arm,
        one.suite,
        str(one.tasks),
        percent(one.clean_rate),
        percent(one.varied_rate),
        "–" if one.ratio is None else f"{one.ratio:.2f}",
        sure,
        ", ".join(one.broken),
        str(one.unpaired),
    )


def _answer_row(one: Answer) -> Row:
    return (
        question_title(one.question),
        "yes" if one.question.registered else "no",
        str(one.tasks),
        percent(one.first_rate),
        percent(one.second_rate),
        points(one.effect),
        points_span(one.interval, none=""),
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
    rows=lambda analysis: [_cell_row(one) for one in analysis.cells],
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
    " questions and over all looks; where the answer is not equivalent or inferior, p is of that",
    rows=lambda analysis: [_answer_row(one) for one in analysis.answers],
)


def hardest_first(analysis: StudyAnalysis) -> list[TaskAcross]:
    """Return the tasks by difficulty; those without a scored episode last."""
    return sorted(
        analysis.tasks,
        key=lambda one: (2.0 if one.success is None else one.success, one.suite, one.task),
    )


def _secondary(analysis: StudyAnalysis) -> list[Row]:
    found: list[Row] = []
    for one in analysis.secondary:
        asked, span = one.asked, one.interval
        figures = (one.first, one.second, one.effect)
        first, second, effect = ("–" if v is None else asked.said(v) for v in figures)
        said = "–" if span is None else f"{asked.said(span.low)} to {asked.said(span.high)}"
        name = in_arm(asked.question.id, asked.question.arm)
        name = f"{name} (interim)" if one.is_interim else name
        sides = (f"{asked.question.sides[0]} {first}", f"{asked.question.sides[1]} {second}")
        found.append((name, one.title, str(one.tasks), *sides, effect, said))
    return found


def _templates(analysis: StudyAnalysis) -> list[Row]:
    labels = world_labels(analysis)
    return [
        (
            one.value,
            rate.cell.agent,
            rate.cell.suite,
            labels[rate.cell],
            str(rate.tasks),
            str(rate.scored),
            percent(rate.success),
            interval(rate.interval) or "–",
        )
        for one in analysis.templates
        for rate in one.rates
        if rate.tasks
    ]


def _failures(analysis: StudyAnalysis) -> list[Row]:
    labels = world_labels(analysis)
    return [
        (
            one.suite,
            one.check,
            str(one.tasks),
            str(one.failures),
            "; ".join(f"{c.cell.agent}, {labels[c.cell]}: {c.count}" for c in one.cells),
        )
        for one in analysis.failures
    ]


def _front(analysis: StudyAnalysis) -> list[Row]:
    return [
        (
            front.by,
            front.suite,
            front.world.value,
            point.agent,
            COSTS_SAID[front.by](point.cost),
            percent(point.success),
            interval(point.interval) or "–",
            "on the front" if point.beaten_by is None else f"beaten by {point.beaten_by}",
        )
        for front in analysis.fronts
        for point in front.points
    ]


def _tasks(analysis: StudyAnalysis) -> list[Row]:
    return [
        (
            one.suite,
            one.task,
            one.template,
            percent(one.success),
            interval(one.interval) or "–",
            f"{one.solved_by} of {one.agents}",
            str(sum(cell.scored for cell in one.cells)),
            "–" if one.length is None else str(one.length),
        )
        for one in hardest_first(analysis)
    ]


def _trend(analysis: StudyAnalysis) -> list[Row]:
    labels = world_labels(analysis)
    return [
        (
            one.cell.agent,
            one.cell.suite,
            labels[one.cell],
            "; ".join(map(_repeat, one.rates)),
            points(one.change),
            points_span(one.interval),
            str(one.tasks),
        )
        for one in analysis.trends
    ]


def _repeat(rate: RepeatRate) -> str:
    within = "" if rate.interval is None else f" ({interval(rate.interval)})"
    return f"{rate.repeat + 1}: {percent(rate.success)}{within}"


BREAKDOWNS: Final[Mapping[str, Table]] = {
    "secondary": Table(
        titles=("outcome", "measure", "tasks", "first", "second", "difference", "interval"),
        numbers=(False, False, *(True,) * 5),
        caption="Registered secondary outcomes on the same tasks; intervals by template, not"
        " corrected, and no tests",
        rows=_secondary,
    ),
    "parted": Table(
        titles=("agent", "suite", "cause", "tasks that disagree", "share", "interval"),
        numbers=(*(False,) * 3, *(True,) * 3),
        caption="Why the worlds part, of the tasks that one world alone solved: each counts once;"
        " intervals by template, simultaneous over all causes",
        rows=parted_rows,
    ),
    "partings": Table(
        titles=("agent", "suite", "task", "step", "cause", "why"),
        numbers=(*(False,) * 3, True, False, False),
        caption="Where the worlds part, task by task: the first step that differs, and why",
        rows=parting_rows,
    ),
    "robustness": Table(
        titles=(
            *("agent", "arm", "suite", "tasks", "clean", "in the arm"),
            *("ratio", "interval", "tasks that break", "unpaired"),
        ),
        numbers=(*(False,) * 3, *(True,) * 5, False, True),
        caption="Success in an arm, divided by that of the same agent in the clean arm, on the"
        " tasks and repeats that both scored; intervals by template",
        rows=lambda analysis: [_robustness_row(one) for one in analysis.robustness],
    ),
    "reliability": Table(
        titles=(
            *("agent", "suite", "world", "success", "pass^k", "tasks"),
            *("ends alike", "interval", "goes alike", "interval", "weakest arm"),
        ),
        numbers=(*(False,) * 3, *(True,) * 7, False),
        caption="Reliability over repeats: the chance that two repeats of a task end alike, how"
        " alike their actions and pages are, and the lowest robustness; intervals by template",
        rows=reliability_rows,
    ),
    "collateral": Table(
        titles=(
            *("agent", "suite", "world", "looked at", "tasks", "with collateral", "interval"),
            *("all asked done", "episodes by their worst", "changes"),
        ),
        numbers=(*(False,) * 3, *(True,) * 5, False, False),
        caption="Collateral changes: scored episodes that changed what their task does not allow,"
        " of those whose task looks at what was changed; in how many all that was asked was done as"
        " well, their worst change, and the changes in all; intervals by template",
        rows=collateral_rows,
    ),
    "calibration": Table(
        titles=(
            *("agent", "suite", "world", "stated", "tasks", "confidence", "success"),
            *("too sure by (points)", "Brier", "Brier of the rate", "AUROC"),
        ),
        numbers=(*(False,) * 3, *(True,) * 8),
        caption="Calibration: the confidence that an agent stated when it ended, against what came"
        " of it, over the scored episodes in which it stated one; intervals by template",
        rows=calibration_rows,
    ),
    "templates": Table(
        titles=(
            *("template", "agent", "suite", "world"),
            *("tasks", "scored", "success", "interval over its tasks"),
        ),
        numbers=(*(False,) * 4, *(True,) * 4),
        caption="Success by template; an interval is over the tasks of the template",
        rows=_templates,
    ),
    "failures": Table(
        titles=("suite", "first unmet check", "tasks", "failures", "by cell"),
        numbers=(False, False, True, True, False),
        caption="Failed episodes by the first check that is not met, in the order of the task",
        rows=_failures,
    ),
    "cost-front": Table(
        titles=("cost", "suite", "world", "agent", "an episode", "success", "interval", "front"),
        numbers=(*(False,) * 4, *(True,) * 3, False),
        caption="Agents that no other one beats in both cost and success, by the figures as they"
        " are; agents that know the solution are left out",
        rows=_front,
    ),
    "difficulty": Table(
        titles=(
            *("suite", "task", "template", "success", "interval over agents"),
            *("solved by", "scored", "reference actions"),
        ),
        numbers=(*(False,) * 3, *(True,) * 5),
        caption="Difficulty of each task, the hardest first: success over all agents and worlds,"
        " each cell counted alike",
        rows=_tasks,
    ),
    "repeats": Table(
        titles=(
            *("agent", "suite", "world", "success by repeat"),
            *("change a repeat (points)", "interval", "of tasks"),
        ),
        numbers=(*(False,) * 4, *(True,) * 3),
        caption="Success by repeat, and its mean change from one repeat to the next over the tasks"
        " that were scored in two or more; intervals by template",
        rows=_trend,
    ),
}
