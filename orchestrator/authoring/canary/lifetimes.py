"""How long tasks live: validity over time, half-life with its interval, what dies first.

A lifetime goes from the first look that found a task valid to the first that found it drifted. It
is dated halfway between that look and the last valid one. Tasks that are still valid, that were
changed, or that nobody could look at since, are right-censored at their last valid look.

The half-life is that of a constant hazard (the maximum-likelihood estimate of the exponential
distribution: deaths ÷ task-days), with the exact interval of a Poisson count (Garwood 1936, by
quantiles of chi-square). It takes lifetimes as independent; tasks of one site often die together,
by one redesign, and then the interval is too narrow: the number of sites that died is given.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from orchestrator.authoring.canary.findings import CanaryStatus
from orchestrator.authoring.canary.history import CanaryEntry, CanaryPlace

CONFIDENCE: Final = 0.95
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifetime:
    """A task from its first valid look on.

    Attributes:
        days: how long it was valid, as far as it was seen.
        died_of: the kind that drifted; None where it was not seen to die.
    """

    task: str
    sites: tuple[str, ...]
    kinds: tuple[str, ...]
    days: float
    died_of: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfLife:
    """After how many days half of the tasks have drifted, at a constant hazard.

    Attributes:
        days: None where nothing died, or where nothing was seen twice.
        low, high: at 95 %; `high` is None where it is infinite.
        deaths: of how many tasks that was seen.
        task_days: for how long tasks were seen to be valid, in all.
        sites: how many sites had a death: those of one site are seldom independent.
    """

    days: float | None
    low: float | None
    high: float | None
    deaths: int
    task_days: float
    sites: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KindDeaths:
    """How often tasks died of one kind of action or check.

    Attributes:
        item_days: for how long items of this kind were seen to hold, in all.
        per_100_days: deaths of 100 items in a day; None where none was seen for any time.
    """

    kind: str
    deaths: int
    item_days: float
    per_100_days: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LookCounts:
    """What one look found, as counts.

    Attributes:
        valid_low, valid_high: the share that is valid, if of those that are neither valid nor
            drifted none is, and if all are.
    """

    at: str
    tasks: int
    counts: dict[str, int]
    valid_low: float
    valid_high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryLife:
    """What a history says of a suite's tasks.

    Attributes:
        looks: oldest first.
        kinds: what dies fastest first.
        now: each task as the last look at it found it.
    """

    place: CanaryPlace
    looks: tuple[LookCounts, ...]
    half_life: HalfLife
    kinds: tuple[KindDeaths, ...]
    now: tuple[CanaryEntry, ...]


def life_of(place: CanaryPlace, entries: Sequence[CanaryEntry]) -> CanaryLife:
    """Return what entries of one place, oldest first, say of its tasks."""
    found = lifetimes(entries)
    return CanaryLife(
        place=place,
        looks=_looks(entries),
        half_life=half_life(found),
        kinds=kind_deaths(found),
        now=tuple({one.task: one for one in entries}.values()),
    )


def lifetimes(entries: Iterable[CanaryEntry]) -> tuple[Lifetime, ...]:
    """Return the lifetimes in entries of one place, oldest first.

    A task that comes back after it drifted begins another one, and so does one that was changed.
    """
    by_task = defaultdict[tuple[str, str], list[CanaryEntry]](list)
    for entry in entries:
        by_task[entry.task, entry.task_sha256].append(entry)
    return tuple(life for found in by_task.values() for life in _of_task(found))


def _of_task(entries: Sequence[CanaryEntry]) -> Iterable[Lifetime]:
    first = last = None
    for entry in entries:
        if entry.status is CanaryStatus.VALID:
            first, last = first or entry, entry
        elif entry.status is CanaryStatus.DRIFTED and first is not None and last is not None:
            until = _when(last) + (_when(entry) - _when(last)) / 2
            yield _lifetime(first, until, entry.kind or "unknown")
            first = last = None
    if first is not None and last is not None:
        yield _lifetime(first, _when(last), None)


def _lifetime(first: CanaryEntry, until: datetime, died_of: str | None) -> Lifetime:
    return Lifetime(
        task=first.task,
        sites=first.sites,
        kinds=first.kinds,
        days=(until - _when(first)) / _DAY,
        died_of=died_of,
    )


def _when(entry: CanaryEntry) -> datetime:
    return datetime.fromisoformat(entry.at)


def half_life(found: Sequence[Lifetime], confidence: float = CONFIDENCE) -> HalfLife:
    """Return the half-life of tasks with its interval."""
    deaths = [one for one in found if one.died_of is not None]
    days = math.fsum(one.days for one in found)
    low_rate, high_rate = rate_interval(len(deaths), days, confidence)
    return HalfLife(
        days=math.log(2) * days / len(deaths) if deaths and days else None,
        low=math.log(2) / high_rate if high_rate else None,
        high=math.log(2) / low_rate if low_rate else None,
        deaths=len(deaths),
        task_days=days,
        sites=len({one.sites for one in deaths}),
    )


def rate_interval(
    events: int, exposure: float, confidence: float = CONFIDENCE
) -> tuple[float | None, float | None]:
    """Return the exact interval of a Poisson rate; None without exposure."""
    from scipy import special  # noqa: PLC0415  half a second, and most commands need it not

    if not exposure:
        return None, None
    tail = (1 - confidence) / 2
    low = float(special.gammaincinv(events, tail)) / exposure if events else 0.0
    return low, float(special.gammaincinv(events + 1, 1 - tail)) / exposure


def kind_deaths(found: Sequence[Lifetime]) -> tuple[KindDeaths, ...]:
    """Return how often tasks died of each kind, what dies fastest first.

    A task dies once, of what its reference met first: kinds that come late in it are seen less.
    """
    exposed, deaths = defaultdict[str, float](float), defaultdict[str, int](int)
    for one in found:
        for kind in one.kinds:
            exposed[kind] += one.days
        if one.died_of is not None:
            deaths[one.died_of] += 1
    rows = [
        KindDeaths(
            kind=kind,
            deaths=deaths[kind],
            item_days=exposed[kind],
            per_100_days=100 * deaths[kind] / exposed[kind] if exposed[kind] else None,
        )
        for kind in sorted({*exposed, *deaths})
    ]
    return tuple(sorted(rows, key=lambda one: (-(one.per_100_days or 0.0), -one.deaths, one.kind)))


def _looks(entries: Iterable[CanaryEntry]) -> tuple[LookCounts, ...]:
    by_look = defaultdict[str, list[CanaryEntry]](list)
    for entry in entries:
        by_look[entry.at].append(entry)
    return tuple(_counts(at, found) for at, found in by_look.items())


def _counts(at: str, found: Sequence[CanaryEntry]) -> LookCounts:
    counts = {status.value: 0 for status in CanaryStatus}
    for entry in found:
        counts[entry.status.value] += 1
    return LookCounts(
        at=at,
        tasks=len(found),
        counts=counts,
        valid_low=counts[CanaryStatus.VALID] / len(found),
        valid_high=1 - counts[CanaryStatus.DRIFTED] / len(found),
    )
