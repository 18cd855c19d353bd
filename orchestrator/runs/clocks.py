"""The clocks of this machine and of its engine, as far as each says something of itself."""

from __future__ import annotations

import ctypes
from datetime import UTC, datetime
from typing import Final

from orchestrator.runs.store.lock import NodeClock
from orchestrator.sandbox.engine.engine import Engine, EngineFacts

_UNSYNCHRONISED: Final = 0x40  # STA_UNSYNC of <sys/timex.h>


async def facts_and_clock(engine: Engine) -> tuple[EngineFacts, NodeClock]:
    """Return what the engine says of itself, and how its clock stands to this machine's."""
    asked = datetime.now(UTC)
    facts = await engine.facts()
    ahead = ahead_of(facts.clock, asked, datetime.now(UTC))
    return facts, NodeClock(synchronised=is_synchronised(), engine_ahead_s=ahead)


def ahead_of(told: str, before: datetime, after: datetime) -> float | None:
    """Return by how many seconds a clock is ahead that told its time between two moments.

    Within the time that the answer took nothing is known: that is 0. None where it told no time.
    """
    try:
        there = datetime.fromisoformat(told)
    except ValueError:
        return None
    if there.tzinfo is None:
        return None
    if before <= there <= after:
        return 0.0
    return round((there - (after if there > after else before)).total_seconds(), 3)


class _Timex(ctypes.Structure):
    """`struct timex` of Linux as far as it is read."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_char * 160),
    )


def is_synchronised() -> bool | None:
    """Whether the kernel holds this machine's clock to another one; None where it does not say."""
    found = _Timex()
    try:
        answer = ctypes.CDLL(None).adjtimex(ctypes.byref(found))
    except AttributeError:  # another system than Linux
        return None
    return None if answer < 0 else not found.status & _UNSYNCHRONISED
