"""The desk's clock: it stands while the image is baked; the supervisor's begins there and runs."""

from __future__ import annotations

import os
from datetime import UTC, datetime

NOW = datetime(2026, 10, 1, 9, 0, tzinfo=UTC)


def now() -> datetime:
    """Return the moment at which something new is dated."""
    return datetime.now(UTC) if "ARENA_CLOCK" in os.environ else NOW
