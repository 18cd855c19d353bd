"""A site that breaks the contract in its container is told so: the kiosk, sabotaged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from mutations.golden import started
from quick_cases import SLOW
from support.sites.kiosk_site import OWNER, engine, kiosk

from orchestrator.authoring.site_check.container import (
    broken_clock,
    broken_confinement,
    broken_health,
)
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.reset.replica import Replica
from sites.manifest import Site

__all__ = ["engine", "kiosk"]

pytestmark = pytest.mark.docker


def as_if(replica: Replica, **changed: Any) -> Replica:
    """Return a replica whose manifest says something else than what it was started with."""
    other = Site.model_validate({**replica.site.model_dump(), **changed})
    return replace(replica, placement=replace(replica.placement, site=other))


async def test_limits_that_the_kernel_does_not_hold_are_breaches(
    engine: Engine, kiosk: Site
) -> None:
    async with started(engine, kiosk, OWNER) as replica:
        assert await broken_confinement(engine, replica) == ()
        limits = {"memory_mb": 500, "cpus": 1.5, "pids": 100}
        memory, pids, cpus = await broken_confinement(engine, as_if(replica, resources=limits))
        assert memory == f"memory is limited to {512 << 20} bytes, not to {500 << 20}"
        assert pids == "processes are limited to 128, not to 100"
        assert cpus.startswith("cores are limited to '200000 100000'")


@SLOW
async def test_that_nothing_is_reached_counts_only_where_something_could_be(
    engine: Engine, kiosk: Site
) -> None:
    async with started(engine, kiosk, OWNER) as replica:
        (untried,) = await broken_confinement(engine, as_if(replica, port=9))
        assert untried.startswith("whether it has a way out cannot be tried")


async def test_a_health_page_that_asks_no_database_is_a_breach(engine: Engine, kiosk: Site) -> None:
    async with started(engine, kiosk, OWNER) as replica:
        careless = as_if(replica, health={"path": "/", "contains": "Kiosk"})
        assert "health is well while the database is frozen" in await broken_health(
            engine, careless
        )


@SLOW
async def test_a_health_page_that_asks_the_database_is_none(engine: Engine, kiosk: Site) -> None:
    async with started(engine, kiosk, OWNER) as replica:
        assert await broken_health(engine, replica) == ()


@SLOW
async def test_another_time_zone_and_language_are_breaches(engine: Engine, kiosk: Site) -> None:
    async with started(engine, kiosk, OWNER) as replica:
        odd = as_if(replica, clock={"zone": "Asia/Kolkata", "locale": "de"})
        container, database, language = await broken_clock(engine, odd)
        assert container == "the container's time zone is +0000, not that of Asia/Kolkata"
        assert database == "the database's time zone is 0 s off UTC"
        assert language == "the front page is in '', not in 'de'"
