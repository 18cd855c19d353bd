"""Reset strategies: ways back to golden, from the cheapest to the one that always works."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from arena_core.errors import ArenaError, ResetError, SiteGoneError, StateError
from orchestrator.sandbox.reset.replica import as_replica, await_health, start_replica
from orchestrator.sandbox.reset.watch import Watch

if TYPE_CHECKING:
    from orchestrator.sandbox.engine.engine import Engine
    from orchestrator.sandbox.reset.replica import Replica
    from orchestrator.sandbox.reset.state import TakenState
    from orchestrator.sandbox.reset.supervision import Supervision


class Strategy(Protocol):
    """One way back to golden.

    It proves nothing itself: the ladder does, in the same way for all.
    """

    @property
    def name(self) -> str:
        """What receipts and `--strategy` call it."""

    @property
    def needs(self) -> str:
        """What must hold for it to apply: "possible only where …"."""

    @property
    def touches(self) -> bool:
        """Whether it changes the replica; one that failed then is not fit to be kept."""

    @property
    def replaces(self) -> bool:
        """Whether it puts a new container in the place of the old one, which need not run."""

    def applies(self, watch: Watch, *, wrote: bool) -> bool:
        """Whether it may be tried.

        Args:
            wrote: whether a request that may write was seen since it was golden.
        """

    async def restore(self, engine: Engine, watch: Watch) -> Watch:
        """Restore, and return the watch over the replica that serves now: the same or another."""


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
    replaces: bool = False
    serves_within_s: float = 3.0

    def applies(self, watch: Watch, *, wrote: bool) -> bool:
        """True unless a write happened, or may have happened before the watch began.

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
            raise ResetError("something moved since it was proven golden")
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
        deadline_s: after so many seconds the next strategy is tried.
    """

    name: str = "rewind"
    needs: str = "its image has Arena's supervisor"
    touches: bool = True
    replaces: bool = False
    deadline_s: float = 20.0

    def applies(self, watch: Watch, *, wrote: bool) -> bool:  # noqa: ARG002
        return watch.replica.supervisor is not None

    async def restore(self, engine: Engine, watch: Watch) -> Watch:
        try:
            supervision = await watch.supervision()
            if not supervision.is_ready:  # one that nobody waited for is under way
                await supervision.generation_after(supervision.generation, self.deadline_s)
            before = supervision.generation
            await watch.restored()
            if watch.taken is not None:
                await go_to(watch, watch.taken, self.deadline_s)
            else:
                await engine.signal(watch.replica.container.id, _SIGNAL)
                await supervision.generation_after(before, self.deadline_s)
        except SiteGoneError as lost:
            raise SiteGoneError(lost.message + await _last_words(engine, watch.replica)) from lost
        return watch


async def go_to(watch: Watch, taken: TakenState, deadline_s: float) -> None:
    """Make a replica's supervisor go to a state that was taken of one of the same image."""
    supervision = await trusted_supervision(watch)
    await supervision.restore_state(taken.packed, deadline_s)


async def trusted_supervision(watch: Watch) -> Supervision:
    """Return the connection to a replica's supervisor, over which states may be taken."""
    supervision = await watch.supervision()
    if not supervision.is_trusted:
        message = f"site '{watch.replica.site.name}': its container was started by an older Arena"
        raise StateError(message, hint=f"arena down; arena up {watch.replica.site.name}")
    return supervision


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
    replaces: bool = True

    def applies(self, watch: Watch, *, wrote: bool) -> bool:  # noqa: ARG002
        return True

    async def restore(self, engine: Engine, watch: Watch) -> Watch:
        placement = watch.replica.placement
        await watch.close()
        await engine.remove(watch.replica.container.id)
        replica = await start_replica(engine, placement)
        fresh = Watch.over(engine, replica, new=True, taken=watch.taken)
        if watch.taken is None:
            return fresh
        try:
            return await Rewind().restore(engine, fresh)
        except BaseException:
            await fresh.close()
            await asyncio.shield(engine.remove(replica.container.id))
            raise
