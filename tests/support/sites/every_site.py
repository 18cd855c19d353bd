"""The sites that travel with Arena, as parameters of tests, and one replica of each to look at."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

import pytest
from _pytest.mark import ParameterSet
from quick_cases import SLOW

from orchestrator.sandbox.engine.containers import Container
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.pool.placement import place
from orchestrator.sandbox.reset.replica import Placement, Replica, as_replica, start_replica
from sites.manifest import Site
from sites.registry import load_registry

ATLAS: Final = load_registry()
# Without those whose image there was no time to build (tests/shards.py).
HERE: Final = tuple(
    name for name in ATLAS.sites if name not in os.environ.get("ARENA_TESTS_WITHOUT", "").split()
)
OWNER: Final = f"contract-{os.getpid()}"
# One with a database and a supervised state, one without either: those that start soonest. What
# `make test` holds them to, `make test-all` holds every site to.
QUICK_SITES: Final = frozenset({"tools", "wiki"})


def of_site(site: Site, *more: object) -> ParameterSet:
    """Return one case of a site; its id begins with the site, by which workers share the work."""
    marks = [] if site.name in QUICK_SITES else [SLOW]
    return pytest.param(site, *more, marks=marks, id="-".join([site.name, *map(str, more)]))


def every(holds: Callable[[Site], object]) -> pytest.MarkDecorator:
    """Return the mark for a test of each site for which something holds."""
    chosen = [of_site(site) for site in ATLAS.sites.values() if holds(site)]
    return pytest.mark.parametrize("site", chosen)


EVERY_SITE: Final = every(lambda _: True)


def every_role(
    holds: Callable[[Site, str], object] = lambda _site, _role: True,
) -> pytest.MarkDecorator:
    """Return the mark for a test of each role for which something holds."""
    return pytest.mark.parametrize(
        ("site", "role"),
        [
            of_site(site, role)
            for site in ATLAS.sites.values()
            for role in site.roles
            if holds(site, role)
        ],
    )


async def placed(engine: Engine, site: Site) -> Placement:
    """Return where a test's replica goes: nothing else has this owner."""
    return await place(engine, site, owner=OWNER, slot=0)


@asynccontextmanager
async def own_replica(engine: Engine, site: Site) -> AsyncIterator[Replica]:
    """Start a replica for one test alone, which may break it."""
    replica = await start_replica(engine, await placed(engine, site))
    try:
        yield replica
    finally:
        await engine.remove(replica.container.id)


class Shared:
    """One replica of each site, started when it is first wanted, for tests that only look."""

    def __init__(self) -> None:
        self._running: dict[str, Container] = {}

    async def of(self, engine: Engine, site: Site) -> Replica:
        """Return the site's replica."""
        placement = await placed(engine, site)
        if site.name not in self._running:
            self._running[site.name] = (await start_replica(engine, placement)).container
        return as_replica(placement, self._running[site.name])

    def end(self) -> None:
        """Remove them all."""
        asyncio.run(_sweep())


async def _sweep() -> None:
    async with await Engine.connect() as engine:
        await engine.sweep(OWNER)
