"""The map's PostgreSQL as checks, probes and resets ask it."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
from support.sites.crawling import visitor

from arena_core.errors import DatabaseError
from orchestrator.sandbox.check_queries import ask
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.pool.slot_pool import SlotPool
from orchestrator.sandbox.reset.database import connect_mariadb
from orchestrator.sandbox.reset.fingerprint import take_fingerprint
from orchestrator.sandbox.reset.replica import Replica
from orchestrator.sandbox.reset.watch import Watch
from sites.registry import load_registry

pytestmark = [pytest.mark.docker, pytest.mark.slow(minutes=1)]


@asynccontextmanager
async def _map() -> AsyncIterator[tuple[Engine, Replica]]:
    async with await Engine.connect() as engine:
        owner = f"map-postgresql-{os.getpid()}"
        async with (
            SlotPool.open(engine, load_registry(), ["map"], owner) as slot_pool,
            slot_pool.lease(["map"]) as slot,
        ):
            yield engine, slot.replicas["map"]


@pytest.fixture
def running() -> AbstractAsyncContextManager[tuple[Engine, Replica]]:
    return _map()


async def test_postgresql_is_asked_one_statement_at_a_time_and_only_reads(
    running: AbstractAsyncContextManager[tuple[Engine, Replica]],
) -> None:
    async with running as (_, replica):
        found = await ask(replica, "SELECT name, id FROM osm.object WHERE name LIKE 'Kettle M%'")
        assert found.columns == ("name", "id")
        assert [row[0] for row in found.rows] == ["Kettle Museum"]
        cut = await ask(replica, "SELECT id FROM osm.object ORDER BY id", limit=2)
        assert (len(cut.rows), cut.cut) == (2, True)
        for sql, said in (
            ("SELECT 1; SELECT 2", "multiple commands"),
            ("DELETE FROM osm.object", "read-only transaction"),
            ("SET default_transaction_read_only = off; DELETE FROM osm.object", "multiple"),
            ("SELECT nothing FROM osm.object", 'column "nothing" does not exist'),
        ):
            with pytest.raises(DatabaseError, match=f"database of site 'map'.*{said}"):
                await ask(replica, sql)


async def test_what_only_mariadb_tells_is_refused_with_a_clear_line(
    running: AbstractAsyncContextManager[tuple[Engine, Replica]],
) -> None:
    async with running as (_, replica):
        assert replica.database is not None
        with pytest.raises(DatabaseError, match="engine 'postgresql'; tables, rows and counters"):
            connect_mariadb(replica.site, replica.database)


async def test_its_state_is_what_the_probes_say_and_no_counter_vouches_for_it(
    running: AbstractAsyncContextManager[tuple[Engine, Replica]],
) -> None:
    async with running as (engine, replica):
        state = await take_fingerprint(engine, replica.site, replica.container)
        assert state.tables == ()
        assert {probe.name for probe in state.probes} == {"objects", "addresses", "words"}
        assert state.digest == replica.golden
        watch = Watch.over(engine, replica, new=True)
        try:
            assert (await watch.prove()).digest == replica.golden
            assert await watch.mark() is None
        finally:
            await watch.close()


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("pub", "pub"),
        ("supermarket", "supermarket"),
        ("atm", "atm"),
        ("nearest pharmacy", "pharmacy"),
    ],
)
async def test_a_kind_of_place_is_found_the_nearest_first(
    running: AbstractAsyncContextManager[tuple[Engine, Replica]], words: str, kind: str
) -> None:
    async with running as (_, replica):
        nearest = await ask(
            replica,
            "SELECT kind, id FROM osm.object WHERE"  # noqa: S608 - the test's own word
            f" coalesce(tags->>'amenity', tags->>'shop') = '{kind}'"
            " ORDER BY (lat - 50.8222) ^ 2 + ((lon + 4.6582) * 0.632) ^ 2, id LIMIT 3",
        )
        with visitor(replica, None, ()) as one:
            page = await asyncio.to_thread(
                one.session.get, one.client.url(f"/search?query={words}")
            )
        listed = re.findall(r'<a href="(/\w+/\d+)#map', page.text)
        assert listed[:3] == [f"/{row[0]}/{row[1]}" for row in nearest.rows]


async def test_a_region_names_those_that_it_shares_a_border_with_and_no_others(
    running: AbstractAsyncContextManager[tuple[Engine, Replica]],
) -> None:
    async with running as (_, replica):
        rows = await ask(replica, "SELECT name, id FROM osm.object WHERE kind = 'relation'")
        ids = {row[0]: row[1] for row in rows.rows}
        with visitor(replica, None, ()) as one:
            pages = {
                name: (
                    await asyncio.to_thread(
                        one.session.get, one.client.url(f"/relation/{ids[name]}")
                    )
                ).text
                for name in ("Old Town", "Port Merrow")
            }
        listed = pages["Old Town"].partition("Borders on")[2].partition("</ul>")[0]
        assert re.findall(r">([^<]+)</a>", listed) == ["Harbour ward", "Pinewood"]
        assert "Borders on" not in pages["Port Merrow"]
