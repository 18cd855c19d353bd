"""Keeps a browser context from asking more of a live host than a person would."""

from __future__ import annotations

import asyncio
from collections import deque


class RequestPacer:
    """Lets `burst` starts through at once and no more than that in any `seconds`.

    It waits only when a start comes too early, and then as long as is left.
    """

    def __init__(self, seconds: float, burst: int = 1) -> None:
        self._seconds = seconds
        self._starts: deque[float] = deque(maxlen=burst)

    async def turn(self) -> None:
        """Wait for this start's turn; turns are given in the order asked for."""
        if not self._seconds:
            return
        now = asyncio.get_running_loop().time()
        full = len(self._starts) == self._starts.maxlen
        start = max(now, self._starts[0] + self._seconds) if full else now
        self._starts.append(start)
        if start > now:
            await asyncio.sleep(start - now)
