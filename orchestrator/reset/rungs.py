"""The rungs: ways back to golden, from the cheapest to the one that is always right."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from arena_core.errors import ArenaError, ResetError, SiteGoneError
from orchestrator.reset.replica import as_replica, await_health, start_replica
from orchestrator.reset.watch import Watch

if TYPE_CHECKING:
    from orchestrator.engine.engine import Engine
    from orchestrator.reset.replica import Replica


class Rung(Protocol):
    """One way back to golden.

    It proves nothing itself: the ladder does, in the same way for all.
    """

    @property
    def name(self) -> str:
        """The strategy as receipts and the command line call it."""

    @property
    def needs(self) -> str:
        """What must hold for it to apply, for the message where it does not."""

    @property
    def touches(self) -> bool:
        """Whether it changes the replica; one that failed then is not fit to be kept."""

    def applies(self, watch: Watch, *, wrote: bool) -> bool:
        """Whether this rung may be tried.

        Args:
            watch: over the replica that is to be reset.
            wrote: whether a request that may write was seen since it was golden.
        """

    async def restore(self, engine: Engine, watch: Watch) -> Watch:
        """Restore, and return the watch over the replica that serves now: the same or another.

        Raises:
            SiteError, EngineError: it could not; the next rung is tried.
        """


@dataclass(frozen=True, slots=True)
class Clean:
    """Keep the replica as it is.

    Attributes:
        serves_within_s: how long its health may take where that has to be asked. An application
            that is broken is a usual reason for a reset, so this is not the manifest's start time.
    """

    name: str = "clean"
    needs: str = "no request that may write was seen since a reset that this process watched"
    touches: bool = False
    serves_within_s: float = 3.0

    def applies(self, watch: Watch, *, wrote: bool) -> bool:
        """Say yes unless a write was seen, or may have been missed before the watch began.

        The whole state may look golden then and hold what it does not show: a trigger, a grant,
        another schema, a file beside the stateful folders.
        """
        if not watch.replica.site.shows_state:
            return False  # nothing could show what a page that was only read has changed
        return not wrote and (watch.is_accounted or watch.golden is not None)

    async def restore(self, engine: Engine, watch: Watch) -> Watch:
        """Refuse where something moved; where that cannot be seen, check that it still serves.

        The connections over which the counters are read end with the container, so where they tell
        that nothing moved, it runs.
        """
        seen = await watch.glance()
        if seen.moved is not None:
            raise ResetError(seen.moved)
        if not watch.is_accounted:
            message = "something moved since it was proven golden"
            raise ResetError(message)
        if seen.unseen is not None:
            await _require_serving(engine, watch, self.serves_within_s)
        return watch


async def _require_serving(engine: Engine, watch: Watch, within_s: float) -> None:
    replica = watch.replica
    container = await engine.container(replica.container.id)
    if container is None or container.state != "running":
        state = "removed" if container is None else container.state
        message = f"site '{replica.site.name}': container {replica.container.name} is {state}"
        raise SiteGoneError(message)
    await await_health(engine, as_replica(replica.placement, container), timeout_s=within_s)


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


@dataclass(frozen=True, slots=True)
class Recreate:
    """A new container in the place of the old one."""

    name: str = "recreate"
    needs: str = ""
    touches: bool = True

    def applies(self, watch: Watch, *, wrote: bool) -> bool:  # noqa: ARG002
        """Say yes always."""
        return True

    async def restore(self, engine: Engine, watch: Watch) -> Watch:
        """Remove, start, wait for health."""
        placement = watch.replica.placement
        await watch.close()
        await engine.remove(watch.replica.container.id)
        return Watch.over(engine, await start_replica(engine, placement), new=True)
