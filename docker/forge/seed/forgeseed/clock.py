"""The forge's clock: it stands where every site's does, and no row takes the machine's time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

OPENED = datetime(2023, 3, 6, 8, 0, tzinfo=UTC)
NOW = datetime(2026, 10, 1, 9, 0, tzinfo=UTC)
LAST = datetime(2026, 9, 30, 18, 0, tzinfo=UTC)  # of whatever the seed writes
DAY = timedelta(days=1)


def moments(rng: Random, count: int, first: datetime, last: datetime = LAST) -> list[datetime]:
    """Return so many different seconds between two times, mostly in working hours, oldest first."""
    chosen: set[datetime] = set()
    span = int((last - first).total_seconds())
    while len(chosen) < count:
        moment = first + timedelta(seconds=rng.randrange(span))
        if 7 <= moment.hour < 20 and (moment.weekday() < 5 or rng.random() < 0.2):
            chosen.add(moment)
    return sorted(chosen)


def later(rng: Random, moment: datetime, days: float) -> datetime:
    """Return a working hour after a moment, about so many days on, never past the last one."""
    after = moment + timedelta(days=rng.expovariate(1 / days), minutes=rng.randint(20, 400))
    if not 7 <= after.hour < 20:
        after = after.replace(hour=rng.randint(8, 17)) + DAY
    return min(max(after, moment + timedelta(minutes=7)), LAST)


def stamp(moment: datetime) -> str:
    """Return a time as the database writes it."""
    return moment.strftime("%Y-%m-%d %H:%M:%S")
