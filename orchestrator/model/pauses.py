"""How long to wait before a model is asked again."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Final

_FIRST_S: Final = 0.5
_LONGEST_S: Final = 8.0


def asked_pause(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that `Retry-After` asks for; None where it asks for nothing.

    It is a number of seconds or a date (RFC 9110, 10.2.3); `retry-after-ms` is OpenAI's own.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    asked = headers.get("retry-after")
    seconds = _number(asked)
    if seconds is not None or asked is None:
        return seconds
    try:
        moment = parsedate_to_datetime(asked)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def backoff(attempt: int) -> float:
    """Return a pause in seconds that doubles with each attempt (from 0), with jitter."""
    longest: float = min(_FIRST_S * 2.0 ** min(attempt, 10), _LONGEST_S)
    return longest * random.uniform(0.75, 1.0)  # noqa: S311 (jitter, no secret)


def _number(text: str | None) -> float | None:
    try:
        found = float(text or "")
    except ValueError:
        return None
    return found if isfinite(found) and found >= 0 else None
