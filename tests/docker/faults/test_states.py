"""The supervisor, the container or Arena dies at each step of taking and of restoring a state."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

import pytest
from quick_cases import quick_first
from sabotage.engine_cli import docker
from sabotage.inside import ambush

from arena_core.errors import SiteError
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.reset.database import execute_as_owner
from orchestrator.sandbox.reset.ladder import WAYS_TO_A_STATE, Reset, reset_replica
from orchestrator.sandbox.reset.replica import Replica
from orchestrator.sandbox.reset.state import TakenState
from orchestrator.sandbox.reset.strategies import Rewind, trusted_supervision
from orchestrator.sandbox.reset.taking import take_state
from orchestrator.sandbox.reset.watch import Watch

pytestmark = pytest.mark.docker

Prove = Callable[[Replica], Awaitable[None]]
STATE: Final = "/srv/shop/state"
DIES_WITHIN_S: Final = 10.0


async def sql(engine: Engine, replica: Replica, statements: str) -> str:
    done = await execute_as_owner(
        engine, replica, statements, "--skip-column-names", timeout_s=60
    )
    assert done.exit_code == 0, done.stderr
    return done.stdout.decode()


@pytest.fixture
async def taken(engine: Engine, watch: Watch) -> TakenState:
    """A state with a table that golden does not have; the replica is in it."""
    await sql(engine, watch.replica, "CREATE TABLE kept (t TEXT); INSERT INTO kept VALUES ('row')")
    return await take_state(engine, watch)


@pytest.fixture
async def restored(engine: Engine) -> AsyncIterator[Callable[..., Awaitable[Reset]]]:
    """Bring a replica to a state, or to golden; what took its place is removed."""
    done: list[Reset] = []

    async def restore(watch: Watch, taken: TakenState | None) -> Reset:
        watch.aim(taken)
        done.append(await reset_replica(engine, watch, strategies=WAYS_TO_A_STATE))
        assert done[-1].receipt.proven
        return done[-1]

    yield restore
    for one in done:
        await one.watch.close()
        await engine.remove(one.replica.container.id)


@pytest.mark.parametrize("moment", quick_first(["stand", "read"]))
async def test_a_supervisor_that_is_killed_while_it_takes_ends_the_container(
    engine: Engine,
    watch: Watch,
    restored: Callable[..., Awaitable[Reset]],
    require_golden: Prove,
    moment: str,
) -> None:
    """Nothing stands still for ever, and nothing of it is handed out."""
    replica = watch.replica
    # So that it is seen: all that is new is read while the others stand still.
    await engine.execute(
        replica.container.id, ("sh", "-c", f"head -c 20000000 /dev/urandom >{STATE}/media/new")
    )
    supervision = await trusted_supervision(engine, watch)
    struck = ambush(replica.container.id, STATE, moment, "SIGKILL")
    with pytest.raises(SiteError, match="closed the connection"):
        await supervision.take_state()
    assert struck()
    async with asyncio.timeout(DIES_WITHIN_S):
        await engine.wait_exit(replica.container.id)
    done = await restored(watch, None)
    assert done.receipt.strategy == "recreate"
    await require_golden(done.replica)


@pytest.mark.parametrize("moment", quick_first(["copy", "stand", "start"]))
async def test_a_supervisor_that_is_killed_while_it_restores_is_replaced(
    engine: Engine,
    watch: Watch,
    taken: TakenState,
    restored: Callable[..., Awaitable[Reset]],
    moment: str,
) -> None:
    await sql(engine, watch.replica, "DROP TABLE kept")
    struck = ambush(watch.replica.container.id, STATE, moment, "SIGKILL")
    done = await restored(watch, taken)
    assert struck()
    assert done.receipt.strategy == "recreate"
    assert "closed the connection" in done.receipt.fallbacks[0]
    assert done.replica.container.id != watch.replica.container.id
    assert await sql(engine, done.replica, "SELECT t FROM kept") == "row\n"
