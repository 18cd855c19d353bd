"""Put the pristine state back inside the running container, through the image's supervisor."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from arena_core.errors import ArenaError, SiteGoneError

if TYPE_CHECKING:
    from orchestrator.engine.engine import Engine
    from orchestrator.reset.replica import Replica
    from orchestrator.reset.watch import Watch

_SIGNAL: Final = "USR1"
_LAST_LINES: Final = 3
_DYING_S: Final = 3.0


@dataclass(frozen=True, slots=True)
class Rewind:
    """Ask the supervisor for a new generation of the state, and wait until it reports it.

    Attributes:
        deadline_s: after so many seconds the next rung is tried.
    """

    name: str = "rewind"
    needs: str = "its image has Arena's supervisor"
    touches: bool = True
    deadline_s: float = 20.0

    def applies(self, watch: Watch, *, wrote: bool) -> bool:  # noqa: ARG002
        """Say yes where there is a supervisor."""
        return watch.replica.supervisor is not None

    async def restore(self, engine: Engine, watch: Watch) -> Watch:
        """Signal, and wait for the next generation."""
        try:
            supervision = await watch.supervision()
            if not supervision.is_ready:  # one that nobody waited for is under way
                await supervision.generation_after(supervision.generation, self.deadline_s)
            before = supervision.generation
            await watch.restored()
            await engine.signal(watch.replica.container.id, _SIGNAL)
            await supervision.generation_after(before, self.deadline_s)
        except SiteGoneError as lost:
            raise SiteGoneError(lost.message + await _last_words(engine, watch.replica)) from lost
        return watch


async def _last_words(engine: Engine, replica: Replica) -> str:
    """Return how the container is and what it said last.

    Its connections end before the engine notices that it did, so its end is awaited for a moment.
    """
    name = replica.container.name
    try:
        with suppress(TimeoutError, SiteGoneError):
            async with asyncio.timeout(_DYING_S):
                await engine.wait_exit(replica.container.id)
        now = await engine.container(replica.container.id)
        if now is None:
            return f"; container {name} was removed"
        log = await engine.logs(now.id, tail=_LAST_LINES)
    except ArenaError as failure:
        return f"; its container cannot be looked at: {failure.message}"
    code = "" if now.exit_code is None else f" with code {now.exit_code}"
    return f"; container {name} is {now.state}{code}; it said last: {' | '.join(log.splitlines())}"
