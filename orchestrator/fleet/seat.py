"""One place for one replica: keeps it running, golden and logged in, whatever happened to it."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orchestrator.cookie import Cookie
from orchestrator.engine.containers import Container
from orchestrator.engine.engine import Engine
from orchestrator.fleet.events import Announce, FleetEvent, Phase
from orchestrator.fleet.logins import is_logged_in, login, replica_door, role_of
from orchestrator.fleet.placements import place
from orchestrator.reset.ladder import LADDER, Reset, reset_replica
from orchestrator.reset.replica import (
    Placement,
    Replica,
    as_replica,
    await_health,
    start_replica,
)
from orchestrator.together import together
from sites.errors import ArenaError, SiteError
from sites.manifest import Site

if TYPE_CHECKING:
    from evaluators.evidence import Receipt

_LOG_LINES = 5


@dataclass(slots=True, kw_only=True)
class Occupant:
    """A replica that may be handed out, until the next reset.

    Attributes:
        receipt: of the reset that made it ready; None where it was only started.
        cookies: of the roles that logged in to this very replica.
    """

    replica: Replica
    receipt: Receipt | None = None
    cookies: dict[str, tuple[Cookie, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatPlan:
    """What a seat is for.

    Attributes:
        slot: index; None where all slots share it.
        port: the host port of its HTTP port; None for a free one.
        prove: whether a fresh replica's fingerprint is compared with golden too.
        found: containers of this owner for this seat; one that fits is kept, the others go.
    """

    site: Site
    owner: str
    slot: int | None
    port: int | None = None
    prove: bool = True
    found: tuple[Container, ...] = ()


class Seat:
    """Holds one replica; at any time at most one task works on it, and everybody waits for that."""

    def __init__(self, engine: Engine, plan: SeatPlan, announce: Announce) -> None:
        self._engine = engine
        self._plan = plan
        self._announce = announce
        self._work: asyncio.Task[Occupant] | None = None
        self._latest: Replica | None = None
        self._checking = asyncio.Lock()
        self._logging_in: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @property
    def stateful(self) -> bool:
        """Whether an episode can change the replica."""
        return self._plan.site.stateful

    @property
    def label(self) -> str:
        """The site and, where it is one slot's own, the slot."""
        slot = self._plan.slot
        name = self._plan.site.name
        return name if slot is None else f"{name} (slot {slot})"

    async def ready(self) -> Occupant:
        """Wait until the replica may be handed out; start or replace it where that is needed.

        Raises:
            ArenaError: why it could not be made ready; the next call tries again.
        """
        async with self._checking:
            occupant = await self._occupied()
            gone = await self.lost(occupant)
            if gone is not None:
                self._tell(Phase.LOST, detail=gone)
                self.renew(wrote=True)
                occupant = await self._occupied()
            return occupant

    def renew(self, *, wrote: bool) -> None:
        """Bring the replica back to golden in the background; `ready` waits for it."""
        before = self._work
        if before is None or _failed(before):
            self._begin(self._start)
            return
        self._begin(lambda: self._reset(before, wrote=wrote))

    async def lost(self, occupant: Occupant) -> str | None:
        """Say that a replica's container is gone and with what evidence; None while it runs."""
        replica = occupant.replica
        container = await self._engine.container(replica.container.id)
        if container is None:
            return f"site '{replica.site.name}': container {replica.container.name} was removed"
        if container.state == "running":
            return None
        log = await self._engine.logs(container.id, tail=_LOG_LINES)
        return (
            f"site '{replica.site.name}': container {container.name} is {container.state}"
            f" (exit code {container.exit_code}); last lines: {' | '.join(log.splitlines())}"
        )

    async def cookies(self, occupant: Occupant, role_name: str) -> tuple[Cookie, ...]:
        """Return a role's cookies, proven on this replica just now.

        Raises:
            LoginError: the role could not log in.
            UnknownNameError: the site has no such role.
        """
        site = self._plan.site
        role = role_of(site, role_name)
        door = replica_door(site, occupant.replica.endpoint)
        async with self._logging_in[role_name]:
            known = occupant.cookies.get(role_name)
            if known is not None and await is_logged_in(site, role_name, role, door, known):
                return known
            occupant.cookies[role_name] = await login(site, role_name, role, door)
            return occupant.cookies[role_name]

    async def log_everybody_in(self, occupant: Occupant) -> None:
        """Log every role of the site in, side by side, and check that it is logged in.

        Raises:
            LoginError: a role could not log in.
        """
        started = time.monotonic()
        roles = tuple(self._plan.site.roles)
        async with together() as group:
            for role_name in roles:
                group.create_task(self.cookies(occupant, role_name))
        detail = f"logged in: {', '.join(roles)}" if roles else ""
        self._tell(Phase.READY, seconds=time.monotonic() - started, detail=detail)

    async def settle(self) -> None:
        """Cut short what works on this seat; a replica that is ready stays."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.wait([self._work])

    async def vacate(self) -> None:
        """Cut short what works on this seat and remove its container; safe to repeat."""
        await self.settle()
        if self._latest is not None:
            await self._engine.remove(self._latest.container.id)

    def _begin(
        self, work: Callable[[], Coroutine[object, object, Occupant]]
    ) -> asyncio.Task[Occupant]:
        task = asyncio.create_task(self._told(work), name=f"seat {self.label}")
        task.add_done_callback(_mark_seen)
        self._work = task
        return task

    async def _told(self, work: Callable[[], Coroutine[object, object, Occupant]]) -> Occupant:
        try:
            occupant = await work()
        except ArenaError as failure:
            self._tell(Phase.FAILED, detail=failure.message.splitlines()[0])
            raise
        self._latest = occupant.replica
        return occupant

    async def _occupied(self) -> Occupant:
        """Wait for the work under way (begun here where there is none), and for what follows it."""
        while True:
            work = self._work
            if work is None or _failed(work):
                work = self._begin(self._start)
            occupant = await asyncio.shield(work)
            if work is self._work:
                return occupant

    async def _start(self) -> Occupant:
        started = time.monotonic()
        plan = self._plan
        if self._latest is not None:
            await self._engine.remove(self._latest.container.id)
        placement = await place(
            self._engine, plan.site, owner=plan.owner, slot=plan.slot, port=plan.port
        )
        kept = await self._keep(placement)
        if kept is not None:
            self._tell(Phase.KEPT, detail="it runs already")
            return Occupant(replica=kept)
        self._tell(Phase.STARTING, detail=f"waits for {plan.site.health.path}")
        replica = self._latest = await start_replica(self._engine, placement)
        self._tell(Phase.HEALTHY, seconds=time.monotonic() - started)
        if not (plan.prove and plan.site.stateful):
            return Occupant(replica=replica)
        proven = await reset_replica(self._engine, replica, wrote=False)
        receipt = proven.receipt
        if receipt.strategy == LADDER[0].name:
            receipt = receipt.model_copy(update={"strategy": "start"})
        return self._golden(Reset(proven.replica, receipt))

    async def _keep(self, placement: Placement) -> Replica | None:
        """Return the one replica found that is of this image and serves; remove the others."""
        kept: Replica | None = None
        for container in self._plan.found:
            if kept is None:
                kept = await self._fitting(placement, container)
                if kept is not None:
                    continue
            await self._engine.remove(container.id)
        return kept

    async def _fitting(self, placement: Placement, container: Container) -> Replica | None:
        if container.state != "running" or container.image_id != placement.image_id:
            return None
        try:
            replica = as_replica(placement, container)
            if placement.port not in {None, replica.endpoint.port}:
                return None
            await await_health(self._engine, replica)
        except SiteError as failure:
            self._tell(Phase.LOST, detail=failure.message)
            return None
        return replica

    async def _reset(self, before: asyncio.Task[Occupant], *, wrote: bool) -> Occupant:
        occupant = await before
        self._tell(Phase.RESETTING)
        gone = await self.lost(occupant) is not None
        done = await reset_replica(self._engine, occupant.replica, wrote=wrote or gone)
        kept = done.replica.container.id == occupant.replica.container.id
        return self._golden(done, cookies=occupant.cookies if kept else {})

    def _golden(
        self, reset: Reset, cookies: dict[str, tuple[Cookie, ...]] | None = None
    ) -> Occupant:
        receipt = reset.receipt
        self._tell(Phase.GOLDEN, seconds=receipt.seconds, detail=receipt.strategy)
        return Occupant(replica=reset.replica, receipt=receipt, cookies=cookies or {})

    def _tell(self, phase: Phase, *, seconds: float = 0.0, detail: str = "") -> None:
        self._announce(FleetEvent(replica=self.label, phase=phase, seconds=seconds, detail=detail))


def _failed(work: asyncio.Task[Occupant]) -> bool:
    return work.done() and (work.cancelled() or work.exception() is not None)


def _mark_seen(work: asyncio.Task[Occupant]) -> None:
    """Keep asyncio from logging a failure that `ready` reports to whoever asks next."""
    if not work.cancelled():
        work.exception()
