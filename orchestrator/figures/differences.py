"""The paired-difference plot: the effect of each question, with its margin where it has one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.figures.style import (
    INK,
    PALE,
    ROW,
    formatter,
    legend_below,
    lines_in,
    new_figure,
    signed_points,
    wrapped,
)
from orchestrator.studies.findings import Answer, StudyAnalysis
from orchestrator.studies.questions import QuestionKind
from orchestrator.studies.wording import question_title, short_answer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOUR: Final = {"yes": "#0072B2", "no": "#D55E00", "undecided": PALE}
_MARKER: Final = {"yes": "o", "no": "X", "undecided": "o"}


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
        _row(axes, answer, at + height / 2, height)
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
    legend_below(figure, _legend(answers, analysis.alpha), 2)
    return figure


def _name(answer: Answer, *, is_mixed: bool) -> str:
    title = question_title(answer.question)
    is_later = is_mixed and not answer.question.registered
    return wrapped(f"{title} (not registered)" if is_later else title, 40)


def _row(axes: Axes, answer: Answer, y: float, height: float) -> None:
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
    if answer.interval is not None:
        axes.plot([answer.interval.low, answer.interval.high], [y] * 2, color=colour, linewidth=1.0)
    if answer.deciding_interval is not None:
        low, high = answer.deciding_interval.low, answer.deciding_interval.high
        axes.plot([low, high], [y] * 2, color=colour, linewidth=2.8)
    axes.plot(
        [answer.effect or 0.0],
        [y],
        linestyle="none",
        zorder=3,
        marker=_MARKER[decision],
        markersize=7,
        markeredgecolor=colour,
        markerfacecolor="white" if decision == "undecided" else colour,
        markeredgewidth=1.4,
    )
    axes.annotate(
        short_answer(answer),
        (1.0, y),
        xycoords=("axes fraction", "data"),
        xytext=(6, 0),
        textcoords="offset points",
        va="center",
        fontsize=7.5,
        annotation_clip=False,
    )


def _reach(answer: Answer) -> float:
    ends = [answer.effect or 0.0, answer.question.margin or 0.0, 0.02]
    if answer.interval is not None:
        ends += [answer.interval.low, answer.interval.high]
    if answer.deciding_interval is not None:
        ends += [answer.deciding_interval.low, answer.deciding_interval.high]
    return max(map(abs, ends))


def _legend(answers: list[Answer], alpha: float) -> list[object]:
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
