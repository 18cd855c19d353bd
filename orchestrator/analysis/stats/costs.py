"""What a success costs: money, time and tokens, failures included."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from orchestrator.analysis.stats.rates import (
    CONFIDENCE,
    ONE_CLUSTER,
    Interval,
    cluster_sums,
    student_quantile,
    wilson_at,
)
from orchestrator.analysis.stats.results import EpisodeResult, cluster_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PerSuccess:
    """All that was spent on scored episodes ÷ their successes.

    Attributes:
        per_episode: mean over scored episodes; `value`: per success; None where undefined.
        total: what all scored episodes took; `spent_unscored`: what the others took beside it.
        successes, episodes: scored ones.
        interval: of `value`, over clusters; None where there is none.
        undefined: why there is no value (no success, no known price) or no interval.
    """

    value: float | None
    per_episode: float | None
    total: float | None
    spent_unscored: float | None
    successes: int
    episodes: int
    interval: Interval | None
    undefined: str | None = None


def per_success(
    results: Iterable[EpisodeResult], cost: Callable[[EpisodeResult], float | None]
) -> PerSuccess:
    """Return what a success cost, in whatever unit `cost` gives; None is an unknown cost.

    Failures count: you pay for them on the way to a success. An unknown cost leaves the sum
    undefined; it is never a zero. The interval is made on the logarithm of the ratio, with the
    jackknife over clusters and Student's quantile: a bootstrap has resamples without a success.
    Where all succeeded, its upper end allows for Wilson's lower bound of the rate.
    """
    rows = list(results)
    scored = [row for row in rows if row.success is not None]
    costs = [cost(row) for row in scored]
    known = [one for one in costs if one is not None]
    total = math.fsum(known) if len(known) == len(costs) else None
    successes = sum(row.success or False for row in scored)
    undefined = _because(len(scored), total, successes)
    value = interval = None
    if total is not None and undefined is None:
        value = total / successes
        clusters = [cluster_of(row) for row in scored]
        wins = [float(row.success or False) for row in scored]
        found = _interval(value, wins, known, clusters)
        interval, undefined = (None, found) if isinstance(found, str) else (found, None)
    return PerSuccess(
        value=value,
        per_episode=total / len(scored) if total is not None and scored else None,
        total=total,
        spent_unscored=_sum([cost(row) for row in rows if row.success is None]),
        successes=successes,
        episodes=len(scored),
        interval=interval,
        undefined=undefined,
    )


def _interval(
    value: float,
    wins: Sequence[float],
    costs: Sequence[float],
    clusters: Sequence[str],
) -> Interval | str:
    if len(set(clusters)) == 1:
        return ONE_CLUSTER
    if value <= 0:
        return "nothing was spent"
    # The ratio moves, relatively, as the mean of these over the success rate.
    pulls = [won - one / value for won, one in zip(wins, costs, strict=True)]
    sums = cluster_sums(list(zip(clusters, pulls, strict=True)))
    rate = math.fsum(wins) / len(wins)
    quantile = student_quantile(CONFIDENCE, sums.freedom)
    reach = math.exp(quantile * math.sqrt(sums.variance) / rate)
    high = value * reach
    if rate >= 1:
        high = max(high, value / wilson_at(1.0, sums.effective_clusters, quantile).low)
    return Interval(value / reach, high)


def _because(episodes: int, total: float | None, successes: int) -> str | None:
    if not episodes:
        return "no episode is scored"
    if total is None:
        return "the cost of some scored episodes is unknown"
    return None if successes else "no scored episode succeeded"


def _sum(costs: Sequence[float | None]) -> float | None:
    known = [one for one in costs if one is not None]
    return math.fsum(known) if len(known) == len(costs) else None
