"""The fleet: a pool of slots over a set of replicas."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager

from orchestrator.engine.containers import Container, Kind, Labels
from orchestrator.engine.engine import Engine
from orchestrator.fleet.events import Announce, unheard
from orchestrator.fleet.seat import Occupant, Seat, SeatPlan
from orchestrator.fleet.slot import Slot
from orchestrator.reset.replica import SHARED
from orchestrator.together import together
from sites.atlas import Atlas
from sites.errors import ArenaError, UnknownNameError
from sites.manifest import Site

UP = "up"


class Fleet:
    """Slots of replicas, each leased to one episode at a time; see `Fleet.open`."""

    def __init__(
        self, engine: Engine, owner: str, seats: Mapping[tuple[str, int], Seat], slots: int
    ) -> None:
        self._engine = engine
        self._owner = owner
        self._seats = seats
        self._free: asyncio.Queue[int] = asyncio.Queue()
        for index in range(slots):
            self._free.put_nowait(index)

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        engine: Engine,
        atlas: Atlas,
        sites: Collection[str],
        owner: str,
        slots: int = 1,
        *,
        on_event: Announce = unheard,
        ports: Mapping[str, int] | None = None,
        keep: bool = False,
    ) -> AsyncIterator[Fleet]:
        """Open a fleet; replicas start when they are first needed, or at `up`.

        Args:
            engine: where they run.
            atlas: the known sites.
            sites: names of those this fleet has.
            owner: a run id, or `UP`; what its containers are labelled with.
            slots: how many episodes may run side by side.
            on_event: hears of every step.
            ports: fixed host ports by site name.
            keep: leave the containers running at the end, adopt them at the start, and take them
                as they are; otherwise every replica is proven golden and removed at the end.
        """
        found = await _running(engine, owner) if keep else ()
        plans = {
            (site.name, index): SeatPlan(
                site=site,
                owner=owner,
                slot=index if site.stateful else None,
                port=(ports or {}).get(site.name) if index == 0 else None,
                prove=not keep,
                found=_those_of(found, site, index),
            )
            for site in atlas.select(sites)
            for index in range(slots if site.stateful else 1)
        }
        seats = {place: Seat(engine, plan, on_event) for place, plan in plans.items()}
        fleet = cls(engine, owner, seats, slots)
        try:
            yield fleet
        finally:
            await fleet._close(keep=keep)

    @asynccontextmanager
    async def lease(self, sites: Collection[str]) -> AsyncIterator[Slot]:
        """Hold a slot with golden replicas of the named sites.

        Waits until a slot is free and its replicas are ready. When the block ends, however it ends,
        replicas that hold state are brought back to golden in the background: checked where nothing
        was written (`Slot.wrote`), recreated otherwise. The next lease of the slot waits for that.

        Raises:
            ArenaError: a replica could not be made ready; the slot is free again.
        """
        index = await self._free.get()
        try:
            seats = {name: self._seat(name, index) for name in sites}
            async with together() as group:
                ready = {name: group.create_task(seat.ready()) for name, seat in seats.items()}
            slot = Slot(index, {name: (seats[name], task.result()) for name, task in ready.items()})
            try:
                yield slot
            finally:
                for name, seat in seats.items():
                    if seat.stateful:
                        seat.renew(wrote=name in slot.written)
        finally:
            self._free.put_nowait(index)

    async def up(self) -> tuple[Occupant, ...]:
        """Start everything at once, wait until it serves, and log every role in.

        Raises:
            ArenaError: the first failure, after all others have finished; what serves stays.
        """
        async with together() as group:
            tasks = [group.create_task(_outcome(seat)) for seat in self._seats.values()]
        outcomes = [task.result() for task in tasks]
        for outcome in outcomes:
            if isinstance(outcome, ArenaError):
                raise outcome
        return tuple(outcome for outcome in outcomes if isinstance(outcome, Occupant))

    def _seat(self, site_name: str, index: int) -> Seat:
        """Return a slot's own seat, or the one that all slots share."""
        seat = self._seats.get((site_name, index)) or self._seats.get((site_name, 0))
        if seat is None:
            held = ", ".join(sorted({name for name, _ in self._seats}))
            message = f"this fleet has no site '{site_name}'; it has: {held}"
            raise UnknownNameError(message)
        return seat

    async def _close(self, *, keep: bool) -> None:
        async with together() as group:
            for seat in self._seats.values():
                group.create_task(seat.settle() if keep else seat.vacate())


async def _outcome(seat: Seat) -> Occupant | ArenaError:
    try:
        occupant = await seat.ready()
        await seat.log_everybody_in(occupant)
    except ArenaError as failure:
        return failure
    return occupant


async def _running(engine: Engine, owner: str) -> tuple[Container, ...]:
    return await engine.containers({Labels.KIND: Kind.REPLICA, Labels.OWNER: owner})


def _those_of(containers: tuple[Container, ...], site: Site, index: int) -> tuple[Container, ...]:
    slot = str(index) if site.stateful else SHARED
    return tuple(
        container
        for container in containers
        if container.labels.get(Labels.SITE) == site.name
        and container.labels.get(Labels.SLOT) == slot
    )
