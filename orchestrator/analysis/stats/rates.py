"""Rates with intervals that respect clusters and repeats; pass@k and pass^k."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb
from statistics import NormalDist
from typing import Final

from orchestrator.analysis.stats.results import TaskOutcomes

CONFIDENCE = 0.95
ONE_CLUSTER: Final = "all tasks are in one cluster, so the spread between clusters is unknown"
NO_TASK: Final = "no task has a scored episode"
# What rounding leaves of a variance that is none.
NOTHING: Final = 1e-15


def mean_of(
    values: Sequence[tuple[str, float]], *, confidence: float
) -> tuple[float | None, Interval | None]:
    """Return the mean of one value a task, each named with its cluster, and its interval.

    Mean ± Student's quantile × the jackknife's standard error over clusters; no interval where
    there is one cluster, or where all values are the same and say nothing of how far others are.
    """
    if not values:
        return None, None
    if len({cluster for cluster, _ in values}) == 1:
        return math.fsum(value for _, value in values) / len(values), None
    sums = cluster_sums(values)
    if sums.variance <= NOTHING:
        return sums.mean, None
    reach = student_quantile(confidence, sums.freedom) * math.sqrt(sums.variance)
    return sums.mean, Interval(sums.mean - reach, sums.mean + reach)


@dataclass(frozen=True, slots=True)
class Interval:
    """From `low` to `high`, both included: shares from 0 to 1, differences of them from -1."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A share of `count` tasks.

    Attributes:
        value: from 0 to 1; None where no task counts.
        interval: at `confidence`; None where it is undefined.
    """

    value: float | None
    count: int
    interval: Interval | None
    confidence: float = CONFIDENCE


def wilson(share: float, count: int, confidence: float = CONFIDENCE) -> Interval:
    """Return Wilson's score interval of a share of `count` trials."""
    if not (0 <= share <= 1 and count > 0 and 0 < confidence < 1):
        raise ValueError(f"no interval for share {share} of {count} at confidence {confidence}")
    return wilson_at(share, count, NormalDist().inv_cdf((1 + confidence) / 2))


def wilson_at(share: float, count: float, quantile: float) -> Interval:
    """Return Wilson's interval of a share of an effective count, at a quantile of one's own."""
    square = quantile * quantile
    shrink = 1 + square / count
    centre = (share + square / (2 * count)) / shrink
    spread = share * (1 - share) / count + square / (4 * count * count)
    half = quantile * math.sqrt(spread) / shrink
    # At 0 and 1 the bound is exact; rounding must not carry the interval past the share itself.
    low = 0.0 if share <= 0 else max(0.0, centre - half)
    high = 1.0 if share >= 1 else min(1.0, centre + half)
    return Interval(low, high)


