"""What a success costs: money, time and tokens, failures included."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from orchestrator.stats.bootstrap import RESAMPLES, Bootstrapped, bca_of_ratio
from orchestrator.stats.rates import CONFIDENCE, Interval
from orchestrator.stats.results import ClusterBy, EpisodeResult, cluster_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PerSuccess:
    """All that was spent on scored episodes ÷ their successes.

    Attributes:
        per_episode: mean over scored episodes; `value`: per success; None where undefined.
        total: what all scored episodes took; `spent_unscored`: what the others took beside it.
        successes, episodes: scored ones.
        interval: of `value`, by a clustered bootstrap; None where there is none.
        undefined: why there is no value (nobody succeeded, no price is known) or no interval.
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
    results: Iterable[EpisodeResult],
    cost: Callable[[EpisodeResult], float | None],
    *,
    seed: int,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
) -> PerSuccess:
    """Return what a success cost, in whatever unit `cost` gives; None is an unknown cost.

    What failures took belongs to it: who wants a success pays for them. An unknown cost leaves the
    sum undefined; it is no zero. The interval is of BCa's bootstrap over templates.
    """
    rows = list(results)
    scored = [row for row in rows if row.success is not None]
    total = _sum([cost(row) for row in scored])
    successes = sum(row.success or False for row in scored)
    bootstrapped = Bootstrapped(None, _because(len(scored), total, successes))
    if total is not None and successes:
        parts, wholes = _by_cluster(scored, cost)
        bootstrapped = bca_of_ratio(
            parts, wholes, seed=seed, confidence=confidence, resamples=resamples
        )
    return PerSuccess(
        value=total / successes if total is not None and successes else None,
        per_episode=total / len(scored) if total is not None and scored else None,
        total=total,
        spent_unscored=_sum([cost(row) for row in rows if row.success is None]),
        successes=successes,
        episodes=len(scored),
        interval=bootstrapped.interval,
        undefined=bootstrapped.undefined,
    )


def _because(episodes: int, total: float | None, successes: int) -> str | None:
    if not episodes:
        return "no episode is scored"
    if total is None:
        return "what some of the scored episodes cost is not known"
    return None if successes else "no scored episode succeeded"


def _sum(costs: Sequence[float | None]) -> float | None:
    known = [one for one in costs if one is not None]
    return math.fsum(known) if len(known) == len(costs) else None


def _by_cluster(
    rows: Sequence[EpisodeResult], cost: Callable[[EpisodeResult], float | None]
) -> tuple[list[float], list[float]]:
    clusters: dict[str, list[EpisodeResult]] = {}
    for row in rows:
        clusters.setdefault(cluster_of(row, ClusterBy.TEMPLATE), []).append(row)
    parts = [math.fsum(cost(row) or 0.0 for row in one) for one in clusters.values()]
    return parts, [float(sum(row.success or False for row in one)) for one in clusters.values()]
