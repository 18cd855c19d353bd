"""All sites at once, as `arena up all` has them."""

from __future__ import annotations

import pytest
from support.sites.every_site import ATLAS, HERE, OWNER

from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.memory import memory_of
from orchestrator.sandbox.pool.slot_pool import SlotPool
from orchestrator.sandbox.reset.replica import await_health

pytestmark = [pytest.mark.docker, pytest.mark.slow(minutes=2)]

# What all sites together may take.
MEMORY_MIB = 2_560


async def test_all_sites_stand_side_by_side_within_their_budget_of_memory(engine: Engine) -> None:
    async with SlotPool.open(engine, ATLAS, HERE, f"{OWNER}-all", spares=0) as slot_pool:
        replicas = [ready.replica for ready in await slot_pool.up()]
        assert {replica.site.name for replica in replicas} == set(HERE)
        for replica in replicas:
            await await_health(engine, replica, timeout_s=30)
        used = [await memory_of(engine, replica.container.id) for replica in replicas]
        assert sum(used) <= MEMORY_MIB << 20
