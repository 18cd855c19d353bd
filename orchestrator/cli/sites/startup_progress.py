"""Progress lines while sites start: each step as it comes, and what is still awaited."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from orchestrator.cli.console import Console

if TYPE_CHECKING:
    from orchestrator.api.opened import ArenaEvent
    from orchestrator.sandbox.pool.pool_context import PoolEvent

_REMIND_S: Final = 5.0


@dataclass(slots=True)
class StartProgress:
    """Shows the start of sites as progress lines, and knows what is still awaited.

    Attributes:
        replicas: how many there will be.
        awaited: what each replica that was begun and is not ready waits for.
        seconds: how long each replica took so far.
    """

    console: Console
    replicas: int = 0
    began: float = field(default_factory=time.monotonic)
    awaited: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    ready: set[str] = field(default_factory=set)

    def on_event(self, event: ArenaEvent) -> None:
        """Show one event of the start; the first one of replicas sets the clock."""
        from orchestrator.api.opened import SitesStarting
        from orchestrator.cli.progress import show_event
        from orchestrator.sandbox.pool.pool_context import PoolEvent

        if isinstance(event, SitesStarting):
            self.replicas, self.began = event.replicas, time.monotonic()
        elif isinstance(event, PoolEvent):
            self._on_replica(event)
        else:
            show_event(event, self.console)

    def _on_replica(self, event: PoolEvent) -> None:
        from orchestrator.sandbox.pool.pool_context import Phase

        name, detail = event.replica, event.detail
        self.seconds[name] = self._now()
        match event.phase:
            case Phase.STARTING:
                self.awaited[name] = detail
            case Phase.HEALTHY | Phase.KEPT:
                self.awaited[name] = "logs its roles in"
            case Phase.READY:
                self.awaited.pop(name, None)
                self.ready.add(name)
                detail = f"{detail} ({len(self.ready)} of {self.replicas})".lstrip()
            case Phase.FAILED:
                self.awaited.pop(name, None)
            case Phase.RESETTING | Phase.GOLDEN | Phase.LOST:
                pass
        self._note(f"{name} {event.phase}{f': {detail}' if detail else ''}")

    def remind(self) -> None:
        """Say in one line what is still awaited."""
        waiting = [f"{name} still {what}" for name, what in self.awaited.items()]
        unbegun = self.replicas - len(self.seconds)
        if unbegun > 0 and waiting:
            waiting.append(f"{unbegun} more after these")
        if waiting:
            self._note("; ".join(waiting))

    @asynccontextmanager
    async def reminding(self) -> AsyncIterator[None]:
        """Say every few seconds what is awaited, until the block ends."""

        async def remind() -> None:
            while True:
                await asyncio.sleep(_REMIND_S)
                self.remind()

        reminder = asyncio.create_task(remind())
        try:
            yield
        finally:
            reminder.cancel()
            await asyncio.wait([reminder])

    def _now(self) -> float:
        return time.monotonic() - self.began

    def _note(self, text: str) -> None:
        self.console.note(f"{self._now():6.1f} s  {text}")
