"""Success by site, family, difficulty and length."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from orchestrator.figures.style import (
    GRID,
    PALE,
    face_of,
    legend_below,
    marks_of,
    names_of,
    new_figure,
    share_axis,
    wrapped,
)
from orchestrator.studies.findings import Slice, SliceKind, StudyAnalysis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TITLES: Final = {
    SliceKind.SITE: "by site",
    SliceKind.FAMILY: "by family of task",
    SliceKind.DIFFICULTY: "by difficulty (measured by these episodes themselves)",
    SliceKind.LENGTH: "by length of the reference",
}


def slices(analysis: StudyAnalysis) -> Figure | None:
    """Draw a panel a kind of slice, a row a slice, a mark a cell; None where there are none."""
    panels = [(by, list(group)) for by, group in groupby(analysis.slices, key=lambda one: one.by)]
    if not panels:
        return None
    cells = [one.cell for one in analysis.cells]
    names, marks = names_of(cells, 44), marks_of(cell.agent for cell in cells)
    step = max(0.13, 0.5 / max(1, len(cells)))
    row = step * len(cells) + 0.16
    heights = [row * len(group) + 0.35 for _, group in panels]
    columns = 2 if max(len(name) for name in names.values()) > 24 else 3  # noqa: PLR2004 - letters that three columns hold
    legend = 0.2 * (len(cells) // columns + 1)
    figure = new_figure(sum(heights) + legend + 0.6)
    grid: Any = figure.subplots(len(panels), 1, squeeze=False, sharex=True, height_ratios=heights)
    for number, (by, group) in enumerate(panels):
        axes = grid[number][0]
        _panel(axes, group, step, marks)
        axes.set_title(_TITLES[by], loc="left")
        share_axis(axes, "success (Wilson intervals)" if number == len(panels) - 1 else "")
    legend_below(figure, _legend(analysis, names, marks), columns)
    return figure


def _panel(axes: Axes, group: list[Slice], step: float, marks: dict[str, Any]) -> None:
    row = max(len(one.rates) for one in group) * step + 0.16
    for number, one in enumerate(group):
        for place, rate in enumerate(one.rates):
            mark = marks[rate.cell.agent]
            y = number * row + 0.08 + (place + 0.5) * step
            if rate.success is None:
                continue
            if rate.interval is not None:
                ends = [rate.interval.low, rate.interval.high]
                axes.plot(ends, [y] * 2, color=mark.colour, linewidth=1.1)
            axes.plot(
                [rate.success],
                [y],
                linestyle="none",
                zorder=3,
                marker=mark.marker,
                markersize=4.5,
                markerfacecolor=face_of(rate.cell.world, mark),
                markeredgecolor=mark.colour,
            )
        if number:
            axes.axhline(number * row, color=GRID, linewidth=0.8)
    axes.set_ylim(len(group) * row, 0)
    tasks = [max((rate.tasks for rate in one.rates), default=0) for one in group]
    axes.set_yticks(
        [(number + 0.5) * row for number in range(len(group))],
        [
            f"{wrapped(one.value, 24)}\n{count} task{'' if count == 1 else 's'}"
            for one, count in zip(group, tasks, strict=True)
        ],
    )
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_color(PALE)


def _legend(analysis: StudyAnalysis, names: dict[Any, str], marks: dict[str, Any]) -> list[Any]:
    from matplotlib.lines import Line2D

    return [
        Line2D(
            [],
            [],
            color=marks[one.cell.agent].colour,
            linewidth=1.1,
            marker=marks[one.cell.agent].marker,
            markersize=4.5,
            markerfacecolor=face_of(one.cell.world, marks[one.cell.agent]),
            label=names[one.cell],
        )
        for one in analysis.cells
    ]
