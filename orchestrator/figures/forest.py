"""The forest plot: every cell's success with its intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.figures.style import (
    INK,
    PALE,
    ROW,
    Mark,
    face_of,
    legend_below,
    lines_in,
    marks_of,
    names_of,
    new_figure,
    share_axis,
)
from orchestrator.studies.findings import CellFigures, StudyAnalysis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
        axes.plot(
            [found.bounds.low, found.bounds.high],
            [y + 0.09] * 2,
            color=PALE,
            linewidth=0.8,
            linestyle=":",
            marker="|",
            markersize=4,
        )
    if found.wilson is not None:
        axes.plot([found.wilson.low, found.wilson.high], [y] * 2, color=mark.colour, linewidth=0.9)
    if found.clustered is not None:
        axes.plot(
            [found.clustered.low, found.clustered.high], [y] * 2, color=mark.colour, linewidth=2.6
        )
    axes.plot(
        [found.success],
        [y],
        linestyle="none",
        zorder=3,
        marker=mark.marker,
        markersize=6.5,
        markerfacecolor=face_of(found.cell.world, mark),
        markeredgecolor=mark.colour,
        markeredgewidth=1.4,
    )
    said = f"{found.success:.0%}  of {found.scored_tasks} tasks, {found.scored} episodes"
    if found.scored < found.episodes:
        said += f"\n({found.episodes - found.scored} unscored)"
    axes.annotate(
        said,
        (1.0, y),
        xycoords=("axes fraction", "data"),
        xytext=(6, 0),
        textcoords="offset points",
        va="center",
        color=INK,
        fontsize=7.5,
        annotation_clip=False,
    )


def _legend(cells: tuple[CellFigures, ...]) -> list[object]:
    from matplotlib.lines import Line2D

    handles: list[object] = []
    if any(one.clustered is not None for one in cells):
        handles.append(Line2D([], [], color=INK, linewidth=2.6, label="over templates (clusters)"))
    if any(one.wilson is not None for one in cells):
        handles.append(Line2D([], [], color=INK, linewidth=0.9, label="Wilson, over tasks"))
    if any(one.bounds is not None and one.bounds.low < one.bounds.high for one in cells):
        handles.append(
            Line2D(
                [],
                [],
                color=PALE,
                linewidth=0.8,
                linestyle=":",
                marker="|",
                markersize=4,
                label="rate with all unscored failed / succeeded",
            )
        )
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
