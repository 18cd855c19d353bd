"""The container dies, freezes or hangs amid each strategy: the next one leads to golden."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

import pytest
from quick_cases import SLOW, quick_first
from sabotage.engine_cli import containers_of, docker
from sabotage.inside import Part, ambush, signal_inside
from sabotage.relay import Relay

from arena_core.errors import ResetError
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.reset.ladder import LADDER, Reset, reset_replica
from orchestrator.sandbox.reset.replica import Replica
from orchestrator.sandbox.reset.strategies import Clean, Recreate, Rewind, Strategy
from orchestrator.sandbox.reset.watch import Watch

pytestmark = pytest.mark.docker

Prove = Callable[[Replica], Awaitable[None]]
USR1 = r"^POST \S+/kill\?signal=USR1"
WAIT = r"^POST \S+/wait"
IMPATIENT = (Clean(), Rewind(deadline_s=2.0), Recreate())
BOUND_S = 60.0


@asynccontextmanager
async def resetting(
    engine: Engine, watch: Watch, *, strategies: Sequence[Strategy] = LADDER, wrote: bool = True
) -> AsyncIterator[Reset]:
    """Reset within bounds; what took the replica's place is removed at the end."""
    began = time.monotonic()
    done = await reset_replica(engine, watch, strategies=strategies, wrote=wrote)
    assert time.monotonic() - began < BOUND_S
    assert done.receipt.proven
    try:
        yield done
    finally:
        await done.watch.close()
        await engine.remove(done.replica.container.id)


@pytest.fixture
def kill(watch: Watch) -> Callable[[], None]:
    """End the replica's container at once."""
    return partial(_kill, watch.replica.container.id)


def _kill(container_id: str) -> None:
    docker("kill", container_id)


@SLOW
async def test_a_container_that_dies_while_its_counters_are_read_is_not_clean(
    engine: Engine, watch: Watch, kill: Callable[[], None], require_golden: Prove
) -> None:
    database = watch.replica.database
    assert database is not None
    with Relay(database) as between:
        replica = replace(watch.replica, database=between.endpoint)
        seen = Watch.over(engine, replica, new=True)
        await seen.prove()
        between.on("GLOBAL_STATUS", before=kill)
        async with resetting(engine, seen, wrote=False) as done:
            assert done.receipt.strategy == "recreate"
            clean, rewind = done.receipt.fallbacks
            assert clean.startswith("clean: ")
            assert "with code 137" in rewind
            await require_golden(done.replica)


@SLOW
async def test_a_forced_clean_of_a_dead_container_says_so_and_starts_nothing(
    engine: Engine, watch: Watch, kill: Callable[[], None], owner: str
) -> None:
    kill()
    with pytest.raises(ResetError, match=r"not clean: .*the replica stays as it is") as told:
        await reset_replica(engine, watch, strategies=(Clean(),), wrote=False)
    assert told.value.hint == "arena reset shop"
    assert containers_of(owner) == [watch.replica.container.id]


async def test_a_container_that_dies_after_the_signal_is_recreated(
    engine: Engine,
    watch: Watch,
    relay: Relay,
    *,
    kill: Callable[[], None],
    spoil: Prove,
    require_golden: Prove,
) -> None:
    await spoil(watch.replica)
    container = watch.replica.container.id
    # Stopped first: so it cannot be quicker than the end of its container.
    stop = partial(signal_inside, container, Part.SUPERVISOR, "SIGSTOP")
    relay.on(USR1, before=stop, after=kill)
    async with resetting(engine, watch) as done:
        assert done.receipt.strategy == "recreate"
        [rewind] = done.receipt.fallbacks
        assert "with code 137" in rewind
        assert done.replica.container.id != container
        await require_golden(done.replica)


@SLOW
async def test_a_container_that_dies_during_the_copy_is_recreated(
    engine: Engine,
    watch: Watch,
    relay: Relay,
    *,
    kill: Callable[[], None],
    spoil: Prove,
    require_golden: Prove,
) -> None:
    await spoil(watch.replica)
    struck = ambush(watch.replica.container.id, "/srv/shop/state")
    where: list[str] = []

    def strike() -> None:
        where.append(struck())
        kill()

    relay.on(USR1, after=strike)
    async with resetting(engine, watch) as done:
        assert done.receipt.strategy == "recreate"
        assert "with code 137" in done.receipt.fallbacks[0]
        await require_golden(done.replica)
    assert where[0].startswith("/srv/shop/state/")


@SLOW
async def test_a_supervisor_that_hangs_in_the_copy_is_given_up(
    engine: Engine, watch: Watch, relay: Relay, spoil: Prove, require_golden: Prove
) -> None:
    await spoil(watch.replica)
    struck = ambush(watch.replica.container.id, "/srv/shop/state")
    relay.on(USR1, after=struck)
    async with resetting(engine, watch, strategies=IMPATIENT) as done:
        assert done.receipt.strategy == "recreate"
        assert (
            "reports no generation after 1 within 2 s: it is at 1, rewinding"
            in (done.receipt.fallbacks[0])
        )
        await require_golden(done.replica)


@pytest.mark.parametrize("wrote", quick_first([True, False]))
async def test_a_paused_container_is_replaced(
    engine: Engine, watch: Watch, require_golden: Prove, *, wrote: bool
) -> None:
    docker("pause", watch.replica.container.id)
    async with resetting(engine, watch, strategies=IMPATIENT, wrote=wrote) as done:
        assert done.receipt.strategy == "recreate"
        assert done.receipt.fallbacks[-1].startswith("rewind: ")
        await require_golden(done.replica)


def kill_newest(owner: str) -> None:
    docker("kill", containers_of(owner)[0])


@SLOW
async def test_a_new_container_that_dies_before_it_serves_is_tried_once_more(
    engine: Engine, watch: Watch, relay: Relay, owner: str, require_golden: Prove
) -> None:
    relay.on(WAIT, before=partial(kill_newest, owner))
    async with resetting(engine, watch, strategies=(Recreate(),)) as done:
        [first] = done.receipt.fallbacks
        assert "exited with code 137 before it served" in first
        await require_golden(done.replica)
        assert containers_of(owner) == [done.replica.container.id]


@SLOW
async def test_what_dies_each_time_is_named_and_nothing_of_it_stays(
    engine: Engine, watch: Watch, relay: Relay, owner: str
) -> None:
    relay.on(WAIT, before=partial(kill_newest, owner), times=2)
    with pytest.raises(ResetError, match="site 'shop' could not be brought back to golden") as told:
        await reset_replica(engine, watch, strategies=(Recreate(),))
    assert "exited with code 137 before it served" in told.value.message
    assert containers_of(owner) == []


@SLOW
async def test_a_new_container_that_freezes_before_it_serves_is_replaced(
    engine: Engine, watch: Watch, relay: Relay, owner: str, require_golden: Prove
) -> None:
    site = watch.replica.site
    hasty = site.model_copy(update={"health": site.health.model_copy(update={"timeout_s": 4.0})})
    placement = replace(watch.replica.placement, site=hasty)
    quick = Watch.over(engine, replace(watch.replica, placement=placement))
    relay.on(WAIT, before=lambda: docker("pause", containers_of(owner)[0]))
    async with resetting(engine, quick, strategies=(Recreate(),)) as done:
        [first] = done.receipt.fallbacks
        assert "did not become healthy within 4" in first
        assert "the container is paused" in first
        await require_golden(done.replica)
