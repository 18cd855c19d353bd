"""How far the worlds agree: the table of tasks won in each, and Bland and Altman's plot."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from orchestrator.analysis.figures.style import (
    GRID,
    INK,
    PALE,
    formatter,
    marks_of,
    new_figure,
    signed_points,
    wrapped,
)
from orchestrator.analysis.stats.rates import Interval
from orchestrator.analysis.studies.findings import StudyAnalysis, WorldAgreement

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def agreement(analysis: StudyAnalysis) -> Figure | None:
    """Draw one row an agent and suite: its 2 × 2 table, and the differences by template.

    Returns:
        None where no agent played both worlds.
    """
    found = [one for one in analysis.agreement if one.paired or one.points]
    if not found:
        return None
    marks = marks_of(one.cell.agent for one in analysis.cells)
    figure = new_figure(2.7 * len(found) + 0.3)
    grid: Any = figure.subplots(len(found), 2, squeeze=False, width_ratios=[1, 1.7])
    has_suites = len({one.suite for one in found}) > 1
    for row, one in enumerate(found):
        name = f"{one.agent}, {one.suite}" if has_suites else one.agent
        _table(grid[row][0], one, name)
        _bland_altman(grid[row][1], one, marks[one.agent].colour, marks[one.agent].marker)
    return figure


def _table(axes: Axes, found: WorldAgreement, name: str) -> None:
    from matplotlib.patches import Rectangle

    counts = (
        (0, 0, found.both),
        (1, 0, found.offline_only),
        (0, 1, found.online_only),
        (1, 1, found.neither),
    )
    for x, y, tasks in counts:
        agrees = x == y
        axes.add_patch(
            Rectangle(
                (x, y),
                1,
                1,
                facecolor="#dcecf7" if agrees else "white",
                edgecolor=PALE,
                hatch=None if agrees else "..",
            )
        )
        axes.text(
            x + 0.5,
            y + 0.5,
            str(len(tasks)),
            ha="center",
            va="center",
            fontsize=13,
            bbox={"facecolor": "#dcecf7" if agrees else "white", "edgecolor": "none", "pad": 2},
        )
    axes.set_xlim(0, 2)
    axes.set_ylim(2, 0)
    axes.set_aspect("equal")
    axes.set_xticks([0.5, 1.5], ["won", "lost"])
    axes.set_yticks([0.5, 1.5], ["won", "lost"], rotation=90, va="center")
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlabel(found.online_label)
    axes.set_ylabel(found.offline_label)
    axes.tick_params(length=0)
    axes.set_title(wrapped(name, 34), loc="left", fontweight="bold")
    for side in axes.spines.values():
        side.set_visible(False)
    kappa = "κ undefined" if found.kappa is None else f"κ = {found.kappa:.2f}"
    if found.kappa_interval is not None:
        kappa += f" ({found.kappa_interval.low:.2f} to {found.kappa_interval.high:.2f})"
    kappa = kappa.replace("-", "−")
    rate = "" if found.rate is None else f"agree on {found.rate:.0%} of {found.paired} tasks\n"
    left = len(found.split) + len(found.unpaired)
    more = f"\n{left} more not in the table" if left else ""
    axes.text(1, 2.08, f"{rate}{kappa}{more}", ha="center", va="top", fontsize=7.5, clip_on=False)


def _bland_altman(axes: Axes, found: WorldAgreement, colour: str, marker: str) -> None:
    axes.axhline(0, color=INK, linewidth=0.8)
    if found.limits is not None:
        for edge in (found.limits.low, found.limits.high):
            axes.axhline(edge, color=PALE, linewidth=1.0, linestyle="--")
    for span in (found.low_limit_interval, found.high_limit_interval):
        if span is not None:
            axes.axhspan(span.low, span.high, color=PALE, alpha=0.12, linewidth=0)
    if found.bias_interval is not None:
        axes.axhspan(
            found.bias_interval.low, found.bias_interval.high, color=colour, alpha=0.12, linewidth=0
        )
    if found.bias is not None:
        axes.axhline(found.bias, color=colour, linewidth=1.2)
    counted = Counter((round(one.mean, 6), round(one.difference, 6)) for one in found.points)
    for (mean, difference), count in sorted(counted.items()):
        axes.plot(
            [mean],
            [difference],
            linestyle="none",
            marker=marker,
            markersize=5 + min(6, count - 1),
            markerfacecolor="white" if count == 1 else colour,
            markeredgecolor=colour,
        )
        if count > 1:
            axes.annotate(
                str(count),
                (mean, difference),
                xytext=(5 + min(6, count - 1) / 2, 4),
                textcoords="offset points",
                fontsize=7,
            )
    spans = (found.limits, found.low_limit_interval, found.high_limit_interval)
    limits = [end for span in spans if span is not None for end in (span.low, span.high)]
    reach = max([0.1, *(abs(one.difference) for one in found.points), *map(abs, limits)]) * 1.15
    axes.set_ylim(-reach, reach)
    axes.set_xlim(-0.04, 1.04)
    axes.xaxis.set_major_formatter(formatter(lambda value: f"{value:.0%}"))
    axes.yaxis.set_major_formatter(formatter(signed_points))
    axes.grid(color=GRID, linewidth=0.5)
    axes.set_xlabel("mean of both worlds' rates, one mark a template")
    axes.set_ylabel("offline − online, points")
    if found.bias is not None:
        limits_said = (
            f"\n95 % of templates {signed_points(found.limits.low)}"
            f"{_within(found.low_limit_interval)} to {signed_points(found.limits.high)}"
            f"{_within(found.high_limit_interval)}"
            if found.limits is not None
            else ""
        )
        bias = f"bias {signed_points(found.bias, 1)} points{limits_said}"
        axes.set_title(bias, fontsize=8, loc="left")


def _within(span: Interval | None) -> str:
    """Return an interval in brackets; nothing where there is none."""
    return "" if span is None else f" ({signed_points(span.low)} to {signed_points(span.high)})"
