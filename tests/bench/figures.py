"""One record per measured figure, as a table and as bench.json."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import Final

from bench.machine import Taken

_CORES: Final = os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure beside its reference from the same run, and the goal, in words.

    Attributes:
        ratio: ours to the reference.
        met: whether the goal was reached in this run; None where there is none.
        worst: the largest of ours, where `ours` is the median of several.
        reference_worst: the same of the reference.
        rounds: how many there were.
        cpu_s: the median of the seconds of all cores that ours took.
        load: how many processes wanted a core before, at most: more than there are cores make every
            time longer, and leave `cpu_s` much as it is.
    """

    name: str
    ours: float
    reference: float
    ratio: float
    goal: str
    met: bool | None = None
    worst: float | None = None
    reference_worst: float | None = None
    rounds: int = 1
    cpu_s: float | None = None
    load: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """The same thing measured again and again."""

    values: Sequence[float]

    @property
    def median(self) -> float:
        """The middle one."""
        return median(self.values)

    @property
    def worst(self) -> float:
        """The largest one."""
        return max(self.values)


def times_faster(name: str, ours: Series, reference: Series, least: float) -> Figure:
    """Compare two series of times; the goal is how many times shorter the median of ours is."""
    ratio = ours.median / reference.median
    goal = f"at least {least:g}× faster (ratio <= {1 / least:.3f})"
    return _compared(name, ours, reference, goal, met=ratio <= 1 / least)


def times_as_long(name: str, ours: Series, reference: Series, most: float) -> Figure:
    """Compare two series of times; the goal is that the median of ours is not much longer."""
    ratio = ours.median / reference.median
    return _compared(name, ours, reference, f"ratio <= {most:g}", met=ratio <= most)


def beside(name: str, ours: Series, reference: Series) -> Figure:
    """Compare two series of times, without a goal."""
    return _compared(name, ours, reference, "", met=None)


def at_most(name: str, ours: Series, most: float, unit: str = "ms") -> Figure:
    """Compare a series with the goal itself, which its median must not pass."""
    return Figure(
        name=name,
        ours=ours.median,
        reference=most,
        ratio=ours.median / most,
        goal=f"<= {most:g} {unit}",
        met=ours.median <= most,
        worst=ours.worst,
        rounds=len(ours.values),
    )


def taken_at_most(name: str, taken: Sequence[Taken], most: float) -> Figure:
    """Compare seconds on the clock with the goal, and say what else tells of them."""
    return with_cpu(at_most(name, Series([one.seconds for one in taken]), most, "s"), taken)


def with_cpu(figure: Figure, taken: Sequence[Taken]) -> Figure:
    """Return a figure with the seconds of all cores, and how busy the machine was before."""
    cpu_s = median(one.cpu_s for one in taken)
    return replace(figure, cpu_s=cpu_s, load=max(one.load for one in taken))


def show(figures: Sequence[Figure], path: Path | None) -> None:
    """Print the figures as a table and, where a path is given, write them there."""
    if path is not None:
        path.write_text(json.dumps([asdict(figure) for figure in figures], indent=2) + "\n")
    print(
        f"{'figure':<66}{'ours':>9}{'max':>9}{'reference':>11}{'max':>9}{'ratio':>8}"
        f"{'rounds':>8}{'cpu s':>8}{'load':>7}  goal"
    )
    for one in figures:
        print(
            f"{one.name:<66}{one.ours:>9.2f}{_number(one.worst):>9}{one.reference:>11.2f}"
            f"{_number(one.reference_worst):>9}{one.ratio:>8.3f}{one.rounds:>8}"
            f"{_number(one.cpu_s):>8}{_number(one.load):>7}  {one.goal}{_verdict(one)}"
        )


def _compared(name: str, ours: Series, reference: Series, goal: str, *, met: bool | None) -> Figure:
    return Figure(
        name=name,
        ours=ours.median,
        reference=reference.median,
        ratio=ours.median / reference.median,
        goal=goal,
        met=met,
        worst=ours.worst,
        reference_worst=reference.worst,
        rounds=len(ours.values),
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _verdict(figure: Figure) -> str:
    match figure.met:
        case None:
            return ""
        case True:
            return ": met"
        case False if figure.load is not None and figure.load > _CORES:
            return f": MISSED while the machine was busy ({figure.load:.1f} on {_CORES} cores)"
        case False:
            return ": MISSED"
