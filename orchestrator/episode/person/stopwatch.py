"""A person's clock for one task: it runs from Start, stands while they pause, and says so."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from evaluators.evidence import PersonTimes

_LOOK_S: Final = 0.2


@dataclass(slots=True)
class Stopwatch:
    """Counts seconds by a monotonic clock, so that setting the machine's clock changes nothing.

    Attributes:
        changed: called when a pause begins or ends.
        now: the clock.
    """

    changed: Callable[[], None] = lambda: None
    now: Callable[[], float] = time.monotonic
    pauses: int = 0
    _began: float | None = None
    _ended: float | None = None
    _paused_at: float | None = None
    _paused: float = 0.0

    def start(self) -> None:
        self._began = self.now()

    def stop(self) -> None:
        """Let it stand for good; safe to repeat."""
        self.go_on()
        if self._ended is None:
            self._ended = self.now()

    def pause(self) -> None:
        if self._began is not None and self._ended is None and self._paused_at is None:
            self._paused_at = self.now()
            self.pauses += 1
            self.changed()

    def go_on(self) -> None:
        if self._paused_at is not None:
            self._paused += self.now() - self._paused_at
            self._paused_at = None
            self.changed()

    @property
    def is_paused(self) -> bool:
        return self._paused_at is not None

    @property
    def paused(self) -> float:
        """The seconds of all pauses."""
        standing = 0.0 if self._paused_at is None else self.now() - self._paused_at
        return self._paused + standing

    @property
    def seconds(self) -> float:
        """The seconds without pauses; 0 before the start."""
        if self._began is None:
            return 0.0
        return (self.now() if self._ended is None else self._ended) - self._began - self.paused

    @property
    def times(self) -> PersonTimes:
        """What the evidence keeps of it."""
        return PersonTimes(
            seconds=round(self.seconds, 3), paused=round(self.paused, 3), pauses=self.pauses
        )

    async def runs_out(self, limit_s: float) -> None:
        """Return when it has counted so many seconds; pauses do not bring that nearer."""
        while (left := limit_s - self.seconds) > 0:  # noqa: ASYNC110  time that passes
            await asyncio.sleep(max(left, _LOOK_S) if self.is_paused else left)
