"""Of k tries: does one succeed (pass@k), do all (pass^k)."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.stats.rates import CONFIDENCE, Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRate:
    """pass@k or pass^k, averaged over tasks.

    Attributes:
        value: over tasks with at least k scored repeats; None where there is none.
        tasks: how many these are; `left_out`: how many tasks have fewer, of which nothing is said.
        interval: clustered, as of a rate.
    """

    k: int
    value: float | None
    tasks: int
    left_out: int
    interval: Interval | None
    undefined: str | None = None
    confidence: float = CONFIDENCE
