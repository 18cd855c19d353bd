"""Sixty seconds of eight readers and two writers: no answer is the server's own fault."""

from __future__ import annotations

import pytest
from support.sites.every_site import ATLAS, EVERY_SITE, own_replica
from support.sites.site_changes import WRITES

from orchestrator.authoring.site_check.load import broken_under_load
from orchestrator.sandbox.engine.engine import Engine
from sites.manifest import Site

pytestmark = pytest.mark.docker


def test_every_site_that_holds_state_has_a_way_to_write() -> None:
    assert {site.name for site in ATLAS.sites.values() if site.stateful} == set(WRITES)


@pytest.mark.slow
@EVERY_SITE
async def test_eight_readers_and_two_writers_for_a_minute_meet_no_fault_of_the_server(
    engine: Engine, site: Site
) -> None:
    async with own_replica(engine, site) as replica:
        assert await broken_under_load(replica, WRITES.get(site.name)) == ()
