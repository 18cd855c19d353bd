"""The forum's clock: it stands while the image is baked; the supervisor's begins there and runs."""

from __future__ import annotations

import os
from datetime import UTC, datetime

NOW = datetime(2026, 10, 1, 9, 0, tzinfo=UTC)

MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR
_STEPS = (
    (365 * DAY, "year"),
    (30 * DAY, "month"),
    (7 * DAY, "week"),
    (DAY, "day"),
    (HOUR, "hour"),
    (MINUTE, "minute"),
)


def now() -> datetime:
    """Return the moment at which something new is dated."""
    return datetime.now(UTC) if "ARENA_CLOCK" in os.environ else NOW


def ago(moment: datetime) -> str:
    """Return how long ago a moment was, in its largest whole unit: `3 months ago`."""
    seconds = int((now() - moment).total_seconds())
    for length, unit in _STEPS:
        count = seconds // length
        if count >= 1:
            return f"{count} {unit}{'' if count == 1 else 's'} ago"
    return "just now"


def full(moment: datetime) -> str:
    """Return a moment as a reader writes it: `March 10, 2023 at 12:39 AM UTC`."""
    hour = moment.hour % 12 or 12
    half = "AM" if moment.hour < 12 else "PM"
    return f"{moment:%B} {moment.day}, {moment.year} at {hour}:{moment:%M} {half} UTC"
