"""The newspaper's clock: it stands where the shop's does, and no row takes the machine's time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

OPENED = datetime(2023, 3, 6, 6, 0, tzinfo=UTC)
NOW = datetime(2026, 10, 1, 9, 0, tzinfo=UTC)


def moments(
    rng: Random, count: int, first: datetime = OPENED, last: datetime = NOW
) -> list[datetime]:
    """Return so many different seconds between two times, in waking hours, oldest first."""
    chosen: set[datetime] = set()
    span = int((last - first).total_seconds())
    while len(chosen) < count:
        moment = first + timedelta(seconds=rng.randrange(span))
        if 6 <= moment.hour < 22:
            chosen.add(moment)
    return sorted(chosen)


def stamp(moment: datetime) -> str:
    """Return a time as the database writes it."""
    return moment.strftime("%Y-%m-%d %H:%M:%S")
