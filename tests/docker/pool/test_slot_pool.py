from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any

import pytest
from quick_cases import SLOW
from support.sites.kiosk_site import OWNER
from support.sites.slot_pools import until_ready

from arena_core.cookie import Cookie
from arena_core.errors import DatabaseError, ImageError, UnknownNameError, UsageError
from evaluators.changes import IgnoredChanges, RowChange
from orchestrator.episode.snapshot import moved_between
from orchestrator.sandbox.delta.delta import Delta, delta_of
from orchestrator.sandbox.engine.containers import Labels
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.engine.origin_client import origin_session
from orchestrator.sandbox.logins import replica_client
from orchestrator.sandbox.memory import memory_of
from orchestrator.sandbox.pool.pool_context import Phase, PoolEvent
from orchestrator.sandbox.pool.slot_pool import SlotPool
from orchestrator.sandbox.reset.replica import Replica
from sites.registry import SiteRegistry, load_registry

pytestmark = pytest.mark.docker


async def post(replica: Replica, path: str, **fields: str) -> None:
    client = replica_client(replica.site, replica.endpoint)

    def send() -> None:
        with origin_session(client) as session:
            session.post(client.url(path), data=fields, timeout=10).raise_for_status()

    await asyncio.to_thread(send)


async def test_a_lease_after_a_written_one_is_golden_again_in_another_container(
    engine: Engine, registry: SiteRegistry
) -> None:
    async with SlotPool.open(engine, registry, ["kiosk"], OWNER, spares=0) as slot_pool:
        async with slot_pool.lease(["kiosk"]) as slot:
            first = slot.replicas["kiosk"]
            assert [receipt.strategy for receipt in slot.receipts] == ["start"]
            await post(first, "/note", text="a mark")
            slot.wrote("kiosk")
        async with slot_pool.lease(["kiosk"]) as slot:
            (receipt,) = slot.receipts
            assert (receipt.strategy, receipt.before) == ("recreate", None)
            assert receipt.proven
            assert slot.replicas["kiosk"].container.id != first.container.id
            assert await slot.query("kiosk", "SELECT COUNT(*) FROM note") == ((2,),)
        await slot_pool.up()
    assert await engine.containers({Labels.OWNER: OWNER}) == ()


async def test_a_replica_that_nobody_wrote_to_is_kept_when_its_fingerprint_holds(
    engine: Engine, registry: SiteRegistry
) -> None:
    async with SlotPool.open(engine, registry, ["kiosk"], OWNER, spares=0) as slot_pool:
        async with slot_pool.lease(["kiosk"]) as slot:
            first = slot.replicas["kiosk"]
            await slot.cookies("kiosk", "ada")
        async with slot_pool.lease(["kiosk"]) as slot:
            assert [receipt.strategy for receipt in slot.receipts] == ["clean"]
            assert slot.replicas["kiosk"].container.id == first.container.id


@SLOW
async def test_writes_that_nobody_reported_are_caught(
    engine: Engine, registry: SiteRegistry
) -> None:
    async with SlotPool.open(engine, registry, ["kiosk"], OWNER, spares=0) as slot_pool:
        async with slot_pool.lease(["kiosk"]) as slot:
            await post(slot.replicas["kiosk"], "/note", text="unseen")
        async with slot_pool.lease(["kiosk"]) as slot:
            (receipt,) = slot.receipts
            assert (receipt.strategy, receipt.proven) == ("recreate", True)
            assert "clean: the database was written to" in receipt.fallbacks[0]
            await post(slot.replicas["kiosk"], "/upload", name="new.txt", text="unseen")
        async with slot_pool.lease(["kiosk"]) as slot:
            (receipt,) = slot.receipts
            assert (receipt.strategy, receipt.proven) == ("recreate", True)
            assert receipt.differences == ("file /srv/kiosk/files/new.txt: new",)


@SLOW
async def test_a_change_while_nobody_holds_the_replica_is_never_handed_out(
    engine: Engine, registry: SiteRegistry
) -> None:
    async with SlotPool.open(engine, registry, ["kiosk"], OWNER, spares=0) as slot_pool:
        async with slot_pool.lease(["kiosk"]) as slot:
            replica = slot.replicas["kiosk"]
        await until_ready(slot_pool)
        await post(replica, "/note", text="from outside")
        async with slot_pool.lease(["kiosk"]) as slot:
            assert await slot.query("kiosk", "SELECT COUNT(*) FROM note") == ((2,),)


