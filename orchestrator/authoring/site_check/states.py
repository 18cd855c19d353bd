"""Whether what a site has just committed is part of its state: the manifest's `crash_safe`."""

from __future__ import annotations

from typing import Final

from arena_core.errors import SiteError
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.reset.database import execute_as_owner
from orchestrator.sandbox.reset.ladder import reset_replica
from orchestrator.sandbox.reset.replica import Replica
from orchestrator.sandbox.reset.strategies import Rewind
from orchestrator.sandbox.reset.taking import take_state
from orchestrator.sandbox.reset.watch import Watch
from sites.manifest import DatabaseEngine, ServerDatabase, Site

_ROWS: Final = 3
_SQL_S: Final = 30.0


def can_be_tried(site: Site) -> bool:
    """Whether a site says that it is safe, and has a database that rows are written to here."""
    database = site.database
    on_mariadb = isinstance(database, ServerDatabase) and database.engine is DatabaseEngine.MARIADB
    return on_mariadb and site.state is not None and site.state.crash_safe


async def broken_states(engine: Engine, replica: Replica) -> tuple[str, ...]:
    """Return which rows are lost that were committed right before a state was taken.

    The replica stays in such a state.

    Raises:
        StateError: no state can be taken.
        ResetError: what came back is not what was taken; the replica was removed.
    """
    watch = Watch.over(engine, replica, new=True)
    try:
        await _run(engine, replica, "CREATE TABLE arena_mark (id INT, t TEXT) ENGINE = InnoDB")
        states = []
        for number in range(1, _ROWS + 1):
            row = f"INSERT INTO arena_mark VALUES ({number}, REPEAT('{number}', 20000))"  # noqa: S608 - a number
            await _run(engine, replica, row)
            states.append((number, await take_state(engine, watch)))
        breaches = []
        for number, taken in reversed(states):
            await _run(engine, replica, "UPDATE arena_mark SET t = ''; DROP TABLE arena_mark")
            watch.aim(taken)
            await reset_replica(engine, watch, strategies=(Rewind(),))
            found = await _run(engine, replica, "SELECT COUNT(*), MAX(LEFT(t, 1)) FROM arena_mark")
            if found.split() != [str(number)] * 2:
                breaches.append(f"{number} rows were committed; the state holds {found.strip()}")
        return tuple(breaches)
    finally:
        await watch.close()


async def _run(engine: Engine, replica: Replica, sql: str) -> str:
    done = await execute_as_owner(engine, replica, sql, "--skip-column-names", timeout_s=_SQL_S)
    if done.exit_code != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise SiteError(f"site '{replica.site.name}': `{sql[:60]}` failed: {said[-200:]}")
    return done.stdout.decode("utf-8", "replace")
