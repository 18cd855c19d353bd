"""A rate over tasks whose outcomes may be alike: its interval respects clusters and repeats."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.stats.rates import CONFIDENCE, Interval


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
