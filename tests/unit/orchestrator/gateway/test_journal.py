from __future__ import annotations

import asyncio

from orchestrator.gateway.journal import GatewayJournal


def test_a_write_counts_from_its_beginning_and_an_exchange_from_its_end() -> None:
    journal = GatewayJournal()
    mark = journal.mark()

    pending = journal.begin("POST", "http://shop.arena.test/", site="shop", live=False)
    pending.mark_write()
    assert (journal.writes("shop"), journal.since(mark), journal.in_flight) == (1, (), 1)

    pending.finish(200)
    pending.finish(500)
    (exchange,) = journal.since(mark)
    assert (exchange.status, exchange.may_write, journal.in_flight) == (200, True, 0)
    assert journal.since(journal.mark()) == ()
    assert journal.writes("wiki") == 0


async def test_whoever_waits_learns_of_each_change() -> None:
    journal = GatewayJournal()
    changed = asyncio.create_task(journal.changed())
    await asyncio.sleep(0)

    pending = journal.begin("GET", "http://shop.arena.test/", site="shop", live=False)
    await asyncio.wait_for(changed, 1)

    assert not await journal.quiet(0.01)
    quiet = asyncio.create_task(journal.quiet(5))
    await asyncio.sleep(0)
    pending.finish(200)
    assert await quiet
