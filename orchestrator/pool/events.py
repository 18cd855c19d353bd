"""Events of a pool while it works."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Phase(StrEnum):
    """What just began or ended for one replica."""

    STARTING = "starting"
    KEPT = "kept"
    HEALTHY = "healthy"
    READY = "ready"
    RESETTING = "resetting"
    GOLDEN = "golden"
    LOST = "lost"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolEvent:
    """One line of progress.

    Attributes:
        replica: the site and, where it is one slot's own, the slot.
        seconds: since the work on this replica began.
        detail: what is awaited next, or what went wrong; may be empty.
    """

    replica: str
    phase: Phase
    seconds: float = 0.0
    detail: str = ""


Announce = Callable[[PoolEvent], None]


def ignore_event(event: PoolEvent) -> None:
    """Do nothing."""
