"""In an episode the shop's time begins where its data end, and runs, whatever day it is here."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest
from mutations.visitor import Visitor

from orchestrator.sandbox.check_queries import ask
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.engine.origin_client import origin_session
from orchestrator.sandbox.logins import login, replica_client, role_of
from orchestrator.sandbox.pool.slot_pool import SlotPool
from orchestrator.sandbox.reset.replica import Replica
from sites.registry import load_registry

pytestmark = [pytest.mark.docker, pytest.mark.slow(minutes=1)]

BEGINS = datetime(2026, 10, 1, 9, tzinfo=UTC)
SPARE_S = 3


@asynccontextmanager
async def shop_of(owner: str) -> AsyncIterator[tuple[SlotPool, Replica]]:
    async with (
        await Engine.connect() as engine,
        SlotPool.open(engine, load_registry(), ["shop"], owner, spares=0) as slot_pool,
    ):
        (ready,) = await slot_pool.up()
        yield slot_pool, ready.replica


async def now(replica: Replica) -> datetime:
    ((moment,),) = (await ask(replica, "SELECT UTC_TIMESTAMP(6)")).rows
    return datetime.fromisoformat(str(moment)).replace(tzinfo=UTC)


async def test_an_episode_begins_at_the_frozen_moment_however_long_its_replica_was_ready() -> None:
    async with shop_of("shop-clock") as (slot_pool, replica):
        await ask(replica, f"SELECT SLEEP({SPARE_S})")
        ready = await now(replica)
        async with slot_pool.lease(["shop"]) as slot:
            begun = await now(slot.replicas["shop"])
            later = await now(slot.replicas["shop"])
        assert ready > BEGINS + timedelta(seconds=SPARE_S)
        assert BEGINS < begun < later < BEGINS + timedelta(seconds=SPARE_S)


async def test_what_happened_in_the_last_day_is_counted_from_the_shops_own_time() -> None:
    """Application and database agree on it, and the browser's login is not too old for it."""
    async with shop_of("shop-day") as (_, replica):
        ((recent,),) = (
            await ask(
                replica,
                "SELECT COUNT(*) FROM order_order WHERE date_placed > NOW() - INTERVAL 24 HOUR",
            )
        ).rows
        site, client = replica.site, replica_client(replica.site, replica.endpoint)
        cookies = await login(site, "merchant", role_of(site, "merchant"), client)

        def dashboard() -> str:
            with origin_session(client) as session:
                for one in cookies:
                    session.cookies.set(one.name, one.value, domain=one.domain, path=one.path)
                return Visitor(client, session).open("/dashboard/").text

        page = await asyncio.to_thread(dashboard)
    shown = re.search(
        r"Orders - Last 24 Hours.*?Total orders</th>\s*<td[^>]*>(\d+)<", page, re.DOTALL
    )
    assert shown
    assert int(shown[1]) == int(str(recent)) > 0


async def test_waits_of_the_database_take_as_long_as_they_should() -> None:
    """Its deadlines are absolute, on a clock that is not the kernel's."""
    async with shop_of("shop-waits") as (_, replica):
        began = asyncio.get_running_loop().time()
        await ask(replica, "SELECT SLEEP(0.5)")
        assert 0.5 <= asyncio.get_running_loop().time() - began < 5
