"""When things happened, and how many liked them."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random

from waypost.clock import NOW

OPENED = datetime(2023, 3, 15, 7, 0, tzinfo=NOW.tzinfo)
LATEST = NOW - timedelta(minutes=4)
MEDIAN_DELAY_HOURS = 1.1  # of an answer, in logarithm: e^1.1 is three hours


def submitted(rng: Random) -> datetime:
    """Return when a thread began: more often of late, seldom at night."""
    span = (LATEST - OPENED).total_seconds()
    moment = LATEST - timedelta(seconds=int(span * rng.random() ** 1.6))
    if moment.hour < 6 and rng.random() < 0.8:
        moment += timedelta(hours=rng.randrange(7, 15))
    return min(moment, LATEST).replace(microsecond=0)


def answered(rng: Random, before: datetime) -> datetime:
    """Return when somebody answered to something of `before`; always later, never after NOW."""
    delay = min(rng.lognormvariate(MEDIAN_DELAY_HOURS, 1.3), 900)
    moment = before + timedelta(seconds=int(delay * 3600) + 40)
    if moment > LATEST:
        room = max(int((NOW - before).total_seconds()) - 20, 2)
        moment = before + timedelta(seconds=rng.randrange(1, room))
    return moment


def votes(rng: Random, liking: float, created: datetime, *, disputed: bool) -> tuple[int, int]:
    """Return votes up and down; what is an hour old has had little time to get any."""
    age_hours = (NOW - created).total_seconds() / 3600
    ups = 1 + int(liking * 14 * min(1.0, age_hours / 20 + 0.05))
    share = rng.betavariate(4, 4) if disputed else rng.betavariate(1.2, 9)
    downs = int(ups * share / max(1 - share, 0.15))
    if not disputed and rng.random() < 0.03:
        downs += ups + rng.randint(0, 9)
    return ups, downs
