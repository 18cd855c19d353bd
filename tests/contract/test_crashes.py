"""What a site that says `crash_safe` must keep: what was committed is part of its state."""

from __future__ import annotations

import pytest
from support.sites.every_site import every, own_replica

from orchestrator.authoring.site_check.checkup import broken_states, can_be_tried
from orchestrator.sandbox.engine.engine import Engine
from sites.manifest import Site

pytestmark = [pytest.mark.docker]


@every(lambda site: site.state and site.state.crash_safe)
async def test_the_last_row_that_was_committed_comes_back_with_a_state(
    engine: Engine, site: Site
) -> None:
    """Taken right after each commit, while the site runs; going back kills its database."""
    assert can_be_tried(site)
    async with own_replica(engine, site) as replica:
        assert await broken_states(engine, replica) == ()
