"""Success by slice and by task: dot plots and the heat map."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from orchestrator.analysis.figures.style import (
    GRID,
    INK,
    PALE,
    cell_handles,
    draw_mark,
    draw_span,
    face_of,
    formatter,
    legend_below,
    marks_of,
    names_of,
    new_figure,
    share_axis,
    wrapped,
)
from orchestrator.analysis.stats.results import Cell
from orchestrator.analysis.studies.findings import StudyAnalysis
from orchestrator.analysis.studies.slices import Slice, SliceKind, TaskAcross, TaskCell

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_TITLES: Final = {
    SliceKind.SITE: "by site",
    SliceKind.FAMILY: "by family of task",
    SliceKind.DIFFICULTY: "by difficulty (measured by these episodes themselves)",
    SliceKind.LENGTH: "by length of the reference",
}
_NAMED: Final = 80  # with more tasks, names and counts would be illegible
_MIDDLE: Final = 0.55
_NAME_WIDTH: Final = 44


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
        share_axis(axes, "success (intervals by template)" if number == len(panels) - 1 else "")
    handles = cell_handles(cells, names, marks, linewidth=1.1, markersize=4.5)
    legend_below(figure, handles, columns)
    return figure


def _panel(axes: Axes, group: list[Slice], step: float, marks: dict[str, Any]) -> None:
    row = max(len(one.rates) for one in group) * step + 0.16
    for number, one in enumerate(group):
        for place, rate in enumerate(one.rates):
            mark = marks[rate.cell.agent]
            y = number * row + 0.08 + (place + 0.5) * step
            if rate.success is None:
                continue
            draw_span(axes, rate.interval, y, color=mark.colour, linewidth=1.1)
            draw_mark(axes, rate.success, y, mark, face_of(rate.cell.world, mark), markersize=4.5)
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


def heat_map(analysis: StudyAnalysis) -> Figure | None:
    """Draw tasks by cells, hardest task first; each place says how many of its episodes succeeded.

    Returns:
        None where no task was played.
    """
    tasks = sorted(analysis.tasks, key=_difficulty)
    if not tasks:
        return None
    cells = [one.cell for one in analysis.cells]
    names = names_of(cells, 22)
    is_named = len(tasks) <= _NAMED
    height = 0.2 * len(tasks) if is_named else min(9.0, 0.02 * len(tasks) + 3)
    figure = new_figure(height + 2.2, width=min(12.0, max(5.0, 3.2 + 0.62 * len(cells))))
    axes = figure.add_subplot()
    colours = _colours()
    axes.set_xlim(0, len(cells))
    axes.set_ylim(len(tasks), 0)
    if is_named:
        for y, task in enumerate(tasks):
            by_cell = {one.cell: one for one in task.cells}
            for x, cell in enumerate(cells):
                if (found := by_cell.get(cell)) is not None:
                    _place(axes, x, y, found, colours)
    else:
        _picture(axes, tasks, cells, colours)
    axes.set_xticks(
        [x + 0.5 for x in range(len(cells))],
        [names[cell] for cell in cells],
        rotation=40,
        ha="left",
        rotation_mode="anchor",
    )
    axes.xaxis.tick_top()
    if is_named:
        axes.set_yticks([y + 0.5 for y in range(len(tasks))], [_task_name(one) for one in tasks])
    else:
        axes.set_yticks([])
        axes.set_ylabel(f"{len(tasks)} tasks, hardest first")
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    few = "* some unscored; hatched: all unscored"
    _scale(figure, axes, colours, few if is_named else "white: none scored")
    return figure


def _difficulty(task: TaskAcross) -> tuple[float, str, str]:
    return (-1.0 if task.success is None else task.success, task.suite, task.task)


def _task_name(task: TaskAcross) -> str:
    name = task.task
    return name if len(name) <= _NAME_WIDTH else name[: _NAME_WIDTH - 1] + "…"


def _colours() -> Any:
    from matplotlib import colormaps

    return colormaps["cividis"]  # one scale of lightness: it holds in grey and for colour blindness


def _place(axes: Any, x: int, y: int, found: TaskCell, colours: Any) -> None:
    from matplotlib.patches import Rectangle

    rate = found.rate
    if rate is None:
        look: dict[str, Any] = {"facecolor": "white", "edgecolor": PALE, "hatch": "////"}
        axes.add_patch(Rectangle((x, y), 1, 1, **look, linewidth=0.4))
    else:
        look = {"facecolor": colours(rate), "edgecolor": "white"}
        axes.add_patch(Rectangle((x, y), 1, 1, **look, linewidth=0.8))
    text = "unscored" if rate is None else f"{found.successes}/{found.scored}"
    text += "*" if found.scored < found.episodes and rate is not None else ""
    colour = INK if rate is None or rate > _MIDDLE else "white"
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8} if rate is None else None
    axes.text(
        x + 0.5, y + 0.52, text, ha="center", va="center", color=colour, fontsize=6.5, bbox=box
    )


def _picture(axes: Any, tasks: Sequence[TaskAcross], cells: Sequence[Cell], colours: Any) -> None:
    """Draw many tasks as one picture: as thousands of shapes a file would take seconds to open."""
    import numpy as np

    rates = np.full((len(tasks), len(cells)), np.nan)
    places = {cell: x for x, cell in enumerate(cells)}
    for y, task in enumerate(tasks):
        for one in task.cells:
            if one.rate is not None:
                rates[y, places[one.cell]] = one.rate
    axes.imshow(
        rates,
        cmap=colours,
        vmin=0,
        vmax=1,
        aspect="auto",
        interpolation="nearest",
        extent=(0, len(cells), len(tasks), 0),
    )


def _scale(figure: Any, axes: Any, colours: Any, marks: str) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    bar = figure.colorbar(
        ScalarMappable(Normalize(0, 1), colours),
        ax=axes,
        location="bottom",
        shrink=0.5,
        aspect=30,
        pad=0.02,
        format=formatter(lambda value: f"{value:.0%}"),
    )
    bar.set_label(f"succeeded of scored episodes ({marks})")
    bar.outline.set_visible(False)
