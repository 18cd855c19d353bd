"""Whether a stated confidence tells successes from failures: AUROC, by clusters and repeats."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from orchestrator.analysis.stats.rates import CONFIDENCE, NOTHING, Interval, student_quantile

ONE_OUTCOME: Final = "all ended alike, so there is nothing to tell apart"
ONE_HOLDS_ALL: Final = "one cluster holds all successes, or all failures"
NO_SPREAD: Final = "all clusters say the same, or the one kind always ranks above the other"
# An interval on the logarithm of the odds needs a value between these.
_ROOM: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Stated:
    """One episode whose agent stated a confidence.

    Attributes:
        cluster: episodes with the same word here may be alike.
        weight: above 0: what it counts; the episodes of a task share its 1.
    """

    cluster: str
    confidence: float
    success: bool
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Discrimination:
    """AUROC; `undefined` says why it, or its interval, is None."""

    value: float | None
    interval: Interval | None
    undefined: str | None = None


class _Ranked:
    """The confidences of some episodes in order, with the weight up to each."""

    def __init__(self, episodes: Iterable[Stated]) -> None:
        ordered = sorted(episodes, key=lambda one: one.confidence)
        self._values = [one.confidence for one in ordered]
        self._weights = [0.0, *accumulate(one.weight for one in ordered)]

    @property
    def weight(self) -> float:
        return self._weights[-1]

    def below(self, confidence: float) -> float:
        """Return the weight of what is below; of what is equal, half."""
        low = bisect_left(self._values, confidence)
        high = bisect_right(self._values, confidence)
        return (self._weights[low] + self._weights[high]) / 2


def discrimination(episodes: Sequence[Stated], *, confidence: float = CONFIDENCE) -> Discrimination:
    """Return the chance that a success was stated with more confidence than a failure.

    Equal confidences count half; 0.5 is no better than a coin (the area under the ROC curve,
    Mann and Whitney's statistic). The interval is on the logarithm of the odds, with the jackknife
    over whole clusters and Student's quantile; its degrees of freedom are those of the clusters
    that hold the rarer outcome, since these are what the value rests on.
    """
    won = [one for one in episodes if one.success]
    lost = [one for one in episodes if not one.success]
    if not won or not lost:
        return Discrimination(None, None, ONE_OUTCOME)
    above, below = _Ranked(won), _Ranked(lost)
    wins = _wins(won, below)
    value = wins / (above.weight * below.weight)
    groups: dict[str, list[Stated]] = {}
    for one in episodes:
        groups.setdefault(one.cluster, []).append(one)
    left_out = [_without(group, wins, above, below) for group in groups.values()]
    known = [one for one in left_out if one is not None]
    if len(known) < len(left_out):
        return Discrimination(value, None, ONE_HOLDS_ALL)
    mean = math.fsum(known) / len(known)
    squares = math.fsum((one - mean) ** 2 for one in known)
    error = math.sqrt(squares * (len(known) - 1) / len(known))
    if error <= NOTHING or not _ROOM < value < 1 - _ROOM:
        return Discrimination(value, None, NO_SPREAD)
    rarer = min(len({one.cluster for one in side}) for side in (won, lost))
    reach = student_quantile(confidence, max(1.0, rarer - 1.0)) * error / (value * (1 - value))
    odds = math.log(value / (1 - value))
    return Discrimination(value, Interval(_share(odds - reach), _share(odds + reach)))


def _wins(won: Iterable[Stated], lost: _Ranked) -> float:
    return math.fsum(one.weight * lost.below(one.confidence) for one in won)


def _without(group: Sequence[Stated], wins: float, above: _Ranked, below: _Ranked) -> float | None:
    """Return the value without a cluster; None where nothing is left to tell apart."""
    won = [one for one in group if one.success]
    lost = [one for one in group if not one.success]
    inside = _Ranked(lost)
    theirs = math.fsum(one.weight * (above.weight - above.below(one.confidence)) for one in lost)
    left = wins - _wins(won, below) - theirs + _wins(won, inside)
    weight = (above.weight - _Ranked(won).weight) * (below.weight - inside.weight)
    return left / weight if weight > NOTHING else None


def _share(odds: float) -> float:
    return 1 / (1 + math.exp(-odds)) if odds >= 0 else math.exp(odds) / (1 + math.exp(odds))
