"""Whoever only looks leaves nothing behind: the next episode sees what a fresh replica shows."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from random import Random
from typing import Final

import pytest
from support.sites.crawling import cookies_of, starts, unlike, visitor
from support.sites.every_site import EVERY_SITE, own_replica

from arena_core.cookie import Cookie
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.reset.ladder import reset_replica, strategies_for
from orchestrator.sandbox.reset.replica import Replica
from orchestrator.sandbox.reset.watch import Watch
from sites.manifest import Site

pytestmark = [pytest.mark.docker]

FEW: Final = 6
MANY: Final = 120
SEED: Final = os.environ.get("ARENA_TEST_SEED", "looking")

Shown = Mapping[str, Sequence[str]]


@EVERY_SITE
async def test_what_one_role_looked_at_is_nothing_to_the_next(engine: Engine, site: Site) -> None:
    assert await differences(engine, site, pages=FEW) == []


@pytest.mark.slow(minutes=12)
@EVERY_SITE
async def test_many_pages_that_one_role_looked_at_are_nothing_to_the_next(
    engine: Engine, site: Site
) -> None:
    assert await differences(engine, site, pages=MANY) == []


async def differences(engine: Engine, site: Site, *, pages: int) -> list[str]:
    """Crawl as one role, reset as if nobody had written, look as the next role; so for each role.

    Returns what that one sees and would not see on a fresh replica; each line names the seed.
    """
    roles: Sequence[str | None] = tuple(site.roles) or (None,)
    found: list[str] = []
    async with AsyncExitStack() as replicas:
        watch = Watch.over(engine, await replicas.enter_async_context(own_replica(engine, site)))
        replicas.push_async_callback(watch.close)
        for number, role in enumerate(roles):
            before = roles[number - 1]
            cookies = await logged_in(engine, watch, before)
            seen = await crawled(watch.replica, before, cookies, pages)
            assert len(seen) > 1 or not site.stateful, f"{before} found {seen} alone"
            await as_golden(engine, watch)
            async with own_replica(engine, site) as fresh:
                here, there = await asyncio.gather(
                    shown(watch.replica, role, seen), shown(fresh, role, seen)
                )
                other = [path for path in seen if unlike(here[path], there[path])]
                again = await shown(fresh, role, other)
            found += [
                f"seed {SEED}: {role} after {before}: {path}: {difference}"
                for path in other
                if (difference := unlike(here[path], there[path], again[path]))
            ]
    return found


async def logged_in(engine: Engine, watch: Watch, role: str | None) -> Sequence[Cookie]:
    """Log a role in as a slot does before an episode: what is golden after it is the baseline.

    Without one no reset would ever be `clean`, and this would test nothing but the rewind.
    """
    if not watch.replica.site.stateful:
        return await cookies_of(watch.replica, role)
    await reset_replica(engine, watch, strategies=strategies_for("rewind"))
    cookies = await cookies_of(watch.replica, role)
    state = await watch.prove(own_writes=True)
    assert state.digest == watch.replica.golden
    assert watch.golden is not None
    return cookies


async def crawled(
    replica: Replica, role: str | None, cookies: Sequence[Cookie], pages: int
) -> tuple[str, ...]:
    """Look at so many pages as a role."""
    dice = Random(f"{SEED}/{replica.site.name}/{role}")
    with visitor(replica, role, cookies) as one:
        return await asyncio.to_thread(one.crawl, starts(replica, role), dice, pages)


async def as_golden(engine: Engine, watch: Watch) -> None:
    """Reset as after an episode in which no request was seen that may write; in place."""
    if watch.replica.site.stateful:
        strategies = strategies_for("auto")[:-1]  # a new container would be another replica
        reset = await reset_replica(engine, watch, strategies=strategies, wrote=False)
        assert reset.receipt.proven


async def shown(replica: Replica, role: str | None, paths: Sequence[str]) -> Shown:
    """Return what pages show to a role that has just logged in."""
    with visitor(replica, role, await cookies_of(replica, role)) as one:
        return await asyncio.to_thread(lambda: {path: one.text_of(path) for path in paths})
