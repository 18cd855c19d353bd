"""A pool takes in the sites of the next task, and leaves those that it has alone."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AsyncExitStack

import pytest
from support.sites.kiosk_site import KIOSK
from support.sites.made_replicas import MadeReplica, quiet

from arena_core.errors import UnknownNameError, UsageError
from orchestrator.sandbox.memory import MIB, Capacity, Cost, Priced, fit
from orchestrator.sandbox.pool.pooled_replica import PooledReplica
from orchestrator.sandbox.pool.replica_pools import ExclusivePool, ReplicaPool
from orchestrator.sandbox.pool.slot_pool import SlotPool
from sites.manifest import Site


def capacity(budget_bytes: int) -> Capacity:
    return Capacity(workers=1, spares={}, wanted_spares={}, priced=(), budget_bytes=budget_bytes)


class Maker:
    """Makes pools, and notes for what it was asked; its memory may be full."""

    def __init__(self) -> None:
        self.asked: list[tuple[list[str], list[str]]] = []
        self.is_full = False

    async def __call__(
        self, names: Collection[str], new: Collection[str]
    ) -> tuple[Capacity, dict[str, ReplicaPool]]:
        self.asked.append((list(names), list(new)))
        if self.is_full:
            message = "3 replicas need more"
            raise UsageError(message)
        return capacity(len(names)), {name: ExclusivePool([], 0) for name in new}


async def test_what_is_new_is_priced_with_all_and_made_alone() -> None:
    make = Maker()
    pool = SlotPool(capacity(1), {"shop": ExclusivePool([], 0)}, make)
    first = pool._pools["shop"]
    await pool.include(["shop", "wiki"])
    await pool.include(["wiki", "shop"])
    assert make.asked == [(["shop", "wiki"], ["wiki"])]
    assert pool.capacity.budget_bytes == 2
    assert pool._pools["shop"] is first


async def test_what_does_not_fit_leaves_the_pool_as_it_was() -> None:
    make = Maker()
    pool = SlotPool(capacity(1), {"shop": ExclusivePool([], 0)}, make)
    make.is_full = True
    with pytest.raises(UsageError, match="need more"):
        await pool.include(["forum"])
    assert pool.capacity.budget_bytes == 1
    with pytest.raises(UnknownNameError, match="has no site 'forum'"):
        async with pool.lease(["forum"]):
            pass


def resizable(replicas: dict[str, list[MadeReplica]]) -> SlotPool:
    """Return a pool of one slot and no spare, whose memory has room for three."""
    site = KIOSK
    priced = (Priced(site, Cost(MIB, is_learned=True)),)
    first = Capacity(
        workers=1,
        spares={site.name: 0},
        wanted_spares={site.name: 0},
        priced=priced,
        budget_bytes=3 * MIB,
    )
    made = replicas.setdefault(site.name, [])

    def fits(now: Capacity, count: int) -> Capacity:
        return fit(priced, workers=count, spares=0, budget_bytes=now.budget_bytes, is_firm=False)

    def all_of_them(of: Site, now: Capacity) -> list[PooledReplica]:
        made.extend(MadeReplica(f"{of.name}{n}") for n in range(len(made), now.pools(of)))
        return list(made[: now.pools(of)])

    pools = ExclusivePool(all_of_them(site, first), 0)
    return SlotPool(first, {site.name: pools}, None, (fits, all_of_them))


async def test_more_slots_start_their_replicas_and_lease_side_by_side() -> None:
    made: dict[str, list[MadeReplica]] = {}
    pool = resizable(made)
    pool.warm()
    pool.resize(3)
    await quiet()
    [replicas] = made.values()
    assert [one.starts for one in replicas] == [1, 1, 1]
    async with AsyncExitStack() as stack:
        held = [await stack.enter_async_context(pool.lease(made)) for _ in range(3)]
    assert {slot.index for slot in held} == {0, 1, 2}
    await pool._close(keep=False)


async def test_more_slots_than_fit_leave_the_pool_as_it_was() -> None:
    made: dict[str, list[MadeReplica]] = {}
    pool = resizable(made)
    with pytest.raises(UsageError, match="4 workers need 4 MiB"):
        pool.resize(4)
    assert pool.capacity.workers == 1
    assert [len(one) for one in made.values()] == [1]


async def test_fewer_slots_remove_replicas_when_they_are_given_back_and_more_start_them_again() -> (
    None
):
    made: dict[str, list[MadeReplica]] = {}
    pool = resizable(made)
    pool.warm()
    pool.resize(3)
    await quiet()
    [replicas] = made.values()
    async with pool.lease(made), pool.lease(made):
        pool.resize(1)
        await quiet()
        assert [one.removed for one in replicas] == [False, False, True]  # it was ready and free
    await quiet()
    assert sum(one.removed for one in replicas) == 2
    assert sum(len(one.renewals) for one in replicas) == 1
    pool.resize(3)
    await quiet()
    assert sum(one.starts for one in replicas) == 5
    await pool._close(keep=False)