async def test_a_container_killed_during_a_lease_is_named_and_replaced(
    engine: Engine, registry: SiteRegistry
) -> None:
    async with SlotPool.open(engine, registry, ["kiosk"], OWNER, spares=0) as slot_pool:
        async with slot_pool.lease(["kiosk"]) as slot:
            assert await slot.lost() is None
            dead = slot.replicas["kiosk"].container
            await engine.execute(dead.id, ("bash", "-c", "kill -9 $(cat /tmp/db.pid)"))
            async with asyncio.timeout(60):
                await engine.wait_exit(dead.id)
            lost = await slot.lost()
            assert lost is not None
            assert "exit code 1" in lost
            assert "a part of the kiosk has ended" in lost
        async with slot_pool.lease(["kiosk"]) as slot:
            assert slot.replicas["kiosk"].container.id != dead.id
            assert await slot.query("kiosk", "SELECT COUNT(*) FROM note") == ((2,),)


@SLOW
async def test_a_container_that_dies_between_leases_is_replaced_too(
    engine: Engine, registry: SiteRegistry
) -> None:
    events: list[PoolEvent] = []
    async with SlotPool.open(
        engine, registry, ["kiosk"], OWNER, spares=0, on_event=events.append
    ) as slot_pool:
        (ready,) = await slot_pool.up()
        await engine.remove(ready.replica.container.id)
        async with slot_pool.lease(["kiosk"]) as slot:
            assert slot.replicas["kiosk"].container.id != ready.replica.container.id
    assert Phase.LOST in [event.phase for event in events]


@SLOW
async def test_a_cancelled_episode_returns_its_slot(engine: Engine, registry: SiteRegistry) -> None:
    async with SlotPool.open(engine, registry, ["kiosk"], OWNER, spares=0) as slot_pool:
        held = asyncio.Event()

        async def episode() -> None:
            async with slot_pool.lease(["kiosk"]):
                held.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(episode())
        async with asyncio.timeout(60):
            await held.wait()
            task.cancel()
            await asyncio.wait([task])
            async with slot_pool.lease(["kiosk"]) as slot:
                assert slot.index == 0


async def test_a_spare_is_handed_out_while_the_used_replica_is_renewed(
    engine: Engine, registry: SiteRegistry
) -> None:
    events: list[PoolEvent] = []
    async with SlotPool.open(
        engine, registry, ["kiosk"], OWNER, spares=1, strategy="swap", on_event=events.append
    ) as slot_pool:
        async with slot_pool.lease(["kiosk"]) as slot:
            (started,) = slot.receipts
        await until_ready(slot_pool)
        async with slot_pool.lease(["kiosk"]) as slot:
            await post(slot.replicas["kiosk"], "/note", text="a mark")
            slot.wrote("kiosk")
            second = slot.replicas["kiosk"].container.id
        async with slot_pool.lease(["kiosk"]) as slot:
            (receipt,) = slot.receipts
            assert (receipt.swapped, receipt.proven) == (True, True)
            assert receipt.waited < started.seconds  # as it would without a spare
            assert slot.replicas["kiosk"].container.id != second
            assert await slot.query("kiosk", "SELECT COUNT(*) FROM note") == ((2,),)
        await until_ready(slot_pool)
        assert len(await engine.containers({Labels.OWNER: OWNER})) == 2
    assert await engine.containers({Labels.OWNER: OWNER}) == ()
    assert Phase.FAILED not in {event.phase for event in events}


@SLOW
async def test_what_a_forced_strategy_cannot_prove_is_replaced_and_the_receipt_says_so(
    engine: Engine, registry: SiteRegistry
) -> None:
    async with SlotPool.open(
        engine, registry, ["kiosk"], OWNER, spares=0, strategy="clean"
    ) as slot_pool:
        async with slot_pool.lease(["kiosk"]) as slot:
            await post(slot.replicas["kiosk"], "/note", text="a mark")
            before = slot.replicas["kiosk"].container.id
        async with slot_pool.lease(["kiosk"]) as slot:
            (receipt,) = slot.receipts
            assert (receipt.strategy, receipt.proven) == ("start", True)
            assert "the database was written to" in receipt.fallbacks[0]
            assert slot.replicas["kiosk"].container.id != before
            assert receipt.waited > 0
    assert await engine.containers({Labels.OWNER: OWNER}) == ()


