"""A rate with its interval, and its bounds over what could not be scored."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

CONFIDENCE = 0.95


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
        interval: Wilson's, at `confidence`; None where no task counts.
    """

    value: float | None
    count: int
    interval: Interval | None
    confidence: float = CONFIDENCE


def wilson(share: float, count: int, confidence: float = CONFIDENCE) -> Interval:
    """Return Wilson's score interval of a share of `count` trials.

    Raises:
        ValueError: the share is not one, there are no trials, or confidence is not inside (0, 1).
    """
    if not (0 <= share <= 1 and count > 0 and 0 < confidence < 1):
        message = f"no interval for share {share} of {count} at confidence {confidence}"
        raise ValueError(message)
    return wilson_at(share, count, NormalDist().inv_cdf((1 + confidence) / 2))


def wilson_at(share: float, count: float, quantile: float) -> Interval:
    """Return Wilson's interval of a share of an effective count, at a quantile of one's own."""
    square = quantile * quantile
    shrink = 1 + square / count
    centre = (share + square / (2 * count)) / shrink
    spread = share * (1 - share) / count + square / (4 * count * count)
    half = quantile * math.sqrt(spread) / shrink
    # At 0 and 1 the bound is exact; rounding must not carry the interval past the share itself.
    low = 0.0 if share == 0 else max(0.0, centre - half)
    high = 1.0 if share == 1 else min(1.0, centre + half)
    return Interval(low, high)


def rate_of(shares: list[float], confidence: float = CONFIDENCE) -> Rate:
    """Return the mean of the tasks' shares with its interval."""
    if not shares:
        return Rate(value=None, count=0, interval=None, confidence=confidence)
    value = min(1.0, math.fsum(shares) / len(shares))
    interval = wilson(value, len(shares), confidence)
    return Rate(value=value, count=len(shares), interval=interval, confidence=confidence)
