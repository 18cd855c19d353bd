"""How fast a run goes: workers, spares, memory, resets. What it measures stays the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from arena_core.errors import UsageError
from orchestrator.api.arguments import require_at_least
from orchestrator.capacity.sizes import parse_size
from orchestrator.reset.ladder import rungs_for
from orchestrator.runner.request import RunRequest
from orchestrator.store.lock import RunLock


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResources:
    """What is asked for; None where nothing is."""

    workers: int | None = None
    spares: int | None = None
    memory_bytes: int | None = None
    strategy: str | None = None

    @classmethod
    def read(
        cls, *, workers: int | None, spares: int | None, memory: str | None, strategy: str | None
    ) -> Self:
        """Read the options.

        Raises:
            UsageError: one of them makes no sense, or two contradict each other.
        """
        require_at_least(1, workers=workers)
        require_at_least(0, spares=spares)
        if strategy is not None:
            rungs_for(strategy)
        if strategy == "swap" and spares == 0:
            message = "the strategy swap needs a spare, and spares: 0 allows none"
            raise UsageError(message)
        return cls(
            workers=workers,
            spares=spares,
            memory_bytes=None if memory is None else parse_size(memory),
            strategy=strategy,
        )

    def over(self, lock: RunLock) -> Self:
        """Return this, and where it says nothing what a run began with."""
        return replace(
            self,
            workers=lock.workers if self.workers is None else self.workers,
            spares=lock.spares if self.spares is None else self.spares,
            memory_bytes=lock.memory_bytes if self.memory_bytes is None else self.memory_bytes,
            strategy=lock.strategy if self.strategy is None else self.strategy,
        )

    def of(self, request: RunRequest) -> RunRequest:
        """Return a request with these resources."""
        return replace(
            request,
            workers=self.workers or 1,
            spares=self.spares,
            memory_bytes=self.memory_bytes,
            strategy=self.strategy or "auto",
        )