@SLOW
async def test_a_role_that_was_asked_for_is_logged_in_before_the_next_lease(
    engine: Engine, registry: SiteRegistry
) -> None:
    async with SlotPool.open(engine, registry, ["kiosk"], OWNER, spares=1) as slot_pool:
        async with slot_pool.lease(["kiosk"]) as slot:
            await slot.cookies("kiosk", "ada")
            await post(slot.replicas["kiosk"], "/note", text="a mark")
            slot.wrote("kiosk")
            first = slot.replicas["kiosk"].container.name
        await until_ready(slot_pool)
        while True:  # the spare was started before anybody asked for a role
            async with slot_pool.lease(["kiosk"]) as slot:
                minted = slot._leased["kiosk"].ready.cookies
                if minted:
                    break
            await until_ready(slot_pool)
        assert set(minted) == {"ada"}
        assert slot.replicas["kiosk"].container.name != first
        assert (await slot.cookies("kiosk", "ada")) == minted["ada"]


@SLOW
async def test_a_fleet_that_is_cut_short_while_it_renews_leaves_no_container(
    engine: Engine, registry: SiteRegistry
) -> None:
    renewing = asyncio.Event()

    def hear(event: PoolEvent) -> None:
        if event.phase is Phase.RESETTING:
            renewing.set()

    async def work() -> None:
        async with SlotPool.open(
            engine, registry, ["kiosk"], OWNER, workers=2, spares=1, on_event=hear
        ) as slot_pool:
            async with slot_pool.lease(["kiosk"]) as slot:
                slot.wrote("kiosk")
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    async with asyncio.timeout(60):
        await renewing.wait()
        task.cancel()
        await asyncio.wait([task])
    assert await engine.containers({Labels.OWNER: OWNER}) == ()


async def test_more_workers_than_the_budget_holds_are_refused(
    engine: Engine, registry: SiteRegistry
) -> None:
    with pytest.raises(UsageError, match=r"3 workers need .* and the budget is 64 MiB"):
        async with SlotPool.open(
            engine, registry, ["kiosk"], OWNER, workers=3, memory_bytes=64 << 20
        ):
            pass


@SLOW
async def test_a_fleet_that_is_cut_short_while_it_starts_leaves_no_container(
    engine: Engine, registry: SiteRegistry
) -> None:
    starting = asyncio.Event()

    def hear(event: PoolEvent) -> None:
        if event.phase is Phase.STARTING:
            starting.set()

    async def work() -> None:
        async with SlotPool.open(
            engine, registry, ["kiosk"], OWNER, spares=0, on_event=hear
        ) as slot_pool:
            await slot_pool.up()

    task = asyncio.create_task(work())
    async with asyncio.timeout(60):
        await starting.wait()
        task.cancel()
        await asyncio.wait([task])
    assert await engine.containers({Labels.OWNER: OWNER}) == ()


async def test_two_slots_never_see_each_others_writes(
    engine: Engine, registry: SiteRegistry
) -> None:
    async with (
        SlotPool.open(engine, registry, ["kiosk"], OWNER, workers=2, spares=0) as slot_pool,
        slot_pool.lease(["kiosk"]) as one,
        slot_pool.lease(["kiosk"]) as other,
    ):
        await post(one.replicas["kiosk"], "/note", text="mine")
        assert await one.query("kiosk", "SELECT COUNT(*) FROM note") == ((3,),)
        assert await other.query("kiosk", "SELECT COUNT(*) FROM note") == ((2,),)


@SLOW
async def test_a_site_without_state_is_one_container_for_all_slots(
    engine: Engine, registry: SiteRegistry
) -> None:
    reading = registry.site("kiosk").model_copy(update={"stateful": False})
    async with (
        SlotPool.open(
            engine, SiteRegistry({"kiosk": reading}), ["kiosk"], OWNER, workers=2, spares=0
        ) as slot_pool,
        slot_pool.lease(["kiosk"]) as one,
        slot_pool.lease(["kiosk"]) as other,
    ):
        assert one.replicas["kiosk"].container.id == other.replicas["kiosk"].container.id
        assert one.receipts == ()