def rate_of(shares: list[float], confidence: float = CONFIDENCE) -> Rate:
    """Return the mean of shares that do not depend on each other, with Wilson's interval."""
    if not shares:
        return Rate(value=None, count=0, interval=None, confidence=confidence)
    value = min(1.0, math.fsum(shares) / len(shares))
    interval = wilson(value, len(shares), confidence)
    return Rate(value=value, count=len(shares), interval=interval, confidence=confidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusteredRate:
    """A mean over tasks with an interval for the tasks that might have been chosen instead.

    Attributes:
        value: mean of the tasks' means; None where there is no task.
        tasks, clusters, episodes: how many count.
        effective: how many independent episodes would tell as much; None where undefined.
        interval: None where undefined, and `undefined` says why.
    """

    value: float | None
    tasks: int
    clusters: int
    episodes: int
    effective: float | None
    interval: Interval | None
    undefined: str | None = None
    confidence: float = CONFIDENCE

    @property
    def as_rate(self) -> Rate:
        """The same as a share of its tasks."""
        return Rate(
            value=self.value,
            count=self.tasks,
            interval=self.interval,
            confidence=self.confidence,
        )


@dataclass(frozen=True, slots=True)
class ClusterSums:
    """What clusters say of the mean of a value per task.

    Attributes:
        mean: over tasks; `variance`: of that mean, by the jackknife over clusters.
        effective_clusters: Kish's: as many as there are where all are of one size, fewer otherwise.
    """

    mean: float
    variance: float
    effective_clusters: float

    @property
    def freedom(self) -> float:
        """Kish's effective number of clusters - 1, at least 1."""
        return max(1.0, self.effective_clusters - 1)


def clustered_rate(tasks: Sequence[TaskOutcomes], confidence: float = CONFIDENCE) -> ClusteredRate:
    """Return the success rate over tasks with an interval that respects clusters and repeats.

    Tasks without a scored episode are left out. See `clustered_mean` for the interval.
    """
    played = [(task, share) for task in tasks if (share := task.share) is not None]
    return clustered_mean(
        [(task.cluster, share) for task, share in played],
        episodes=sum(len(task.scored) for task, _ in played),
        confidence=confidence,
    )


def clustered_mean(
    shares: Sequence[tuple[str, float]],
    *,
    episodes: int | None = None,
    confidence: float = CONFIDENCE,
) -> ClusteredRate:
    """Return the mean of the tasks' shares, each named with its cluster, with an interval.

    The interval is Wilson's at the *effective* number of episodes, p(1-p) ÷ V, with V the variance
    of the mean by the jackknife over clusters (Korn and Graubard 1998 put an effective sample size
    into Clopper and Pearson's; Dean and Pagano 2015 into Wilson's), and with Student's quantile for
    Kish's effective number of clusters - 1 degrees of freedom. There are never more effective
    episodes than episodes; where all episodes ended alike they say nothing of V, and each effective
    cluster counts as one.

    Args:
        shares: cluster and share from 0 to 1 of each task.
        episodes: how many the shares were made of; as many as tasks where it is not said.
        confidence: inside (0, 1).
    """
    if not all(0 <= share <= 1 for _, share in shares):
        raise ValueError(f"not all are shares from 0 to 1: {[share for _, share in shares]}")
    count = len(shares) if episodes is None else episodes
    clusters = len({cluster for cluster, _ in shares})
    value = min(1.0, math.fsum(share for _, share in shares) / len(shares)) if shares else None
    undefined = None if clusters > 1 else (ONE_CLUSTER if shares else NO_TASK)
    interval = effective = None
    if value is not None and undefined is None:
        sums = cluster_sums(shares)
        effective = effective_count(value * (1 - value), sums, count)
        interval = wilson_at(value, effective, student_quantile(confidence, sums.freedom))
    return ClusteredRate(
        value=value,
        tasks=len(shares),
        clusters=clusters,
        episodes=count,
        effective=effective,
        interval=interval,
        undefined=undefined,
        confidence=confidence,
    )


def rate_over(
    shares: Sequence[tuple[str, float]],
    *,
    episodes: int | None = None,
    confidence: float = CONFIDENCE,
) -> Rate:
    """Return the same as `clustered_mean` as a rate; it has no interval where that is undefined."""
    return clustered_mean(shares, episodes=episodes, confidence=confidence).as_rate


def cluster_sums(values: Sequence[tuple[str, float]]) -> ClusterSums:
    """Return mean and variance of one value per task, each named with its cluster.

    The variance is the jackknife's over at least two clusters of any sizes (CR3, MacKinnon and
    White 1985): Σ (eₖ ÷ (1 - mₖ/M))² · (K-1)/K ÷ M², eₖ the cluster's sum of deviations and mₖ its
    tasks.
    """
    totals: dict[str, list[float]] = {}
    for cluster, value in values:
        totals.setdefault(cluster, []).append(value)
    tasks, clusters = len(values), len(totals)
    mean = math.fsum(value for _, value in values) / tasks
    parts = ((math.fsum(one) - mean * len(one)) / (1 - len(one) / tasks) for one in totals.values())
    squares = math.fsum(part * part for part in parts)
    variance = squares * (clusters - 1) / clusters / tasks**2
    return ClusterSums(
        mean=mean,
        variance=variance if variance > NOTHING else 0.0,
        effective_clusters=tasks**2 / sum(len(one) ** 2 for one in totals.values()),
    )


def effective_count(spread: float, sums: ClusterSums, episodes: float) -> float:
    """Return how many independent episodes of variance `spread` have the mean's variance.

    Never more than there are; without any spread each effective cluster counts as one.
    """
    if spread <= NOTHING:
        return sums.effective_clusters
    return min(spread / sums.variance, episodes) if sums.variance else episodes


def student_quantile(confidence: float, freedom: float) -> float:
    """Return the two-sided quantile of Student's t."""
    from scipy import special

    return float(special.stdtrit(freedom, (1 + confidence) / 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRate:
    """pass@k or pass^k, averaged over tasks.

    Attributes:
        value: over tasks with at least k scored repeats; None where there is none.
        tasks: how many these are; `left_out`: how many tasks have fewer and are left out.
        interval: clustered, as of a rate.
        undefined: why there is no value, or no interval.
    """

    k: int
    value: float | None
    tasks: int
    left_out: int
    interval: Interval | None
    undefined: str | None = None
    confidence: float = CONFIDENCE


def pass_at_k(tasks: Sequence[TaskOutcomes], k: int, confidence: float = CONFIDENCE) -> PassRate:
    """Return the chance that at least one of k tries succeeds, unbiased.

    Per task with n scored repeats and c successes it is 1 - C(n-c, k)/C(n, k) (Chen et al. 2021,
    arXiv 2107.03374). With k > n it is undefined, and the task is left out.
    """
    return _averaged(tasks, k, lambda n, c: 1 - comb(n - c, k) / comb(n, k), confidence)


def pass_hat_k(tasks: Sequence[TaskOutcomes], k: int, confidence: float = CONFIDENCE) -> PassRate:
    """Return the chance that k tries all succeed, unbiased: C(c, k)/C(n, k) per task.

    Yao et al. 2024, arXiv 2406.12045 (τ-bench). Undefined as `pass_at_k`.
    """
    return _averaged(tasks, k, lambda n, c: comb(c, k) / comb(n, k), confidence)


def _averaged(
    tasks: Sequence[TaskOutcomes],
    k: int,
    estimate: Callable[[int, int], float],
    confidence: float,
) -> PassRate:
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    enough = [task for task in tasks if len(task.scored) >= k]
    mean = clustered_mean(
        [(task.cluster, estimate(len(task.scored), sum(task.scored))) for task in enough],
        episodes=sum(len(task.scored) for task in enough),
        confidence=confidence,
    )
    return PassRate(
        k=k,
        value=mean.value,
        tasks=len(enough),
        left_out=len(tasks) - len(enough),
        interval=mean.interval,
        undefined=mean.undefined if enough else f"no task has {k} scored repeats",
        confidence=confidence,
    )
