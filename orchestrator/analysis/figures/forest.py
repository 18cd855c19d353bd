"""Forest plots of cells and of questions, and the paired differences of each question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from arena_core.names import counted
from orchestrator.analysis.figures.style import (
    INK,
    PALE,
    ROW,
    Mark,
    draw_mark,
    draw_span,
    face_of,
    formatter,
    legend_below,
    lines_in,
    marks_of,
    names_of,
    new_figure,
    share_axis,
    signed_points,
    wrapped,
    write_beside,
)
from orchestrator.analysis.studies.findings import Answer, CellFigures, StudyAnalysis
from orchestrator.analysis.studies.questions import QuestionKind
from orchestrator.analysis.studies.sentences import question_title, short_answer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOUR: Final = {"yes": "#0072B2", "no": "#D55E00", "undecided": PALE}
_BOUNDS: Final[dict[str, Any]] = {
    "color": PALE,
    "linewidth": 0.8,
    "linestyle": ":",
    "marker": "|",
    "markersize": 4,
}
_MARKER: Final = {"yes": "o", "no": "X", "undecided": "o"}


def forest(analysis: StudyAnalysis) -> Figure:
    """Draw one row a cell: rate, interval over clusters, Wilson's interval, unscored bounds."""
    cells = analysis.cells
    names = names_of([one.cell for one in cells])
    marks = marks_of(one.cell.agent for one in cells)
    heights = [max(ROW, 0.17 * lines_in(names[one.cell]) + 0.12) for one in cells]
    figure = new_figure(1.35 + sum(heights))
    axes = figure.add_subplot()
    ticks, at = [], 0.0
    for found, height in zip(cells, heights, strict=True):
        middle = at + height / 2
        ticks.append(middle)
        _row(axes, found, middle, marks[found.cell.agent])
        at += height
    axes.set_ylim(at, 0)
    axes.set_yticks(ticks, [names[one.cell] for one in cells])
    axes.tick_params(axis="y", length=0)
    share_axis(axes, f"success ({1 - analysis.alpha:.0%} intervals)")
    legend_below(figure, _legend(cells), 2)
    return figure


def _row(axes: Axes, found: CellFigures, y: float, mark: Mark) -> None:
    if found.success is None:
        axes.text(0.5, y, "no episode is scored", ha="center", va="center", color=PALE)
        return
    if found.bounds is not None and found.bounds.low < found.bounds.high:
        draw_span(axes, found.bounds, y + 0.09, **_BOUNDS)
    draw_span(axes, found.wilson, y, color=mark.colour, linewidth=0.9)
    draw_span(axes, found.clustered, y, color=mark.colour, linewidth=2.6)
    face = face_of(found.cell.world, mark)
    draw_mark(axes, found.success, y, mark, face, markersize=6.5, markeredgewidth=1.4)
    tasks, episodes = counted(found.scored_tasks, "task"), counted(found.scored, "episode")
    said = f"{found.success:.0%}  of {tasks}, {episodes}"
    if found.scored < found.episodes:
        said += f"\n({found.episodes - found.scored} unscored)"
    write_beside(axes, said, y, color=INK)


def _legend(cells: tuple[CellFigures, ...]) -> list[object]:
    from matplotlib.lines import Line2D

    handles: list[object] = []
    if any(one.clustered is not None for one in cells):
        handles.append(Line2D([], [], color=INK, linewidth=2.6, label="over templates (clusters)"))
    if any(one.wilson is not None for one in cells):
        handles.append(Line2D([], [], color=INK, linewidth=0.9, label="Wilson, over tasks"))
    if any(one.bounds is not None and one.bounds.low < one.bounds.high for one in cells):
        handles.append(Line2D([], [], **_BOUNDS, label="rate with all unscored failed / succeeded"))
    worlds = {one.cell.world: one.world_label for one in cells}
    if len(worlds) > 1:
        handles += [
            Line2D(
                [],
                [],
                linestyle="none",
                marker="o",
                color=INK,
                markerfacecolor=face_of(world, Mark(INK, "o")),
                label=label,
            )
            for world, label in worlds.items()
        ]
    return handles


