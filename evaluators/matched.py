"""What every matcher answers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Matched:
    """Whether values match, and why, in one sentence without a full stop.

    Attributes:
        expected: what was asked for in this world, as text for readers.
    """

    met: bool
    reason: str
    expected: str
