"""Cost against success: dollars, seconds and tokens of an episode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from orchestrator.analysis.figures.style import (
    GRID,
    cell_handles,
    draw_mark,
    face_of,
    formatter,
    legend_below,
    marks_of,
    names_of,
    new_figure,
)
from orchestrator.analysis.studies.breakdowns import COSTS
from orchestrator.analysis.studies.findings import CellFigures, StudyAnalysis
from orchestrator.analysis.wording import COSTS_SAID

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FAR_APART: Final = 10  # from this ratio of costs on, the axis is logarithmic


def cost(analysis: StudyAnalysis) -> Figure | None:
    """Draw success against what an episode costs, a panel each for money, tokens and time.

    Returns:
        None where nothing is known of any.
    """
    cells = [one for one in analysis.cells if one.success is not None]
    panels = [(by, read) for by, read in COSTS if any(read(one) for one in cells)]
    if not panels:
        return None
    names = names_of([one.cell for one in cells], 44)
    marks = marks_of(one.cell.agent for one in analysis.cells)
    columns = 2 if max(map(len, names.values())) > 24 else 3  # noqa: PLR2004 - letters that three columns hold
    figure = new_figure(3.0 + 0.2 * (len(cells) // columns + 1))
    grid: Any = figure.subplots(1, len(panels), squeeze=False, sharey=True)
    for number, (by, read) in enumerate(panels):
        axes = grid[0][number]
        shown = [(one, value) for one in cells if (value := read(one))]
        _panel(axes, shown, COSTS_SAID[by], marks)
        missing = len(cells) - len(shown)
        unknown = f"\n({missing} cells unknown)" if missing else ""
        axes.set_xlabel(f"{by} per episode{unknown}")
        if number == 0:
            axes.set_ylabel(f"success ({1 - analysis.alpha:.0%} intervals by template)")
    handles = cell_handles([one.cell for one in cells], names, marks, linestyle="none")
    legend_below(figure, handles, columns)
    return figure


def _panel(
    axes: Axes,
    shown: Sequence[tuple[CellFigures, float]],
    words: Callable[[float], str],
    marks: dict[str, Any],
) -> None:
    from matplotlib.ticker import NullFormatter

    values = [value for _, value in shown]
    if max(values) > _FAR_APART * min(values):
        axes.set_xscale("log")
        axes.set_xlim(min(values) / 2, max(values) * 2)
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_xlim(0, max(values) * 1.15)
    axes.xaxis.set_major_formatter(formatter(words))
    axes.set_ylim(-0.02, 1.02)
    axes.yaxis.set_major_formatter(formatter(lambda value: f"{value:.0%}"))
    axes.grid(color=GRID, linewidth=0.5)
    for one, value in shown:
        mark = marks[one.cell.agent]
        if one.clustered is not None:
            ends = [one.clustered.low, one.clustered.high]
            axes.plot([value] * 2, ends, color=mark.colour, linewidth=1.0)
        rate, face = one.success or 0.0, face_of(one.cell.world, mark)
        draw_mark(axes, value, rate, mark, face, markersize=7, markeredgewidth=1.4)
