"""The figures of a study as the page draws them: what analysis found, turned into pictures."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from arena_core.worlds import World
from orchestrator.analysis.stats.rates import Interval
from orchestrator.analysis.studies.findings import Answer, CellFigures, WorldAgreement
from orchestrator.analysis.studies.slices import SliceRate
from orchestrator.analysis.study_report.tracks import (
    SHARES,
    Scale,
    axis,
    band,
    brackets,
    differences,
    element,
    grid,
    line,
    percent_of,
    picture,
    point,
    points_of,
    upright,
)

_HALF: Final = 50.0
# The heights of what one row shows, in per cent from its top: rate, second interval, bounds.
_UPPER, _LOWER, _LOWEST = 36.0, 62.0, 82.0
_NAME_FITS: Final = 92.0  # per cent: a name right of a mark farther on would leave the picture
_SHORT_WORD: Final = 7  # letters: five longer ones do not fit side by side on a telephone
_NOTHING: Final = 1e-9
_SHARE_TICKS: Final = [(tick, f"{tick:.0%}") for tick in SHARES.ticks]

Ticks = Sequence[tuple[float, str]]


def cell_track(figures: CellFigures) -> Markup:
    """Return a row of the forest plot: bounds, both intervals, the rate."""
    return picture(
        grid(SHARES),
        brackets(SHARES, figures.bounds if figures.unscored else None, _LOWEST),
        line(SHARES, figures.wilson, "thin", _LOWER),
        line(SHARES, figures.clustered, "thick", _UPPER),
        _mark(SHARES, figures.success, figures.cell.world, _UPPER),
    )


def slice_track(rate: SliceRate) -> Markup:
    """Return a cell's rate in a slice, with its interval."""
    return picture(
        grid(SHARES),
        line(SHARES, rate.interval, "thick"),
        _mark(SHARES, rate.success, rate.cell.world),
    )


def shares_axis(*, is_narrow: bool = False) -> Markup:
    """Return the words below tracks of shares; below narrow ones those of the ends alone."""
    ends = {0, len(SHARES.ticks) - 1}
    words = [
        f"{tick:.0%}" if place in ends or not is_narrow else ""
        for place, tick in enumerate(SHARES.ticks)
    ]
    return axis(SHARES, words)


def effects_scale(answers: Iterable[Answer]) -> Scale:
    """Return the scale that all answers are drawn on."""
    found: list[float | None] = []
    for answer in answers:
        spans = (answer.interval, answer.bounds)
        found += [end for span in spans if span for end in (span.low, span.high)]
        found += [answer.effect, answer.question.margin]
    return differences(found)


def effect_track(answer: Answer, scale: Scale) -> Markup:
    """Return the effect with its interval, its bounds and the margin that it is held against."""
    parts = [Markup()]
    has_two = answer.deciding_interval is not None
    margin = answer.question.margin
    if margin is not None:
        parts.append(band(scale, Interval(-margin, margin), "margin"))
        parts += [upright(scale, end, "margin-end") for end in (-margin, margin)]
    parts += [
        grid(scale),
        brackets(scale, answer.bounds if _is_wide(answer.bounds) else None, _LOWEST),
        line(scale, answer.interval, "thin" if has_two else "thick", _LOWER if has_two else _UPPER),
        line(scale, answer.deciding_interval, "thick", _UPPER),
    ]
    if answer.effect is not None:
        parts.append(point(scale.at(answer.effect), _UPPER, is_square=False))
    return picture(*parts)


def _is_wide(bounds: Interval | None) -> bool:
    """Whether anything unscored leaves room between the bounds."""
    return bounds is not None and bounds.high - bounds.low > _NOTHING


def effects_axis(scale: Scale) -> Markup:
    """Return the words below effects, in percentage points."""
    words = [points_of(tick).removesuffix(".0") for tick in scale.ticks]
    return axis(scale, words)


