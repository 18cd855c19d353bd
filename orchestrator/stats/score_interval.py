"""Tango's score statistic of a paired difference of shares, at an effective number of pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.stats.clustered import (
    NOTHING,
    ONE_CLUSTER,
    cluster_sums,
    effective_count,
    student_quantile,
)
from orchestrator.stats.rates import Interval
from orchestrator.stats.results import TaskPair

NO_PAIR = "no task has a scored episode on both sides"
_HALVINGS = 60


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

    Pairs of which a side has no outcome are left out.
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
