"""What one more slot of the shop costs in memory."""

from __future__ import annotations

import os
from statistics import mean
from typing import Final

from bench.figures import Figure
from bench.machine import available_mib
from bench.shop_life import ShopLife
from mutations.seeds import seeded

from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.memory import memory_of
from orchestrator.sandbox.pool.placement import place
from orchestrator.sandbox.reset.ladder import reset_replica
from orchestrator.sandbox.reset.replica import Replica, start_replica
from orchestrator.sandbox.reset.watch import Watch
from sites.registry import load_registry

_MORE: Final = 4
_MOST_MIB: Final = 160.0
_MIB: Final = 2**20


async def memory_figures() -> list[Figure]:
    """Start a few replicas beside a first one, each used, reset and used again."""
    owner = f"bench-{os.getpid()}"
    async with await Engine.connect() as engine:
        try:
            first = await _started(engine, owner, 0)
            life = await ShopLife.at(load_registry().site("shop"), first.endpoint, seeded("memory"))
            await _use(engine, life, first)
            before = available_mib()
            used = [await _started(engine, owner, number + 1) for number in range(_MORE)]
            for replica in used:
                await _use(engine, life, replica)
            machine = (before - available_mib()) / _MORE
            groups = mean([await memory_of(engine, one.container.id) / _MIB for one in used])
        finally:
            await engine.sweep(owner)
    return [
        _figure("memory of one more shop slot, MiB of the machine (reference: goal)", machine),
        _figure("the same as its control group counts it", groups),
    ]


async def _started(engine: Engine, owner: str, slot: int) -> Replica:
    site = load_registry().site("shop")
    return await start_replica(engine, await place(engine, site, owner=owner, slot=slot))


async def _use(engine: Engine, life: ShopLife, replica: Replica) -> None:
    """Do what an episode does, rewind, and do it again."""
    await life.read(replica.endpoint)
    await life.change(replica.endpoint)
    done = await reset_replica(engine, Watch.over(engine, replica))
    assert done.replica.container.id == replica.container.id, done.receipt
    await done.watch.close()
    await life.read(replica.endpoint)
    await life.change(replica.endpoint)


def _figure(name: str, mib: float) -> Figure:
    goal = f"<= {_MOST_MIB:g} MiB"
    met = mib <= _MOST_MIB
    return Figure(name, mib, _MOST_MIB, mib / _MOST_MIB, goal, met=met, rounds=_MORE)
