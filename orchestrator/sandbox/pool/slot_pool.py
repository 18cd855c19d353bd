"""The pool of slots: golden replicas, leased to one episode at a time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager
from functools import partial
from types import MappingProxyType
from typing import Final

from arena_core.errors import ArenaError, LeaseError, UnknownNameError, UsageError
from arena_core.logs import log_context
from arena_core.names import offered
from arena_core.task_group import task_group
from orchestrator.sandbox.engine.containers import Container, ContainerKind, Labels
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.memory import Capacity, Costs, default_budget, fit, priced_sites
from orchestrator.sandbox.pool.pool_context import (
    Announce,
    PoolContext,
    ReadyReplica,
    ReplicaPlan,
    ignore_event,
)
from orchestrator.sandbox.pool.pooled_replica import PooledReplica
from orchestrator.sandbox.pool.replica_pools import (
    ExclusivePool,
    ReplicaLease,
    ReplicaPool,
    SharedPool,
    all_of,
)
from orchestrator.sandbox.pool.slot import Slot
from orchestrator.sandbox.reset.ladder import strategies_for
from orchestrator.sandbox.reset.replica import SHARED
from orchestrator.sandbox.reset.state import TakenState
from sites.manifest import Site
from sites.registry import SiteRegistry

_LOG = logging.getLogger(__name__)

# Prices all sites of a pool, and makes the pools of those that are new.
_MakePools = Callable[
    [Collection[str], Collection[str]], Awaitable[tuple[Capacity, dict[str, ReplicaPool]]]
]


# Returns the replicas that a site has in a capacity, none of them started.
_Replicas = Callable[[Site, Capacity], list[PooledReplica]]
# Returns the capacity for so many slots.
_Fits = Callable[[Capacity, int], Capacity]

NO_STARTS: Final[Mapping[str, TakenState]] = MappingProxyType({})
UP = "up"
SWAP = "swap"
WAIT_S = 900.0  # more than any manifest may take for its health, and once more for a second try


class SlotPool:
    """Slots of replicas, each leased to one episode at a time; see `SlotPool.open`.

    Attributes:
        capacity: how many replicas it may have, and what they cost.
    """

    def __init__(
        self,
        capacity: Capacity,
        pools: Mapping[str, ReplicaPool],
        make: _MakePools | None = None,
        resizing: tuple[_Fits, _Replicas] | None = None,
    ) -> None:
        self.capacity = capacity
        self._pools = dict(pools)
        self._make = make
        self._resizing = resizing
        self._including = asyncio.Lock()
        self._free: asyncio.Queue[int] = asyncio.Queue()
        self._indexes = capacity.workers
        for index in range(capacity.workers):
            self._free.put_nowait(index)

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        engine: Engine,
        registry: SiteRegistry,
        sites: Collection[str],
        owner: str,
        *,
        workers: int = 1,
        spares: int | None = None,
        memory_bytes: int | None = None,
        strategy: str = "auto",
        on_event: Announce = ignore_event,
        ports: Mapping[str, int] | None = None,
        keep: bool = False,
    ) -> AsyncIterator[SlotPool]:
        """Open a pool; replicas start when they are first needed, or at `warm` or `up`.

        Args:
            owner: a run id, or `UP`; what its containers are labelled with.
            spares: warm replicas beyond that of each site that holds state; None for what is
                thought best. Fewer where the budget does not allow them.
            memory_bytes: budget for all replicas; None for most of the engine's machine.
            strategy: of resets, see `strategies_for`; `swap` demands a spare.
            ports: fixed host ports by site name; the next slots get the ports after it.
            keep: leave the containers running at the end, adopt them at the start, and take them
                as they are; otherwise every replica is proven golden and removed at the end.
        """
        strategies = strategies_for(strategy)
        costs = Costs.load()
        cores = max(1, (await engine.facts()).cpus)
        shop = PoolContext(
            engine=engine,
            costs=costs,
            strategies=strategies,
            starts=asyncio.Semaphore(cores),
            resets=asyncio.Semaphore(cores),
            announce=on_event,
        )
        found = await _running(engine, owner) if keep else ()

        def replicas(site: Site, capacity: Capacity) -> list[PooledReplica]:
            plans = _plans(site, capacity, owner, ports or {}, found, prove=not keep)
            return [PooledReplica(shop, plan) for plan in plans]

        def fits(capacity: Capacity, count: int) -> Capacity:
            return fit(
                capacity.priced,
                workers=count,
                spares=spares,
                budget_bytes=capacity.budget_bytes,
                is_firm=False,
                least_spares=_least_spares(strategy),
            )

        async def make(
            names: Collection[str], new: Collection[str]
        ) -> tuple[Capacity, dict[str, ReplicaPool]]:
            capacity = await capacity_for(
                engine,
                registry.select(names),
                costs,
                workers=workers,
                spares=spares,
                memory_bytes=memory_bytes,
                strategy=strategy,
                what="slot" if keep else "worker",
            )
            pools: dict[str, ReplicaPool] = {}
            for site in registry.select(new):
                pools[site.name] = _pools(site, capacity, replicas(site, capacity))
            return capacity, pools

        slot_pool = cls(*await make(sites, sites), make, (fits, replicas))
        try:
            yield slot_pool
        finally:
            await slot_pool._close(keep=keep)

    async def include(self, sites: Collection[str]) -> None:
        """Let the pool have further sites, as they are needed; nothing is started for them yet."""
        async with self._including:
            new = [name for name in dict.fromkeys(sites) if name not in self._pools]
            if not new or self._make is None:
                return
            self.capacity, pools = await self._make((*self._pools, *new), new)
            self._pools.update(pools)

    def resized(self, workers: int) -> Capacity:
        """Return the capacity for so many slots.

        Raises:
            UsageError: their replicas do not fit.
        """
        fits = None if self._resizing is None else self._resizing[0]
        return self.capacity if fits is None else fits(self.capacity, workers)

    def resize(self, workers: int) -> None:
        """Have so many slots: further replicas are started, or those given back are removed.

        Slots that are held stay until they are given back. Errors are those of `resized`.
        """
        if self._resizing is None or workers == self.capacity.workers:
            return
        self.capacity = self.resized(workers)
        for one in self.capacity.priced:
            name, pools = one.site.name, self._pools[one.site.name]
            if isinstance(pools, ExclusivePool):
                all_replicas = self._resizing[1](one.site, self.capacity)
                pools.resize(all_replicas, self.capacity.spares[name])
        for index in range(self._indexes, workers):
            self._free.put_nowait(index)
        self._indexes = max(self._indexes, workers)

    @asynccontextmanager
    async def lease(
        self,
        sites: Collection[str],
        *,
        starts: Mapping[str, TakenState] = NO_STARTS,
        since: Mapping[str, TakenState | None] = NO_STARTS,
        wait_s: float = WAIT_S,
        hold_s: float | None = None,
    ) -> AsyncIterator[Slot]:
        """Hold a slot with replicas of the named sites, golden or in the states that are asked for.

        A ready replica of each is handed out at once. When the block ends, however it ends, those
        that hold state are reset in the background, to the start that is wanted next: what nobody
        wrote to (`Slot.wrote`) is only proven, and nothing is handed out again before it is.

        There are as many replicas of each site as slots, at least, so that a lease which waits for
        one never waits for another lease that waits.

        Args:
            starts: by site, the state that its replica is to be in; golden where there is none.
            since: by site, the state that changes are told from, where that is another one.
            wait_s: how long to wait for a slot and its replicas.
            hold_s: how long the block may take; it is cancelled then.
        """
        pools = {name: self._pool_of(name) for name in dict.fromkeys(sites)}
        index: int | None = None
        leased: dict[str, ReplicaLease] = {}
        try:
            try:
                async with asyncio.timeout(wait_s):
                    index = await self._free.get()
                    await _take_all(pools, leased, starts)
            except TimeoutError as cause:
                raise _waited_too_long(pools, wait_s) from cause
            slot = Slot(index, leased, since)
            _log_lease(index, leased)
            held, leased = leased, {}
            async with _returned(pools, held, slot):
                hold = asyncio.timeout(hold_s)
                try:
                    async with hold:
                        yield slot
                except TimeoutError as cause:
                    if not hold.expired():
                        raise
                    raise _held_too_long(pools, hold_s) from cause
        finally:
            for name, one in leased.items():
                pools[name].put_back(one)
            if index is not None:
                self._free.put_nowait(index)

    def foresee(self, upcoming: Callable[[], Iterable[Mapping[str, TakenState | None]]]) -> None:
        """Learn the starts of the episodes that wait, so that used replicas are brought to them.

        Args:
            upcoming: yields for each of them, the next one first, the starts of all its sites;
                None is golden.
        """

        def of(name: str) -> Iterator[TakenState | None]:
            return (starts[name] for starts in upcoming() if name in starts)

        for name, pool in self._pools.items():
            pool.foresee(partial(of, name))

    def warm(self) -> None:
        """Start what the workers and spares will need before they ask, in the background."""
        for pools in self._pools.values():
            pools.warm()

    async def up(self) -> tuple[ReadyReplica, ...]:
        async with task_group() as group:
            tasks = [group.create_task(pools.up()) for pools in self._pools.values()]
        outcomes = [outcome for task in tasks for outcome in task.result()]
        for outcome in outcomes:
            if isinstance(outcome, ArenaError):
                raise outcome
        return tuple(outcome for outcome in outcomes if isinstance(outcome, ReadyReplica))

    def _pool_of(self, site_name: str) -> ReplicaPool:
        if site_name not in self._pools:
            known = offered(site_name, self._pools, intro="it has")
            raise UnknownNameError(f"this pool has no site '{site_name}'; {known}")
        return self._pools[site_name]

    async def _close(self, *, keep: bool) -> None:
        await all_of(pools.close(keep=keep) for pools in self._pools.values())


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
    """Return how many replicas of each site fit; arguments as those of `SlotPool.open`."""
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
        least_spares=_least_spares(strategy),
        what=what,
    )


def _least_spares(strategy: str) -> int:
    return 1 if strategy == SWAP else 0


async def _take_all(
    pools: Mapping[str, ReplicaPool],
    leased: dict[str, ReplicaLease],
    starts: Mapping[str, TakenState],
) -> None:
    """Take a replica of each site; what was taken stands in `leased` also where another fails."""

    async def take(name: str) -> None:
        leased[name] = await pools[name].take(starts.get(name))

    async with task_group() as group:
        for name in pools:
            group.create_task(take(name))


def _log_lease(index: int, leased: Mapping[str, ReplicaLease]) -> None:
    for name, one in leased.items():
        with log_context(site=name, slot=index):
            fields = {"waited": round(one.waited, 3), "swapped": one.swapped}
            _LOG.info("slot %d: %s leased", index, name, extra=fields)


@asynccontextmanager
async def _returned(
    pools: Mapping[str, ReplicaPool], held: Mapping[str, ReplicaLease], slot: Slot
) -> AsyncIterator[None]:
    """Give the replicas back when the block ends; one that broke off may have written anywhere."""
    broke_off = True
    try:
        yield
        broke_off = False
    finally:
        for name, one in held.items():
            pools[name].renew(one, wrote=broke_off or name in slot.written)


def _plans(
    site: Site,
    capacity: Capacity,
    owner: str,
    ports: Mapping[str, int],
    found: Sequence[Container],
    *,
    prove: bool,
) -> list[ReplicaPlan]:
    port = ports.get(site.name)
    return [
        ReplicaPlan(
            site=site,
            owner=owner,
            slot=index if site.stateful else None,
            port=None if port is None else port + index,
            keeps_port=not prove,  # `arena up` leaves them standing
            prove=prove,
            found=_those_of(found, site, index),
        )
        for index in range(capacity.pools(site))
    ]


def _pools(site: Site, capacity: Capacity, pools: Sequence[PooledReplica]) -> ReplicaPool:
    if site.stateful:
        return ExclusivePool(pools, capacity.spares[site.name])
    return SharedPool(pools[0])


def _waited_too_long(pools: Mapping[str, ReplicaPool], wait_s: float) -> LeaseError:
    doing = "; ".join(state for one in pools.values() for state in one.states())
    message = f"no slot with {', '.join(pools)} was ready within {wait_s:g} s ({doing})"
    return LeaseError(message, hint="arena status; arena logs SITE")


def _held_too_long(pools: Mapping[str, ReplicaPool], hold_s: float | None) -> LeaseError:
    message = f"a slot with {', '.join(pools)} was held longer than {hold_s or 0:g} s: cut short"
    return LeaseError(message)


async def _running(engine: Engine, owner: str) -> tuple[Container, ...]:
    return await engine.containers({Labels.KIND: ContainerKind.REPLICA, Labels.OWNER: owner})


def _those_of(containers: Sequence[Container], site: Site, index: int) -> tuple[Container, ...]:
    slot = str(index) if site.stateful else SHARED
    return tuple(
        container
        for container in containers
        if container.labels.get(Labels.SITE) == site.name
        and container.labels.get(Labels.SLOT) == slot
    )
