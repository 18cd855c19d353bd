"""A process inside a replica is killed: nothing half-alive is handed out, and the log says what."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable

import pytest
from quick_cases import SLOW, quick_first
from sabotage.engine_cli import containers_of, docker
from sabotage.inside import Part, signal_inside
from support.agents.arena_process import await_end, descendants

from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.reset.ladder import reset_replica
from orchestrator.sandbox.reset.replica import Replica, await_health
from orchestrator.sandbox.reset.watch import Watch

pytestmark = pytest.mark.docker

Prove = Callable[[Replica], Awaitable[None]]
ENDS_S = 60.0

VITAL = {
    Part.DATABASE: "service 'database' was killed by signal 9 by itself",
    Part.APPLICATION: "service 'app' was killed by signal 9 by itself",
    Part.WEB: "service 'web' was killed by signal 9 by itself",
}


async def reset_to_golden(
    engine: Engine, watch: Watch, require_golden: Prove, *, wrote: bool
) -> tuple[str, str]:
    """Reset, check golden, remove what serves now; return the strategy and what failed before."""
    done = await reset_replica(engine, watch, wrote=wrote)
    try:
        await require_golden(done.replica)
    finally:
        await done.watch.close()
        await engine.remove(done.replica.container.id)
    return done.receipt.strategy, "\n".join(done.receipt.fallbacks)


async def require_end(engine: Engine, watch: Watch) -> None:
    async with asyncio.timeout(ENDS_S):
        await engine.wait_exit(watch.replica.container.id)


@pytest.mark.parametrize(
    ("part", "said"), quick_first(VITAL.items()), ids=[part.name for part in VITAL]
)
async def test_a_part_that_is_killed_takes_the_container_down_and_is_named(
    engine: Engine, watch: Watch, *, spoil: Prove, require_golden: Prove, part: Part, said: str
) -> None:
    await spoil(watch.replica)
    signal_inside(watch.replica.container.id, part, "SIGKILL")
    await require_end(engine, watch)
    assert said in await engine.logs(watch.replica.container.id, tail=1)
    strategy, fallbacks = await reset_to_golden(engine, watch, require_golden, wrote=True)
    assert strategy == "recreate"
    assert "with code 1" in fallbacks
    assert said in fallbacks


@SLOW
async def test_a_supervisor_that_is_killed_inside_takes_all_with_it(
    engine: Engine, watch: Watch, spoil: Prove, require_golden: Prove
) -> None:
    await spoil(watch.replica)
    signal_inside(watch.replica.container.id, Part.SUPERVISOR, "SIGKILL")
    await require_end(engine, watch)
    strategy, _ = await reset_to_golden(engine, watch, require_golden, wrote=True)
    assert strategy == "recreate"


@SLOW
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may signal a container's processes")
async def test_a_supervisor_that_is_killed_from_outside_leaves_no_process(
    engine: Engine, watch: Watch, require_golden: Prove
) -> None:
    container = watch.replica.container.id
    first = int(docker("inspect", "--format", "{{.State.Pid}}", container))
    family = descendants(first)
    [supervisor] = [pid for pid, line in family.items() if "/opt/arena/supervisor" in line]
    os.kill(supervisor, signal.SIGKILL)
    await require_end(engine, watch)
    assert await asyncio.to_thread(await_end, family) == {}
    strategy, _ = await reset_to_golden(engine, watch, require_golden, wrote=False)
    assert strategy == "recreate"


@SLOW
@pytest.mark.parametrize("part", [Part.WORKER, Part.WEB_WORKER], ids=lambda part: part.name)
async def test_workers_that_are_killed_are_forked_anew_and_the_state_is_rewound(
    engine: Engine,
    watch: Watch,
    *,
    owner: str,
    spoil: Prove,
    require_golden: Prove,
    part: Part,
) -> None:
    await spoil(watch.replica)
    signal_inside(watch.replica.container.id, part, "SIGKILL")
    await await_health(engine, watch.replica, timeout_s=ENDS_S)
    await spoil(watch.replica)  # it goes on, and can be written to
    assert containers_of(owner) == [watch.replica.container.id]
    strategy, _ = await reset_to_golden(engine, watch, require_golden, wrote=True)
    assert strategy == "rewind"
