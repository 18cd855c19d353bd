"""Of k tries: does one succeed (pass@k), do all (pass^k)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb

from orchestrator.stats.clustered import clustered_mean
from orchestrator.stats.rates import CONFIDENCE, Interval
from orchestrator.stats.results import TaskOutcomes


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRate:
    """pass@k or pass^k, averaged over tasks.

    Attributes:
        value: over tasks with at least k scored repeats; None where there is none.
        tasks: how many these are; `left_out`: how many tasks have fewer, of which nothing is said.
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

    Raises:
        ValueError: k is less than 1.
    """
    return _averaged(tasks, k, lambda n, c: 1 - comb(n - c, k) / comb(n, k), confidence)


def pass_hat_k(tasks: Sequence[TaskOutcomes], k: int, confidence: float = CONFIDENCE) -> PassRate:
    """Return the chance that k tries all succeed, unbiased: C(c, k)/C(n, k) per task.

    Yao et al. 2024, arXiv 2406.12045 (τ-bench). Undefined as `pass_at_k`.

    Raises:
        ValueError: k is less than 1.
    """
    return _averaged(tasks, k, lambda n, c: comb(c, k) / comb(n, k), confidence)


def _averaged(
    tasks: Sequence[TaskOutcomes],
    k: int,
    estimate: Callable[[int, int], float],
    confidence: float,
) -> PassRate:
    if k < 1:
        message = f"k counts tries and is at least 1, not {k}"
        raise ValueError(message)
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
