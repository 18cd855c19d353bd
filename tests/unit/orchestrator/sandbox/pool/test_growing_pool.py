"""A pool takes in the sites of the next task, and leaves those that it has alone."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from arena_core.errors import UnknownNameError, UsageError
from orchestrator.sandbox.memory import Capacity
from orchestrator.sandbox.pool.replica_pools import ExclusivePool, ReplicaPool
from orchestrator.sandbox.pool.slot_pool import SlotPool


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
