"""The fleet: slots of golden replicas, leased to one episode at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager

from orchestrator.engine.containers import Container, Kind, Labels
from orchestrator.engine.engine import Engine
from orchestrator.fleet.budget import Capacity, default_budget, fit, priced_sites
from orchestrator.fleet.costs import Costs
from orchestrator.fleet.events import Announce, unheard
from orchestrator.fleet.plans import Occupant, SeatPlan, Workshop
from orchestrator.fleet.seat import Seat
from orchestrator.fleet.seats import PrivateSeats, Seats, Taken, all_of
from orchestrator.fleet.shared import SharedSeat
from orchestrator.fleet.slot import Slot
from orchestrator.reset.ladder import rungs_for
from orchestrator.reset.replica import SHARED
from orchestrator.together import together
from sites.atlas import Atlas
from sites.errors import ArenaError, LeaseError, UnknownNameError, UsageError
from sites.manifest import Site

UP = "up"
SWAP = "swap"
WAIT_S = 900.0  # more than any manifest may take for its health, and once more for a second try


class Fleet:
    """Slots of replicas, each leased to one episode at a time; see `Fleet.open`.

    Attributes:
        capacity: how many replicas it may have, and what they cost.
    """

    def __init__(self, capacity: Capacity, seats: Mapping[str, Seats]) -> None:
        self.capacity = capacity
        self._seats = seats
        self._free: asyncio.Queue[int] = asyncio.Queue()
        for index in range(capacity.workers):
            self._free.put_nowait(index)

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        engine: Engine,
        atlas: Atlas,
        sites: Collection[str],
        owner: str,
        *,
        workers: int = 1,
        spares: int | None = None,
        memory_bytes: int | None = None,
        strategy: str = "auto",
        on_event: Announce = unheard,
        ports: Mapping[str, int] | None = None,
        keep: bool = False,
    ) -> AsyncIterator[Fleet]:
        """Open a fleet; replicas start when they are first needed, or at `warm` or `up`.

        Args:
            engine: where they run.
            atlas: the known sites.
            sites: names of those this fleet has.
            owner: a run id, or `UP`; what its containers are labelled with.
            workers: how many episodes may run side by side.
            spares: warm replicas beyond that of each site that holds state; None for what is
                thought best. Fewer where the budget does not allow them.
            memory_bytes: budget for all replicas; None for most of the engine's machine.
            strategy: of resets, see `rungs_for`; `swap` demands a spare.
            on_event: hears of every step.
            ports: fixed host ports by site name; the next slots get the ports after it.
            keep: leave the containers running at the end, adopt them at the start, and take them
                as they are; otherwise every replica is proven golden and removed at the end.

        Raises:
            UsageError: the workers do not fit the budget, or the strategy makes no sense.
        """
        rungs = rungs_for(strategy)
        chosen = atlas.select(sites)
        costs = Costs.load()
        capacity = await capacity_for(
            engine,
            chosen,
            costs,
            workers=workers,
            spares=spares,
            memory_bytes=memory_bytes,
            strategy=strategy,
            what="slot" if keep else "worker",
        )
        cores = max(1, (await engine.facts()).cpus)
        shop = Workshop(
            engine=engine,
            costs=costs,
            rungs=rungs,
            starts=asyncio.Semaphore(cores),
            resets=asyncio.Semaphore(cores),
            announce=on_event,
        )
        found = await _running(engine, owner) if keep else ()
        seats = {}
        for site in chosen:
            plans = _plans(site, capacity, owner, ports or {}, found, prove=not keep)
            seats[site.name] = _seats(site, capacity, [Seat(shop, plan) for plan in plans])
        fleet = cls(capacity, seats)
        try:
            yield fleet
        finally:
            await fleet._close(keep=keep)

    @asynccontextmanager
    async def lease(
        self, sites: Collection[str], *, wait_s: float = WAIT_S, hold_s: float | None = None
    ) -> AsyncIterator[Slot]:
        """Hold a slot with golden replicas of the named sites.

        A ready replica of each is handed out at once. When the block ends, however it ends, those
        that hold state are brought back to golden in the background: what nobody wrote to
        (`Slot.wrote`) is only proven, and nothing is handed out again before it is.

        There are as many replicas of each site as slots, at least, so that a lease which waits for
        one never waits for another lease that waits.

        Args:
            sites: names; each of this fleet.
            wait_s: how long to wait for a slot and its replicas.
            hold_s: how long the block may take; it is cancelled then.

        Raises:
            LeaseError: a deadline passed; says what each replica was doing.
            ArenaError: a replica could not be made ready; the slot is free again.
        """
        seats = {name: self._seats_of(name) for name in dict.fromkeys(sites)}
        index: int | None = None
        taken: dict[str, Taken] = {}
        try:
            try:
                async with asyncio.timeout(wait_s):
                    index = await self._free.get()
                    await _take_all(seats, taken)
            except TimeoutError as cause:
                raise _waited_too_long(seats, wait_s) from cause
            slot = Slot(index, taken)
            held, taken = taken, {}
            async with _returned(seats, held, slot):
                hold = asyncio.timeout(hold_s)
                try:
                    async with hold:
                        yield slot
                except TimeoutError as cause:
                    if not hold.expired():
                        raise
                    raise _held_too_long(seats, hold_s) from cause
        finally:
            for name, one in taken.items():
                seats[name].put_back(one)
            if index is not None:
                self._free.put_nowait(index)

    def warm(self) -> None:
        """Start what the workers and spares will need before they ask, in the background."""
        for seats in self._seats.values():
            seats.warm()

    async def up(self) -> tuple[Occupant, ...]:
        """Start everything, wait until it serves, and log every role in.

        Raises:
            ArenaError: the first failure, after all others have finished; what serves stays.
        """
        async with together() as group:
            tasks = [group.create_task(seats.up()) for seats in self._seats.values()]
        outcomes = [outcome for task in tasks for outcome in task.result()]
        for outcome in outcomes:
            if isinstance(outcome, ArenaError):
                raise outcome
        return tuple(outcome for outcome in outcomes if isinstance(outcome, Occupant))

    def _seats_of(self, site_name: str) -> Seats:
        if site_name not in self._seats:
            held = ", ".join(sorted(self._seats))
            message = f"this fleet has no site '{site_name}'; it has: {held}"
            raise UnknownNameError(message)
        return self._seats[site_name]

    async def _close(self, *, keep: bool) -> None:
        await all_of(seats.close(keep=keep) for seats in self._seats.values())


async def capacity_for(
    engine: Engine,
    sites: Sequence[Site],
    costs: Costs,
    *,
    workers: int,
    spares: int | None,
    memory_bytes: int | None,
    strategy: str = "auto",
    what: str = "worker",
) -> Capacity:
    """Return how many replicas of each site fit; arguments as those of `Fleet.open`.

    Raises:
        UsageError: the workers do not fit, or the strategy needs a spare and there is none.
    """
    if strategy == SWAP and spares == 0:
        message = "the strategy 'swap' hands out a spare while the used replica is renewed"
        raise UsageError(message, hint="allow at least one spare, or leave the strategy to 'auto'")
    facts = await engine.facts()
    return fit(
        await priced_sites(engine, sites, costs),
        workers=workers,
        spares=spares,
        budget_bytes=memory_bytes or default_budget(facts.memory_bytes),
        is_firm=memory_bytes is not None,
        least_spares=1 if strategy == SWAP else 0,
        what=what,
    )


async def _take_all(seats: Mapping[str, Seats], taken: dict[str, Taken]) -> None:
    """Take a replica of each site; what was taken stands in `taken` also where another fails."""

    async def take(name: str) -> None:
        taken[name] = await seats[name].take()

    async with together() as group:
        for name in seats:
            group.create_task(take(name))


@asynccontextmanager
async def _returned(
    seats: Mapping[str, Seats], held: Mapping[str, Taken], slot: Slot
) -> AsyncIterator[None]:
    """Give the replicas back when the block ends; one that broke off may have written anywhere."""
    broke_off = True
    try:
        yield
        broke_off = False
    finally:
        for name, one in held.items():
            seats[name].renew(one, wrote=broke_off or name in slot.written)


def _plans(
    site: Site,
    capacity: Capacity,
    owner: str,
    ports: Mapping[str, int],
    found: Sequence[Container],
    *,
    prove: bool,
) -> list[SeatPlan]:
    port = ports.get(site.name)
    return [
        SeatPlan(
            site=site,
            owner=owner,
            slot=index if site.stateful else None,
            port=None if port is None else port + index,
            keeps_port=not prove,  # `arena up` leaves them standing
            prove=prove,
            found=_those_of(found, site, index),
        )
        for index in range(capacity.seats(site))
    ]


def _seats(site: Site, capacity: Capacity, seats: Sequence[Seat]) -> Seats:
    if site.stateful:
        return PrivateSeats(seats, capacity.spares[site.name])
    return SharedSeat(seats[0])


def _waited_too_long(seats: Mapping[str, Seats], wait_s: float) -> LeaseError:
    doing = "; ".join(state for one in seats.values() for state in one.states())
    message = f"no slot with {', '.join(seats)} was ready within {wait_s:g} s ({doing})"
    return LeaseError(message, hint="arena status; arena logs SITE")


def _held_too_long(seats: Mapping[str, Seats], hold_s: float | None) -> LeaseError:
    message = f"a slot with {', '.join(seats)} was held longer than {hold_s or 0:g} s: cut short"
    return LeaseError(message)


async def _running(engine: Engine, owner: str) -> tuple[Container, ...]:
    return await engine.containers({Labels.KIND: Kind.REPLICA, Labels.OWNER: owner})


def _those_of(containers: Sequence[Container], site: Site, index: int) -> tuple[Container, ...]:
    slot = str(index) if site.stateful else SHARED
    return tuple(
        container
        for container in containers
        if container.labels.get(Labels.SITE) == site.name
        and container.labels.get(Labels.SLOT) == slot
    )
