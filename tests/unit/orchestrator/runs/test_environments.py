"""What one episode is played in: leased for it alone, and given back behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from support.worlds.fake_world import ATLAS, browsing_task

from arena_core.worlds import World
from orchestrator.browser.process.chromium import BrowserOptions
from orchestrator.runs.environments import BrowserKeeper, Environments
from orchestrator.runs.open_world import OpenWorld, OriginLogins
from orchestrator.runs.starts import Starts
from orchestrator.sandbox.pool.slot import Slot


class Pool:
    """A pool of replicas that writes down who leases what."""

    def __init__(self) -> None:
        self.log: list[str] = []

    @asynccontextmanager
    async def lease(
        self,
        sites: Collection[str],
        *,
        starts: Mapping[str, object],
        since: Mapping[str, object],
        hold_s: float | None,
    ) -> AsyncIterator[Slot]:
        assert not starts
        assert not since
        self.log.append(f"lease {' '.join(sites)} for {hold_s} s")
        try:
            yield Slot(3, {})
        finally:
            self.log.append("given back")


class Browsers:
    """A browser that is there when it is needed."""

    def __init__(self) -> None:
        self.given = 0

    async def browser(self) -> object:
        self.given += 1
        return self


def opened(world: World, pool: Pool) -> OpenWorld:
    nobody: Any = None
    slots: Any = pool
    return OpenWorld(
        registry=ATLAS,
        upstreams=ATLAS.upstreams(["wiki", "shop", "forum"], world),
        browser=nobody,
        slot_pool=slots,
        starts=Starts(nobody, ATLAS, slots, print),
        logins=OriginLogins(),
        resolves=(),
    )


def environments(world: OpenWorld) -> Environments:
    browsers: Any = Browsers()
    return Environments(world, browsers, world.logins.fresh())


async def test_replicas_of_the_tasks_sites_are_leased_and_given_back_however_it_ends() -> None:
    pool = Pool()

    async def crash() -> None:
        async with environments(opened(World.OFFLINE, pool)).of_task(browsing_task()) as one:
            assert list(one.upstreams.by_site) == ["wiki"]
            assert pool.log == ["lease wiki for None s"]
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await crash()
    assert pool.log[-1] == "given back"


async def test_a_task_whose_sites_are_all_visited_live_leases_nothing() -> None:
    pool = Pool()
    async with environments(opened(World.ONLINE, pool)).of_task(browsing_task()) as one:
        assert one.replicas == {}
        assert one.lease.receipts == ()
        assert await one.lease.lost() is None
    assert pool.log == []


async def test_a_driver_may_be_held_to_a_time() -> None:
    pool = Pool()
    async with environments(opened(World.OFFLINE, pool)).of_task(browsing_task(), hold_s=9):
        pass
    assert pool.log == ["lease wiki for 9 s", "given back"]


async def test_a_login_at_a_live_origin_is_shared_by_no_two_workers() -> None:
    world = opened(World.ONLINE, Pool())
    world.logins.jars["shop", "customer"] = ()
    async with (
        Environments.of(world, lambda _: None) as first,
        Environments.of(world, lambda _: None) as second,
    ):
        assert first._logins.jars == {}
        assert first._logins.jars is not second._logins.jars


async def test_runs_side_by_side_in_other_browsers_share_the_world_and_its_logins() -> None:
    usual = BrowserOptions(trusted_spki="key")
    world = replace(opened(World.ONLINE, Pool()), browser=usual)
    made = Environments(world, BrowserKeeper(usual, lambda _: None), world.logins.fresh())

    other = made.in_browser(BrowserOptions(full=True))

    assert made.in_browser(BrowserOptions()) is made
    assert other is made.in_browser(BrowserOptions(full=True))
    assert other.world.browser == BrowserOptions(full=True, trusted_spki="key")
    assert other.world.slot_pool is made.world.slot_pool
    assert other._logins is made._logins
    await made.close()
