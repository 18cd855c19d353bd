"""A ready replica is handed out only where nothing moved, and with its clock at its beginning."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.sites.watched_replica import BEGINS, NO_ENGINE, watched

from orchestrator.sandbox.pool.pool_context import PoolContext, ReadyReplica, ReplicaPlan
from orchestrator.sandbox.pool.pooled_replica import PooledReplica
from orchestrator.sandbox.reset.replica import Replica
from orchestrator.sandbox.reset.watch import Watch
from sites.manifest import Clock

NO_COSTS: Any = None  # nothing here is measured
CLOCK = Clock.model_validate({"now": BEGINS})


def pooled(replica: Replica) -> PooledReplica:
    context = PoolContext(
        engine=NO_ENGINE,
        costs=NO_COSTS,
        strategies=(),
        starts=asyncio.Semaphore(),
        resets=asyncio.Semaphore(),
        announce=lambda _: None,
    )
    return PooledReplica(context, ReplicaPlan(site=replica.site, owner="test", slot=0))


def ready(watch: Watch) -> ReadyReplica:
    return ReadyReplica(replica=watch.replica, watch=watch)


async def test_the_clock_is_put_back_while_the_counters_are_read() -> None:
    asked: list[str] = []
    two = False
    async with watched(asked, clock=CLOCK, shown={"clock": BEGINS}, by_twos=lambda: two) as watch:
        await watch.prove()
        two = True
        assert await pooled(watch.replica).spoilt(ready(watch)) is None
    assert set(asked[-2:]) == {"stamp", "clock"}


async def test_a_replica_that_moved_is_not_handed_out_whatever_its_clock_shows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def running(_self: object, _ready: object) -> None:
        return None

    monkeypatch.setattr(PooledReplica, "lost", running)
    stamp = "s1"
    async with watched([], clock=CLOCK, shown={"clock": BEGINS}, stamp=lambda: stamp) as watch:
        await watch.prove()
        stamp = "s2"
        assert await pooled(watch.replica).spoilt(ready(watch)) is not None


async def test_a_clock_that_cannot_be_put_back_keeps_a_replica_from_being_handed_out() -> None:
    async with watched([], clock=CLOCK, shown={"error": "it was replaced"}) as watch:
        await watch.prove()
        why = await pooled(watch.replica).spoilt(ready(watch))
    assert why is not None
    assert "it was replaced" in why
