"""A rate over tasks whose outcomes may be alike: its interval respects clusters and repeats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from orchestrator.stats.rates import CONFIDENCE, Interval, wilson_at
from orchestrator.stats.results import TaskOutcomes

ONE_CLUSTER: Final = "all tasks are one cluster, so how far clusters differ cannot be told"
NO_TASK: Final = "no task has a scored episode"
# What rounding leaves of a variance that is none.
NOTHING: Final = 1e-15


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

    Raises:
        ValueError: a share is not one.
    """
    if not all(0 <= share <= 1 for _, share in shares):
        message = f"not all are shares from 0 to 1: {[share for _, share in shares]}"
        raise ValueError(message)
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