@SLOW
async def test_kept_replicas_are_found_again_and_closing_another_fleet_leaves_them(
    engine: Engine, registry: SiteRegistry
) -> None:
    async with SlotPool.open(engine, registry, ["kiosk"], OWNER, spares=0, keep=True) as slot_pool:
        (first,) = await slot_pool.up()
    async with SlotPool.open(engine, registry, ["kiosk"], OWNER, spares=0) as another:
        await another.up()
        assert len(await engine.containers({Labels.OWNER: OWNER})) == 2
    assert len(await engine.containers({Labels.OWNER: OWNER})) == 1
    async with SlotPool.open(engine, registry, ["kiosk"], OWNER, spares=0, keep=True) as slot_pool:
        (again,) = await slot_pool.up()
    assert again.replica.container.id == first.replica.container.id
    assert len(await engine.containers({Labels.OWNER: OWNER})) == 1


async def test_a_missing_image_says_how_to_make_it(engine: Engine, registry: SiteRegistry) -> None:
    site = registry.site("kiosk")
    image = site.image.model_copy(update={"tag": "arena-test/no-such:1"})
    odd = SiteRegistry({"kiosk": site.model_copy(update={"image": image})})
    async with SlotPool.open(engine, odd, ["kiosk"], OWNER, spares=0) as slot_pool:
        with pytest.raises(ImageError, match="no image arena-test/no-such:1") as caught:
            await slot_pool.up()
    assert caught.value.hint == "arena build kiosk"


async def test_queries_only_read_and_say_what_failed(
    engine: Engine, registry: SiteRegistry
) -> None:
    async with (
        SlotPool.open(engine, registry, ["kiosk"], OWNER, spares=0) as slot_pool,
        slot_pool.lease(["kiosk"]) as slot,
    ):
        for sql in ("DELETE FROM note", "SELECT 1; DELETE FROM note", "SELECT * FROM nowhere"):
            with pytest.raises(DatabaseError, match="query failed"):
                await slot.query("kiosk", sql)
        assert await slot.query("kiosk", "SELECT COUNT(*) FROM note") == ((2,),)
        with pytest.raises(UnknownNameError, match="no replica of site 'wiki'; it holds: kiosk"):
            await slot.query("wiki", "SELECT 1")


@SLOW
async def test_the_control_group_and_the_engine_agree_on_memory(
    engine: Engine, registry: SiteRegistry
) -> None:
    async with SlotPool.open(engine, registry, ["kiosk"], OWNER, spares=0) as slot_pool:
        (ready,) = await slot_pool.up()
        container_id = ready.replica.container.id
        ours = await memory_of(engine, container_id)
        assert ours == pytest.approx(await engine.memory_bytes(container_id), rel=0.2)


@SLOW
async def test_where_nothing_moved_nothing_is_read_to_say_that_nothing_changed(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    async def counted(engine: Engine, replica: Replica, **options: Any) -> Delta:
        read.append(replica.site.name)
        return await delta_of(engine, replica, **options)

    monkeypatch.setattr("orchestrator.sandbox.delta.delta.delta_of", counted)
    async with (
        SlotPool.open(engine, load_registry(), ["forum"], OWNER, spares=0) as slot_pool,
        slot_pool.lease(["forum"]) as slot,
    ):
        assert await slot.changes("forum", IgnoredChanges()) == ()
        assert read == []
        before = await slot.marks()
        await slot.query("forum", "SELECT count(*) FROM waypost_forum")
        cookies = await slot.cookies("forum", "member")
        assert moved_between(before, await slot.marks()) == {}
        assert await slot.changes("forum", IgnoredChanges()) == ()
        assert read == []
        await asyncio.to_thread(subscribe, slot.replicas["forum"], cookies)
        moved = moved_between(before, await slot.marks())
        assert moved["forum"].startswith("the database was written to")
        changed = await slot.changes("forum", IgnoredChanges())
        tables = {change.table for change in changed if isinstance(change, RowChange)}
        assert tables == {"waypost_forum", "waypost_subscription"}
        assert read == ["forum"]


def subscribe(replica: Replica, cookies: Sequence[Cookie]) -> None:
    """Subscribe to a forum, as its page's own button does."""
    client = replica_client(replica.site, replica.endpoint)
    with origin_session(client) as session:
        for cookie in cookies:
            session.cookies.set(cookie.name, cookie.value)
        page = session.get(client.url("/f/vinyl"), timeout=10).text
        [token, *_] = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
        sent = {"csrfmiddlewaretoken": token}
        session.post(client.url("/f/vinyl/subscribe"), data=sent, timeout=10).raise_for_status()