def differences(analysis: StudyAnalysis) -> Figure | None:
    """Draw one row a question; None where none has an effect."""
    answers = [one for one in analysis.answers if one.effect is not None]
    if not answers:
        return None
    is_mixed = any(one.question.registered for one in answers)
    names = [_name(one, is_mixed=is_mixed) for one in answers]
    heights = [max(ROW, 0.16 * lines_in(name) + 0.16) for name in names]
    figure = new_figure(1.45 + sum(heights))
    axes = figure.add_subplot()
    axes.axvline(0, color=INK, linewidth=0.9)
    ticks, at = [], 0.0
    for answer, height in zip(answers, heights, strict=True):
        ticks.append(at + height / 2)
        _answer_row(axes, answer, at + height / 2, height)
        at += height
    axes.set_ylim(at, 0)
    axes.set_yticks(ticks, names)
    axes.tick_params(axis="y", length=0)
    reach = max(_reach(one) for one in answers) * 1.08
    axes.set_xlim(-reach, reach)
    axes.xaxis.set_major_formatter(formatter(signed_points))
    axes.grid(axis="x", color="#d9d9d9", linewidth=0.6)
    none = "" if is_mixed else "\n(none of these questions was registered)"
    axes.set_xlabel(f"first − second, percentage points of success on the same tasks{none}")
    legend_below(figure, _answer_legend(answers, analysis.alpha), 2)
    return figure


def _name(answer: Answer, *, is_mixed: bool) -> str:
    title = question_title(answer.question)
    is_later = is_mixed and not answer.question.registered
    return wrapped(f"{title} (not registered)" if is_later else title, 40)


def _answer_row(axes: Axes, answer: Answer, y: float, height: float) -> None:
    decision = answer.decision.value
    colour = _COLOUR[decision]
    margin = answer.question.margin
    if margin is not None:
        both = answer.question.kind is QuestionKind.EQUIVALENCE
        for edge in (-margin, margin) if both else (-margin,):
            axes.plot(
                [edge] * 2,
                [y - height / 2.2, y + height / 2.2],
                color=INK,
                linestyle="--",
                linewidth=1.0,
            )
    draw_span(axes, answer.interval, y, color=colour, linewidth=1.0)
    draw_span(axes, answer.deciding_interval, y, color=colour, linewidth=2.8)
    mark, face = Mark(colour, _MARKER[decision]), "white" if decision == "undecided" else colour
    draw_mark(axes, answer.effect or 0.0, y, mark, face, markersize=7, markeredgewidth=1.4)
    write_beside(axes, short_answer(answer), y)


def _reach(answer: Answer) -> float:
    ends = [answer.effect or 0.0, answer.question.margin or 0.0, 0.02]
    if answer.interval is not None:
        ends += [answer.interval.low, answer.interval.high]
    if answer.deciding_interval is not None:
        ends += [answer.deciding_interval.low, answer.deciding_interval.high]
    return max(map(abs, ends))


def _answer_legend(answers: list[Answer], alpha: float) -> list[object]:
    from matplotlib.lines import Line2D

    handles: list[object] = [
        Line2D(
            [], [], color=INK, linewidth=1.0, label=f"{1 - alpha:.0%} interval of each, uncorrected"
        )
    ]
    if any(one.deciding_interval is not None for one in answers):
        label = f"{1 - 2 * alpha:.0%} interval, held against the margin"
        handles.append(Line2D([], [], color=INK, linewidth=2.8, label=label))
    if any(one.question.margin is not None for one in answers):
        handles.append(Line2D([], [], color=INK, linewidth=1.0, linestyle="--", label="margin"))
    words = {"yes": "shown", "undecided": "undecided", "no": "shown to be otherwise"}
    there = {one.decision.value for one in answers}
    handles += [
        Line2D(
            [],
            [],
            linestyle="none",
            marker=_MARKER[name],
            markeredgecolor=_COLOUR[name],
            markerfacecolor="white" if name == "undecided" else _COLOUR[name],
            label=label,
        )
        for name, label in words.items()
        if name in there
    ]
    return handles


def pairs(analysis: StudyAnalysis) -> Figure | None:
    """Draw a panel a question: a bar a pair, from the largest difference to the smallest.

    Returns:
        None where no question has pairs.
    """
    answers = [one for one in analysis.answers if one.differences]
    if not answers:
        return None
    figure = new_figure(1.25 * len(answers) + 0.3)
    grid: Any = figure.subplots(len(answers), 1, squeeze=False)
    for row, answer in zip(grid, answers, strict=True):
        axes, found = row[0], sorted(answer.differences, reverse=True)
        axes.stairs([max(one, 0.0) for one in found], fill=True, color=_COLOUR["yes"])
        axes.stairs([min(one, 0.0) for one in found], fill=True, color=_COLOUR["no"])
        axes.axhline(0, color=INK, linewidth=0.8)
        better, worse = sum(one > 0 for one in found), sum(one < 0 for one in found)
        equal = len(found) - better - worse
        said = f"first better in {better}, equal in {equal}, second better in {worse}"
        title = wrapped(f"{question_title(answer.question)}: {said}", 110)
        axes.set_title(title, loc="left", fontsize=8)
        axes.yaxis.set_major_formatter(formatter(signed_points))
        axes.set_xticks([])
    figure.supylabel("paired differences, points", fontsize=8.5)
    return figure
