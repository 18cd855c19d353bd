"""The container of a replica: limits, no privileges, no way out; and the time it believes in."""

from __future__ import annotations

import pytest
from support.sites.every_site import EVERY_SITE, Shared, own_replica

from orchestrator.authoring.site_check.container import broken_clock, broken_confinement
from orchestrator.sandbox.engine import container_calls
from orchestrator.sandbox.engine.engine import Engine
from sites.manifest import Site
from sites.registry import load_registry

pytestmark = pytest.mark.docker


@EVERY_SITE
async def test_its_container_has_its_limits_no_privileges_and_no_way_out(
    engine: Engine, shared: Shared, site: Site
) -> None:
    assert await broken_confinement(engine, await shared.of(engine, site)) == ()


@EVERY_SITE
async def test_time_zone_and_language_are_those_of_the_manifest(
    engine: Engine, shared: Shared, site: Site
) -> None:
    assert await broken_clock(engine, await shared.of(engine, site)) == ()


async def test_a_container_without_a_packet_filter_is_not_confined(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container_calls, "shut_in", lambda *_: None)
    async with own_replica(engine, load_registry().site("wiki")) as replica:
        breaches = await broken_confinement(engine, replica)

    assert [one for one in breaches if "packet filter" in one] == list(breaches) != []
