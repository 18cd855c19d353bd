"""The state's volume is full, or too small from the beginning."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

import pytest
from mutations.shop import CUSTOMER, write_review
from mutations.subject import Accounts, Subject
from quick_cases import SLOW
from sabotage.engine_cli import containers_of

from arena_core.errors import SiteGoneError
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.pool.placement import place
from orchestrator.sandbox.reset.ladder import reset_replica
from orchestrator.sandbox.reset.replica import Replica, start_replica
from orchestrator.sandbox.reset.watch import Watch
from sites.manifest import Site

pytestmark = pytest.mark.docker

Prove = Callable[[Replica], Awaitable[None]]

# The pristine state takes some 127 MB; there is a little room beyond it.
ENOUGH_MB: Final = 192
TOO_SMALL_MB: Final = 64
_FILL: Final = (
    'mkdir -p "$1/deep/er"; cat /dev/zero > "$1/deep/er/zeros" || true; df "$1" | tail -1'
)


def bounded(site: Site, memory_mb: int) -> Site:
    """Return a site whose state is kept in a volume of that size."""
    assert site.state is not None
    return site.model_copy(update={"state": site.state.model_copy(update={"memory_mb": memory_mb})})


@asynccontextmanager
async def running(engine: Engine, site: Site, owner: str) -> AsyncIterator[Watch]:
    """Start a replica and prove it golden; whatever takes its place is removed at the end."""
    replica = await start_replica(engine, await place(engine, site, owner=owner, slot=0))
    watch = Watch.over(engine, replica)
    try:
        assert (await watch.prove()).digest == replica.golden
        yield watch
    finally:
        await watch.close()
        for container_id in containers_of(owner):
            await engine.remove(container_id)


async def fill(subject: Subject) -> None:
    """Write a file into the stateful folder until nothing fits any more."""
    left = await subject.shell(_FILL, subject.folder)
    assert left.split()[3] == "0", left


async def test_a_full_volume_is_rewound_in_its_container(
    engine: Engine, shop: Site, owner: str, accounts: Accounts, require_golden: Prove
) -> None:
    async with running(engine, bounded(shop, ENOUGH_MB), owner) as watch:
        subject = Subject(engine, watch.replica, accounts)
        await subject.http(CUSTOMER, lambda visitor: write_review(visitor, 54, "while it went"))
        await fill(subject)
        done = await reset_replica(engine, watch, wrote=True)
        assert (done.receipt.strategy, done.receipt.fallbacks) == ("rewind", ())
        await require_golden(done.replica)
        # Room again: the next episode can write.
        await subject.http(CUSTOMER, lambda visitor: write_review(visitor, 54, "and it goes"))


@SLOW
async def test_what_fills_the_volume_goes_before_what_is_missing_is_put_back(
    engine: Engine, shop: Site, owner: str, accounts: Accounts, require_golden: Prove
) -> None:
    """The room of a table that was emptied is taken by files: the order of restoring matters."""
    async with running(engine, bounded(shop, ENOUGH_MB), owner) as watch:
        subject = Subject(engine, watch.replica, accounts)
        await subject.sql(
            "SET FOREIGN_KEY_CHECKS = 0",
            "TRUNCATE TABLE catalogue_product",
            "TRUNCATE TABLE catalogue_productattributevalue",
        )
        await fill(subject)
        done = await reset_replica(engine, watch, wrote=True)
        assert (done.receipt.strategy, done.receipt.fallbacks) == ("rewind", ())
        await require_golden(done.replica)


@SLOW
async def test_a_volume_too_small_for_the_state_is_one_clear_line(
    engine: Engine, shop: Site, owner: str
) -> None:
    placement = await place(engine, bounded(shop, TOO_SMALL_MB), owner=owner, slot=0)
    with pytest.raises(SiteGoneError, match="exited with code 1 before it served") as told:
        await start_replica(engine, placement)
    assert "arena supervisor: the state cannot be restored" in told.value.message
    assert "No space left on device" in told.value.message
    assert "'/srv/shop/state/" in told.value.message


@SLOW
async def test_a_state_that_outgrows_its_room_on_the_disk_ends_its_container_and_is_recreated(
    engine: Engine, shop: Site, owner: str, accounts: Accounts, require_golden: Prove
) -> None:
    """A volume on the disk has no size of its own: the supervisor holds the state to its room."""
    async with running(engine, shop, owner) as watch:
        lost = watch.replica.container.id
        subject = Subject(engine, watch.replica, accounts)
        # Blocks that are taken and not written: a gigabyte in no time.
        await subject.shell('fallocate -l 1400M "$1/large"', subject.folder)
        async with asyncio.timeout(20):
            assert await engine.wait_exit(lost) == 1
        assert "MB of the 1024 MB it may take" in await engine.logs(lost, tail=5)
        done = await reset_replica(engine, watch, wrote=True)
        await done.watch.close()
        assert done.receipt.strategy == "recreate"
        assert done.replica.container.id != lost
        await require_golden(done.replica)
        assert lost not in containers_of(owner)