@dataclass(frozen=True, slots=True)
class TaskDifferences:
    """The paired differences of one question: a bar a pair, from the largest to the smallest.

    A task is as many pairs as the question leaves open: one in each world, or of each agent.
    `most`: how large the difference is that is drawn over the whole height.
    """

    count: int
    most: float
    first_better: int
    equal: int
    second_better: int
    plot: Markup


def task_differences(answer: Answer) -> TaskDifferences | None:
    """Return what both sides made of each task that they share; None where they share none."""
    question = answer.question
    found = sorted(answer.differences, reverse=True)
    if not found:
        return None
    width, most = 100 / len(found), max(abs(found[0]), abs(found[-1])) or 1.0
    bars = [
        element(
            "rect",
            x=percent_of(number * width),
            width=percent_of(width * 0.86),
            y=percent_of(_HALF - _HALF * max(one, 0.0) / most),
            height=percent_of(max(_HALF * abs(one) / most, 0.8)),
            class_="first" if one > 0 else "second" if one < 0 else "equal",
        )
        for number, one in enumerate(found)
    ]
    middle = element("line", x1="0", x2="100%", y1="50%", y2="50%", class_="zero")
    better = sum(one > 0 for one in found)
    worse = sum(one < 0 for one in found)
    equal = len(found) - better - worse
    label = (
        f"Paired differences: {question.sides[0]} better in {better}, equal in {equal},"
        f" {question.sides[1]} better in {worse} of {len(found)}"
    )
    plot = picture(*bars, middle, kind="pairs", label=label)
    return TaskDifferences(len(found), most, better, equal, worse, plot)


def agreement_plot(agreement: WorldAgreement) -> Markup:
    """Return the Bland-Altman plot: a mark a template, counted where several share a place."""
    around = (agreement.low_limit_interval, agreement.high_limit_interval)
    spans = [agreement.limits, agreement.bias_interval, *around]
    ends = [end for span in spans if span for end in (span.low, span.high)]
    scale = differences([*(one.difference for one in agreement.points), *ends])
    plot = Plot(SHARES, scale)
    heights = [(tick, points_of(tick).removesuffix(".0")) for tick in scale.ticks]
    parts = [
        *map(plot.band, around),
        plot.frame(_SHARE_TICKS, heights),
    ]
    if agreement.limits is not None:
        limits = (agreement.limits.low, agreement.limits.high)  # they may lie beyond what can be
        parts += [plot.level(end, "bound dashed") for end in limits if abs(end) <= scale.high]
    if agreement.bias is not None:
        parts.append(plot.level(agreement.bias, "thin"))
    places = Counter((round(one.mean, 6), round(one.difference, 6)) for one in agreement.points)
    parts += [
        plot.mark(*place, World.OFFLINE, f"{count}×" if count > 1 else "")
        for place, count in places.items()
    ]
    label = (
        f"Difference of the worlds against their mean, {len(agreement.points)} templates of"
        f" {agreement.agent}"
    )
    return picture(*parts, kind="plot", label=label)


