"""What a site that says `crash_safe` must keep: what was committed is part of its state."""

from __future__ import annotations

import pytest
from support.sites.every_site import every, own_replica

from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.reset.database import execute_as_owner
from orchestrator.sandbox.reset.ladder import reset_replica
from orchestrator.sandbox.reset.replica import Replica
from orchestrator.sandbox.reset.strategies import Rewind
from orchestrator.sandbox.reset.taking import take_state
from orchestrator.sandbox.reset.watch import Watch
from sites.manifest import Site

pytestmark = [pytest.mark.docker]

ROWS = 3
MOST_BYTES = 1_000_000


async def sql(engine: Engine, replica: Replica, *statements: str) -> list[str]:
    done = await execute_as_owner(
        engine, replica, "; ".join(statements), "--skip-column-names", timeout_s=30
    )
    assert done.exit_code == 0, done.stderr
    return done.stdout.decode().split()


@every(lambda site: site.state)
async def test_the_last_row_that_was_committed_comes_back_with_a_state(
    engine: Engine, site: Site
) -> None:
    """Taken right after each commit, while the site runs; going back kills its database."""
    assert site.state is not None
    assert site.state.crash_safe
    async with own_replica(engine, site) as replica:
        watch = Watch.over(engine, replica, new=True)
        await sql(engine, replica, "CREATE TABLE kept (id INT PRIMARY KEY, t TEXT) ENGINE = InnoDB")
        states = []
        for number in range(ROWS):
            row = f"INSERT INTO kept VALUES ({number}, REPEAT('{number}', 20000))"  # noqa: S608
            await sql(engine, replica, row)
            states.append(await take_state(engine, watch))
        await sql(engine, replica, "DROP TABLE kept", "CREATE TABLE later (id INT)")
        for number in (2, 0, 1):
            watch.aim(states[number])
            reset = await reset_replica(engine, watch, strategies=(Rewind(),))
            assert reset.receipt.proven
            found = await sql(engine, replica, "SELECT COUNT(*), MAX(LEFT(t, 1)) FROM kept")
            assert found == [str(number + 1), str(number)]
            await sql(engine, replica, "UPDATE kept SET t = 'overwritten'", "DROP TABLE kept")
        assert all(len(one.packed) < MOST_BYTES for one in states)
        await watch.close()
