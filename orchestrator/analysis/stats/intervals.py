"""Intervals of a paired difference: Tango's score interval, and the BCa bootstrap over clusters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.analysis.stats.rates import (
    CONFIDENCE,
    NOTHING,
    ONE_CLUSTER,
    Interval,
    cluster_sums,
    effective_count,
    student_quantile,
)
from orchestrator.analysis.stats.results import TaskPair

NO_PAIR = "no task has a scored episode on both sides"
_HALVINGS = 60
RESAMPLES = 10_000
FEWEST_CLUSTERS = 5
_CHUNK = 1_000
_NOTHING = 1e-20


@dataclass(frozen=True, slots=True)
class ScorePairs:
    """A paired 2 × 2 table's worth of evidence on a difference.

    Attributes:
        effect: first − second.
        discordance: chance that two episodes of one task, one of each side, part.
        count: effective number of independent pairs.
        freedom: of Student's t; infinite where pairs are independent single episodes, so that the
            statistic is Tango's own.
    """

    effect: float
    discordance: float
    count: float
    freedom: float

    def quantile(self, confidence: float) -> float:
        """Return the two-sided quantile that the statistic is held against."""
        return student_quantile(confidence, self.freedom)

    def statistic(self, difference: float) -> float:
        """Return Tango's score statistic of a supposed difference (1998, Stat. Med. 17:891).

        Infinite where the table rules the difference out.
        """
        excess = self.effect - difference
        linear = 2 * difference - self.effect * difference
        linear -= self.discordance
        free = -(self.discordance - self.effect) / 2 * difference * (1 - difference)
        root = math.sqrt(max(0.0, linear * linear - 8 * free))
        second_only = (root - linear) / 4
        variance = 2 * second_only + difference * (1 - difference)
        if abs(excess) <= NOTHING:
            return 0.0
        if variance <= NOTHING:
            return math.copysign(math.inf, excess)
        return excess * math.sqrt(self.count / variance)

    def interval(self, confidence: float) -> Interval:
        """Return the differences that the statistic does not reject."""
        quantile = self.quantile(confidence)
        return Interval(
            self._crossing(-1.0, self.effect, quantile), self._crossing(self.effect, 1.0, -quantile)
        )

    def tail(self, difference: float) -> float:
        """Return the one-sided p of the difference being `difference` or less."""
        from scipy import special

        return float(special.stdtr(self.freedom, -self.statistic(difference)))

    def _crossing(self, low: float, high: float, target: float) -> float:
        """Return where the statistic, which falls, passes the target."""
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.statistic(middle) > target else (low, middle)
        return (low + high) / 2


def score_pairs(pairs: Sequence[TaskPair]) -> ScorePairs | str:
    """Return what pairs say of their difference, or why they say nothing.

    Pairs without an outcome on both sides are left out.
    """
    known = [(pair, diff) for pair in pairs if (diff := pair.difference) is not None]
    if not known:
        return NO_PAIR
    if len({pair.cluster for pair, _ in known}) == 1:
        return ONE_CLUSTER
    sums = cluster_sums([(pair.cluster, diff) for pair, diff in known])
    discordance = math.fsum(_discordance(pair) for pair, _ in known) / len(known)
    if are_single(known_pairs := [pair for pair, _ in known]) and are_apart(known_pairs):
        return ScorePairs(sums.mean, discordance, float(len(known)), math.inf)
    spread = max(0.0, discordance - sums.mean**2)
    count = effective_count(spread, sums, math.fsum(_weight(pair) for pair, _ in known))
    return ScorePairs(sums.mean, discordance, count, sums.freedom)


def are_single(pairs: Sequence[TaskPair]) -> bool:
    """Tell whether each side of each pair has exactly one outcome."""
    return all(len(side.scored) == 1 for pair in pairs for side in pair.sides)


def are_apart(pairs: Sequence[TaskPair]) -> bool:
    """Tell whether each pair is a cluster of its own."""
    return len({pair.cluster for pair in pairs}) == len(pairs)


def _discordance(pair: TaskPair) -> float:
    first, second = (side.share or 0.0 for side in pair.sides)
    return first * (1 - second) + second * (1 - first)


def _weight(pair: TaskPair) -> float:
    """Return how many pairs of single episodes have the variance of these repeats."""
    first, second = (len(side.scored) for side in pair.sides)
    return 2 / (1 / first + 1 / second)


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Bootstrapped:
    """An interval, or why there is none."""

    interval: Interval | None
    undefined: str | None = None


def bca_of_ratio(
    parts: Sequence[float],
    wholes: Sequence[float],
    *,
    seed: int,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    is_expanded: bool = True,
) -> Bootstrapped:
    """Return the BCa interval of Σ parts ÷ Σ wholes, clusters drawn with replacement.

    Efron 1987 (JASA 82:171), acceleration by the jackknife over clusters; ties with the estimate
    count half. Expanded: the normal quantile is replaced by √(K/(K-1)) times Student's with K-1
    degrees of freedom, since a bootstrap of K clusters is too narrow by that (Hesterberg 2015,
    Am. Stat. 69:371, section 3.1). The same seed gives the same interval.

    Args:
        parts: a number per cluster, as the sum of its tasks' differences.
        wholes: what it is a part of, at least 0: the number of its tasks.
        confidence: inside (0, 1).
        is_expanded: False for Efron's own quantiles.
    """
    import numpy as np

    tops, bottoms = np.asarray(parts, dtype=np.float64), np.asarray(wholes, dtype=np.float64)
    if len(tops) < FEWEST_CLUSTERS:
        return Bootstrapped(
            None, f"fewer than {FEWEST_CLUSTERS} clusters are too few for a bootstrap"
        )
    without = bottoms.sum() - bottoms
    if not (without > 0).all():
        return Bootstrapped(None, "one cluster holds the whole denominator")
    estimate = float(tops.sum() / bottoms.sum())
    left_out = (tops.sum() - tops) / without
    pull = left_out.mean() - left_out
    squares = float(pull @ pull)
    if squares <= _NOTHING * max(1.0, estimate**2):
        return Bootstrapped(None, "all clusters have the same value, so every resample has it too")
    acceleration = float((pull**3).sum()) / (6 * squares**1.5)
    drawn = _draws(tops, bottoms, seed, resamples)
    if not np.isfinite(drawn).all():
        return Bootstrapped(None, "a resample can have a denominator of 0")
    levels = _levels(drawn, estimate, acceleration, confidence, len(tops) if is_expanded else None)
    low, high = np.quantile(drawn, levels)
    return Bootstrapped(Interval(float(low), float(high)))


def _draws(tops: Numbers, bottoms: Numbers, seed: int, resamples: int) -> Numbers:
    """Return the estimate of each resample, infinite or NaN where its denominator is 0."""
    import numpy as np

    random = np.random.default_rng(seed)
    drawn = np.empty(resamples)
    for start in range(0, resamples, _CHUNK):
        size = min(_CHUNK, resamples - start)
        chosen = random.integers(0, len(tops), (size, len(tops)), dtype=np.int32)
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn[start : start + size] = tops[chosen].sum(axis=1) / bottoms[chosen].sum(axis=1)
    return drawn


def _levels(
    drawn: Numbers, estimate: float, acceleration: float, confidence: float, clusters: int | None
) -> tuple[float, float]:
    """Return which quantiles of the draws are the interval's ends."""
    from scipy import special

    tie = 1e-12 * max(1.0, abs(estimate))
    below = float((drawn < estimate - tie).sum() + (drawn <= estimate + tie).sum()) / 2
    # An estimate beyond all draws has no finite place among them.
    share = min(max(below, 0.5), len(drawn) - 0.5) / len(drawn)
    bias = float(special.ndtri(share))
    tail = (1 + confidence) / 2
    quantile = float(special.ndtri(tail))
    if clusters is not None:
        wider = (clusters / (clusters - 1)) ** 0.5
        quantile = wider * float(special.stdtrit(clusters - 1, tail))
    ends = []
    for side in (-quantile, quantile):
        shifted = bias + side
        scale = 1 - acceleration * shifted
        place = bias + shifted / scale if scale > 0 else shifted * float("inf")
        ends.append(float(special.ndtr(place)))
    return ends[0], ends[1]