@dataclass(frozen=True, slots=True)
class Plot:
    """A field with an axis of its own in both directions."""

    across: Scale
    up: Scale

    def x(self, value: float) -> float:
        """Return the place of a value, right of the words of the other axis."""
        return 12 + 0.87 * self.across.at(value)

    def y(self, value: float) -> float:
        """Return the height of a value, above the words of the other axis."""
        return 3 + 0.85 * (100 - self.up.at(value))

    def frame(self, across: Ticks, up: Ticks) -> Markup:
        """Return grid and words of both axes."""
        parts = []
        for tick, word in across:
            place = percent_of(self.x(tick))
            parts.append(element("line", x1=place, x2=place, y1="3%", y2="88%", class_="grid"))
            # A word in the middle under the last tick would leave the picture.
            anchor = "end" if self.x(tick) > _NAME_FITS else "middle"
            parts.append(element("text", word, x=place, y="97%", text_anchor=anchor))
        for tick, word in up:
            parts.append(
                self.level(tick, "zero" if abs(tick) < _NOTHING and self.up.low < 0 else "grid")
            )
            place = percent_of(self.y(tick))
            parts.append(element("text", word, x="11%", y=place, dy="4", text_anchor="end"))
        return Markup("").join(parts)

    def level(self, value: float, kind: str) -> Markup:
        """Return a line across at a value."""
        place = percent_of(self.y(value))
        return element("line", x1="12%", x2="99%", y1=place, y2=place, class_=kind)

    def band(self, span: Interval | None) -> Markup:
        """Return what an interval covers across; nothing where there is none."""
        if span is None or span.high < self.up.low or span.low > self.up.high:
            return Markup()
        top, bottom = self.y(span.high), self.y(span.low)  # cut at the ends of the scale
        sizes = {"width": "87%", "height": percent_of(bottom - top)}
        return element("rect", x="12%", y=percent_of(top), class_="margin", **sizes)

    def mark(self, x: float, y: float, world: World, name: str = "") -> Markup:
        """Return a mark, with its name beside it."""
        place = self.x(x), self.y(y)
        found = point(*place, is_square=world is World.ONLINE)
        if not name:
            return found
        is_last = place[0] > _NAME_FITS
        return found + element(
            "text",
            name,
            x=percent_of(place[0]),
            y=percent_of(place[1]),
            dx="-9" if is_last else "9",
            dy="-5",
            text_anchor="end" if is_last else None,
            class_="name",
        )


@dataclass(frozen=True, slots=True)
class CostPlot:
    """Cost against success, of what the cells that have both took an episode.

    Attributes:
        by: what cost is: `US dollars`, `tokens`, `seconds`; `said` writes a value of it.
    """

    by: str
    said: Callable[[float], str]
    drawn: Markup


def cost_plots(cells: Sequence[CellFigures], money: Callable[[float], str]) -> list[CostPlot]:
    """Return a plot for each way to count cost in which at least one cell has some."""
    ways: tuple[tuple[str, Callable[[float], str], Callable[[CellFigures], float | None]], ...] = (
        ("US dollars", money, lambda one: one.spending.usd_per_episode),
        ("tokens", "{:,.0f}".format, lambda one: one.spending.tokens_per_episode),
        ("seconds", "{:,.1f} s".format, lambda one: one.spending.seconds_per_episode),
    )
    found = []
    for by, said, cost in ways:
        costs = [(number, one, cost(one)) for number, one in enumerate(cells, start=1)]
        drawn = [(n, one, paid) for n, one, paid in costs if paid and one.success is not None]
        if drawn:
            found.append(CostPlot(by=by, said=said, drawn=_cost_plot(by, said, drawn)))
    return found


def _cost_plot(
    by: str, said: Callable[[float], str], cells: Sequence[tuple[int, CellFigures, float]]
) -> Markup:
    most = _round_up(max(paid for _, _, paid in cells))
    plot = Plot(Scale(0.0, most), SHARES)
    words = [(most * part / 4, said(most * part / 4) if part else "0") for part in range(5)]
    if max(len(word) for _, word in words) > _SHORT_WORD:
        words = words[::2]
    parts = [plot.frame(words, _SHARE_TICKS)]
    for number, one, paid in cells:
        if one.clustered is not None:
            x, ends = percent_of(plot.x(paid)), (one.clustered.low, one.clustered.high)
            low, high = (percent_of(plot.y(end)) for end in ends)
            parts.append(element("line", x1=x, x2=x, y1=low, y2=high, class_="thin"))
        parts.append(plot.mark(paid, one.success or 0.0, one.cell.world, str(number)))
    label = f"Success against {by} an episode, {len(cells)} cells"
    return picture(*parts, kind="plot", label=label)


def _round_up(value: float) -> float:
    """Return the next of 1, 2, 4, 8 × 10ⁿ."""
    size = 10.0 ** math.floor(math.log10(value))
    return next(part * size for part in (1, 2, 4, 8, 10) if value <= part * size * (1 + 1e-9))


def _mark(scale: Scale, value: float | None, world: World, y: float = _HALF) -> Markup:
    if value is None:
        return Markup()
    return point(scale.at(value), y, is_square=world is World.ONLINE)
