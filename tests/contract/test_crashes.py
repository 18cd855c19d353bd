"""What a site that says `crash_safe` must keep: what was committed is part of its state."""

from __future__ import annotations

import asyncio

import pytest
from support.sites.every_site import every, own_replica
from support.sites.site_changes import CHANGES, WRITES

from orchestrator.authoring.site_check.checkup import broken_states, can_be_tried
from orchestrator.sandbox.check_queries import ask
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.engine.origin_client import origin_session
from orchestrator.sandbox.logins import replica_client
from orchestrator.sandbox.reset.ladder import reset_replica, strategies_for
from orchestrator.sandbox.reset.taking import take_state
from orchestrator.sandbox.reset.watch import Watch
from sites.manifest import FileDatabase, Site

pytestmark = [pytest.mark.docker]


def says_so(site: Site) -> bool:
    return site.state is not None and site.state.crash_safe


@every(lambda site: says_so(site) and not isinstance(site.database, FileDatabase))
async def test_the_last_row_that_was_committed_comes_back_with_a_state(
    engine: Engine, site: Site
) -> None:
    """Taken right after each commit, while the site runs; going back kills its database."""
    assert can_be_tried(site)
    async with own_replica(engine, site) as replica:
        assert await broken_states(engine, replica) == ()


@every(lambda site: says_so(site) and isinstance(site.database, FileDatabase))
async def test_what_was_answered_last_comes_back_with_a_state_of_a_database_in_a_file(
    engine: Engine, site: Site
) -> None:
    """Only the site's own program writes to it: a write by its API, then a state, three times."""
    write, newest = WRITES[site.name], CHANGES[site.name].newest
    async with own_replica(engine, site) as replica:
        watch = Watch.over(engine, replica, new=True)
        client = replica_client(site, replica.endpoint)
        states = []
        with origin_session(client) as session:
            for number in range(3):
                answer = await asyncio.to_thread(write, session, client, f"mark {number}")
                assert answer.ok
                states.append(((await ask(replica, newest)).rows, await take_state(engine, watch)))
        assert len({str(rows) for rows, _ in states}) == len(states)
        for rows, taken in reversed(states):
            watch.aim(taken)
            await reset_replica(engine, watch, strategies=strategies_for("rewind"))
            assert (await ask(replica, newest)).rows == rows
        await watch.close()
