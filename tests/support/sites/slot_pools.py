"""What tests of slot pools wait for."""

from __future__ import annotations

import asyncio

from orchestrator.sandbox.pool.replica_pools import ExclusivePool
from orchestrator.sandbox.pool.slot_pool import SlotPool


async def until_ready(slot_pool: SlotPool) -> None:
    """Wait until nothing of the pool's one site is being started or renewed."""
    (pools,) = slot_pool._pools.values()
    assert isinstance(pools, ExclusivePool)
    while pools._working:
        async with asyncio.timeout(60):
            await asyncio.wait(tuple(pools._working))
