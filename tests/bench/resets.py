"""The figures of resets: every strategy, the swap, and a minute of changes and resets."""

from __future__ import annotations

import os
from typing import Final

from bench.figures import Figure
from bench.shop_life import ShopLife
from bench.strategies import StrategyTimes
from bench.swaps import swap_figures
from mutations.seeds import seeded

from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.pool.placement import place
from orchestrator.sandbox.reset.replica import start_replica
from sites.registry import load_registry

_ROUNDS: Final = 20


async def reset_figures() -> list[Figure]:
    """Measure everything in one go; all sides run the same image."""
    owner = f"bench-{os.getpid()}"
    site = load_registry().site("shop")
    async with await Engine.connect() as engine:
        try:
            fresh = await start_replica(engine, await place(engine, site, owner=owner, slot=0))
            life = await ShopLife.at(site, fresh.endpoint, seeded("resets"))
            await engine.remove(fresh.container.id)
            async with StrategyTimes.open(engine, life, owner) as strategies:
                await strategies.play(_ROUNDS)
            swaps = await swap_figures(engine, life, owner, _ROUNDS)
        finally:
            await engine.sweep(owner)
    return [*swaps, *strategies.figures()]
