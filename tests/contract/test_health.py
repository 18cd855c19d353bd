"""Health means usable."""

from __future__ import annotations

import pytest
from support.sites.every_site import every, own_replica

from orchestrator.authoring.site_check.container import broken_health
from orchestrator.sandbox.engine.engine import Engine
from sites.manifest import Site

pytestmark = pytest.mark.docker


@every(lambda site: site.database)
async def test_health_fails_with_its_database_and_a_dead_one_ends_the_container(
    engine: Engine, site: Site
) -> None:
    async with own_replica(engine, site) as replica:
        assert await broken_health(engine, replica) == ()
