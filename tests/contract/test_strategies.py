"""Whatever a person changed in a browser, every strategy leads to golden; ids go on as fresh."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Final

import pytest
from playwright.async_api import async_playwright
from support.sites.every_site import ATLAS, EVERY_SITE, OWNER, Shared, every, own_replica
from support.sites.site_changes import CHANGES, Change

from arena_core.cookie import Cookie
from arena_core.errors import ResetError
from orchestrator.authoring.site_check.container import broken_beginning, broken_moment
from orchestrator.gateway.policy import Policy, Route, SocketAddress
from orchestrator.gateway.server import Gateway
from orchestrator.sandbox.check_queries import ask
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.logins import login, replica_client, role_of
from orchestrator.sandbox.pool.slot_pool import SlotPool
from orchestrator.sandbox.reset.fingerprint import take_fingerprint
from orchestrator.sandbox.reset.ladder import LADDER, reset_replica, strategies_for
from orchestrator.sandbox.reset.replica import Replica
from orchestrator.sandbox.reset.strategies import Strategy
from orchestrator.sandbox.reset.watch import Watch
from sites.manifest import Site

pytestmark = [pytest.mark.docker, pytest.mark.browser]

CHANGED: Final = every(lambda site: site.name in CHANGES)
ARGUMENTS: Final = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")


def test_every_site_that_holds_state_has_a_change_to_be_undone() -> None:
    with_state = {site.name for site in ATLAS.sites.values() if site.stateful}
    assert with_state == set(CHANGES)


@asynccontextmanager
async def gateway_to(replica: Replica) -> AsyncIterator[Gateway]:
    upstream = SocketAddress(replica.endpoint.host, replica.endpoint.port)
    site = replica.site
    route = Route(site=site.name, live=False, host=site.host, port=80, connect_to=upstream)
    async with Gateway.open(Policy((route,))) as gateway:
        yield gateway


async def make(change: Change, replica: Replica) -> tuple[object, datetime]:
    """Make a change in a browser; return the id that its row was given, and the moment it bears."""
    site = replica.site
    client = replica_client(site, replica.endpoint)
    cookies = await login(site, change.role, role_of(site, change.role), client)
    async with async_playwright() as playwright, gateway_to(replica) as gateway:
        browser = await playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=ARGUMENTS
        )
        context = await browser.new_context(proxy={"server": gateway.url}, timezone_id="UTC")
        await context.add_cookies([_cookie(one) for one in cookies])  # type: ignore[misc]
        await change.make(await context.new_page(), client.origin)
        await browser.close()
    ((number, moment),) = (await ask(replica, change.newest)).rows
    return number, moment if isinstance(moment, datetime) else datetime.fromisoformat(str(moment))


def _cookie(one: Cookie) -> dict[str, str]:
    return {"name": one.name, "value": one.value, "domain": one.domain, "path": one.path}


async def is_golden(engine: Engine, replica: Replica) -> bool:
    found = await take_fingerprint(engine, replica.site, replica.container)
    return found.digest == replica.golden


@CHANGED
async def test_a_change_made_in_a_browser_is_undone_by_every_strategy_and_ids_go_on_as_from_fresh(
    engine: Engine, site: Site
) -> None:
    change = CHANGES[site.name]
    async with own_replica(engine, site) as replica:
        watch = Watch.over(engine, replica, new=True)
        strategies = [strategy for strategy in LADDER[1:] if strategy.applies(watch, wrote=True)]
        fresh, moment = await make(change, replica)
        assert broken_moment(replica, moment) == ()
        try:
            for strategy in strategies:
                watch = await undone(engine, watch, strategy)
                number, _ = await make(change, watch.replica)
                assert number == fresh, f"after {strategy.name}"
        finally:
            await watch.close()
            await engine.remove(watch.replica.container.id)


async def undone(engine: Engine, watch: Watch, strategy: Strategy) -> Watch:
    """Reset a changed replica by one strategy; `clean` must have refused to call it clean."""
    assert not await is_golden(engine, watch.replica)
    with pytest.raises(ResetError, match="not clean"):
        await reset_replica(engine, watch, strategies=strategies_for("clean"), wrote=False)
    reset = await reset_replica(engine, watch, strategies=[strategy], wrote=True)
    assert (reset.receipt.strategy, reset.receipt.proven) == (strategy.name, True)
    assert await is_golden(engine, reset.replica)
    assert await broken_beginning(reset.replica) == ()
    return reset.watch


@CHANGED
async def test_what_is_swapped_in_after_a_change_is_golden_and_another_replica(
    engine: Engine, site: Site
) -> None:
    change, seen = CHANGES[site.name], list[tuple[str, object]]()
    async with SlotPool.open(
        engine, ATLAS, [site.name], OWNER, workers=1, spares=1, strategy="swap"
    ) as slot_pool:
        for _ in range(2):
            async with slot_pool.lease([site.name]) as slot:
                replica = slot.replicas[site.name]
                assert await is_golden(engine, replica)
                number, _ = await make(change, replica)
                slot.wrote(site.name)
                seen.append((replica.container.id, number))
    (first, fresh), (second, number) = seen
    assert first != second
    assert number == fresh


@EVERY_SITE
async def test_a_replica_that_was_only_read_is_clean(
    engine: Engine, shared: Shared, site: Site
) -> None:
    replica = await shared.of(engine, site)
    watch = Watch.over(engine, replica, new=True)
    reset = await reset_replica(engine, watch, strategies=strategies_for("clean"), wrote=False)
    await reset.watch.close()
    assert reset.receipt.proven
    assert reset.replica.container.id == replica.container.id
    assert await broken_beginning(replica) == ()


@every(lambda site: not site.stateful)
async def test_a_site_without_state_is_recreated_as_it_was(engine: Engine, site: Site) -> None:
    async with own_replica(engine, site) as replica:
        watch = Watch.over(engine, replica, new=True)
        reset = await reset_replica(engine, watch, strategies=_recreate(), wrote=True)
        await reset.watch.close()
        try:
            assert reset.receipt.proven
            assert await is_golden(engine, reset.replica)
        finally:
            await engine.remove(reset.replica.container.id)


def _recreate() -> Sequence[Strategy]:
    return strategies_for("recreate")
