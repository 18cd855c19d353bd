"""When a site that refuses wants to be asked again: its `Retry-After`, read with care."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

# A site that says more is asked again after that long: it cannot shut a canary up for good.
LONGEST: Final = timedelta(days=1)
_SECONDS: Final = re.compile(r"\d{1,20}", re.ASCII)


def retry_at(said: str, now: datetime) -> datetime | None:
    """Return when a site wants to be asked again; None for garbage and for what is past.

    Args:
        said: the header's value: seconds, or a date of HTTP.
        now: when it was said.
    """
    text = said.strip()
    if _SECONDS.fullmatch(text):
        wait = timedelta(seconds=min(int(text), LONGEST.total_seconds()))
        return now + wait if wait else None
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if date.tzinfo is None:  # `-0000`: UTC, and nobody knows where
        date = date.replace(tzinfo=UTC)
    return min(date, now + LONGEST).astimezone(UTC) if date > now else None
