"""Figures drawn as small SVG pictures whose places are percentages: they fit any width."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from orchestrator.analysis.stats.rates import Interval

_STEPS: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)
_MOST_TICKS: Final = 5
_NOTHING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Scale:
    """Values from `low` to `high`, laid out from left to right inside a margin, in per cent."""

    low: float
    high: float
    margin: float = 2.0

    def at(self, value: float) -> float:
        """Return the place of a value; one beyond the ends stands at the end."""
        share = (value - self.low) / (self.high - self.low)
        return self.margin + (100 - 2 * self.margin) * min(1.0, max(0.0, share))

    @property
    def ticks(self) -> tuple[float, ...]:
        """Round values between the ends, at most six."""
        width = self.high - self.low
        step = next((one for one in _STEPS if width / one <= _MOST_TICKS), 1.0)
        first, last = math.ceil(self.low / step - _NOTHING), math.floor(self.high / step + _NOTHING)
        return tuple(round(number * step, 6) for number in range(first, last + 1))


SHARES: Final = Scale(0.0, 1.0)


def differences(values: Iterable[float | None]) -> Scale:
    """Return a scale around zero that has room for all the values, in whole steps of 10 points."""
    most = max((abs(value) for value in values if value is not None), default=0.0)
    end = min(1.0, max(0.1, math.ceil(most * 10 - _NOTHING) / 10))
    return Scale(-end, end)


def element(name: str, content: Markup | str = "", **attributes: str | float | None) -> Markup:
    """Return one SVG element; `_` in a name stands for `-`, a trailing one for nothing."""
    given = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), _text(value))
        for key, value in attributes.items()
        if value is not None
    )
    return Markup("<{0}{1}>{2}</{0}>").format(name, given, content)


def _text(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")


def percent_of(value: float) -> str:
    """Return a coordinate."""
    return f"{_text(value)}%"


def line(scale: Scale, span: Interval | None, kind: str, y: float = 50) -> Markup:
    """Return a horizontal line from end to end of an interval; nothing where there is none."""
    if span is None:
        return Markup()
    ends = (percent_of(scale.at(span.low)), percent_of(scale.at(span.high)))
    return element("line", x1=ends[0], x2=ends[1], y1=percent_of(y), y2=percent_of(y), class_=kind)


def brackets(scale: Scale, span: Interval | None, y: float) -> Markup:
    """Return a dashed line with an upright at each end; nothing where there is no interval."""
    if span is None:
        return Markup()
    ends = [upright(scale, value, "bound", y - 9, y + 9) for value in (span.low, span.high)]
    return line(scale, span, "bound dashed", y) + ends[0] + ends[1]


def upright(scale: Scale, value: float, kind: str, top: float = 0, bottom: float = 100) -> Markup:
    """Return a vertical line at a value."""
    place = percent_of(scale.at(value))
    return element(
        "line", x1=place, x2=place, y1=percent_of(top), y2=percent_of(bottom), class_=kind
    )


def band(scale: Scale, span: Interval, kind: str) -> Markup:
    """Return a rectangle over the whole height."""
    left, right = scale.at(span.low), scale.at(span.high)
    return element(
        "rect",
        x=percent_of(left),
        width=percent_of(right - left),
        y="0",
        height="100%",
        class_=kind,
    )


def point(x: float, y: float, *, is_square: bool, kind: str = "") -> Markup:
    """Return a mark at a place in per cent: a filled disc, or a square that is open."""
    if not is_square:
        return element(
            "circle", cx=percent_of(x), cy=percent_of(y), r="5", class_=f"mark disc {kind}".strip()
        )
    return element(
        "rect",
        x=percent_of(x),
        y=percent_of(y),
        width="9",
        height="9",
        class_=f"mark square {kind}".strip(),
    )


def grid(scale: Scale) -> Markup:
    """Return the fine uprights of a scale's round values."""
    return Markup("").join(
        upright(scale, tick, "zero" if abs(tick) < _NOTHING and scale.low < 0 else "grid")
        for tick in scale.ticks
    )


def picture(*parts: Markup, kind: str = "track", label: str | None = None) -> Markup:
    """Return the picture; without a label it is for eyes alone: the figures stand beside it."""
    content = Markup("").join(parts)
    if label is None:
        return element("svg", content, class_=kind, aria_hidden="true", focusable="false")
    return element("svg", content, class_=kind, role="img", aria_label=label)


def axis(scale: Scale, words: Sequence[str]) -> Markup:
    """Return the words below a column of tracks, each under its tick."""
    texts = [
        element(
            "text",
            word,
            x=percent_of(scale.at(tick)),
            y="12",
            text_anchor="middle"
            if scale.margin + 1 < scale.at(tick) < 99 - scale.margin
            else ("start" if tick == scale.ticks[0] else "end"),
        )
        for tick, word in zip(scale.ticks, words, strict=True)
    ]
    return picture(*texts, kind="axis")


def points_of(value: float) -> str:
    """Return a difference of shares in percentage points, with its sign."""
    rounded = round(100 * value, 1)
    return f"{rounded:+.1f}".replace("-", "−") if rounded else "0.0"
