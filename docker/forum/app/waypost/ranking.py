"""Scores by which submissions are ordered; whole numbers, so that every build agrees."""

from __future__ import annotations

import math
from datetime import datetime

SECONDS_PER_TENFOLD = 45_000  # ten times the score is worth twelve and a half hours


def hot(net_score: int, created: datetime) -> int:
    """Return the rank of `hot`: creation time in seconds, moved by the size of the score.

    The formula of Reddit's first published ranking, kept in seconds.
    """
    weight = math.log10(max(abs(net_score), 1)) * SECONDS_PER_TENFOLD
    sign = (net_score > 0) - (net_score < 0)
    return int(created.timestamp()) + sign * round(weight)


def controversy(ups: int, downs: int) -> int:
    """Return the rank of `controversial`: many votes, and as many down as up; zero if one-sided."""
    if ups <= 0 or downs <= 0:
        return 0
    return round((ups + downs) ** (min(ups, downs) / max(ups, downs)) * 1000)
