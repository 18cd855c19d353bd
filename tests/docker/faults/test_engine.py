"""The engine does not answer: for a moment, or for longer than anybody waits."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

import pytest
from quick_cases import SLOW
from sabotage.engine_cli import containers_of
from sabotage.relay import Relay

from arena_core.errors import EngineError
from orchestrator.sandbox.engine import container_calls
from orchestrator.sandbox.engine.calls import Calls
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.reset.ladder import reset_replica, strategies_for
from orchestrator.sandbox.reset.replica import Replica
from orchestrator.sandbox.reset.watch import Watch

pytestmark = pytest.mark.docker

Prove = Callable[[Replica], Awaitable[None]]
USR1: Final = r"^POST \S+/kill\?signal=USR1"
REMOVE: Final = r"^DELETE \S+/containers/"
CREATE: Final = r"^POST \S+/containers/create"
PAUSE_S: Final = 1.5
PATIENCE_S: Final = 2.0
BOUND_S: Final = 20.0


@SLOW
@pytest.mark.parametrize(
    ("strategy", "moment"),
    [("rewind", USR1), ("recreate", REMOVE), ("recreate", CREATE)],
    ids=["signal", "remove", "create"],
)
async def test_a_pause_of_the_engine_is_waited_for(
    engine: Engine,
    watch: Watch,
    relay: Relay,
    *,
    spoil: Prove,
    require_golden: Prove,
    strategy: str,
    moment: str,
) -> None:
    await spoil(watch.replica)
    relay.on(moment, before=partial(relay.freeze_for, PAUSE_S))
    done = await reset_replica(engine, watch, strategies=strategies_for(strategy))
    assert (done.receipt.strategy, done.receipt.fallbacks) == (strategy, ())
    assert done.receipt.seconds > PAUSE_S
    await require_golden(done.replica)
    await done.watch.close()
    await engine.remove(done.replica.container.id)


@SLOW
async def test_an_engine_that_stays_silent_is_given_up_and_clean_needs_none(
    engine: Engine, watch: Watch, relay: Relay, require_golden: Prove
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Calls.short, "__defaults__", (PATIENCE_S,))
        patch.setattr(container_calls, "_REMOVE_S", PATIENCE_S)
        relay.freeze()
        done = await reset_replica(engine, watch, wrote=False)
        assert done.receipt.strategy == "clean"
        began = time.monotonic()
        with pytest.raises(EngineError, match="the Docker engine did not finish within 2 s"):
            await reset_replica(engine, watch, wrote=True)
        assert time.monotonic() - began < BOUND_S
    relay.thaw()
    done = await reset_replica(engine, watch, wrote=True)
    await require_golden(done.replica)
    await done.watch.close()
    await engine.remove(done.replica.container.id)


async def test_an_engine_that_breaks_its_connections_costs_a_strategy(
    engine: Engine, watch: Watch, relay: Relay, *, owner: str, spoil: Prove, require_golden: Prove
) -> None:
    await spoil(watch.replica)
    relay.on(USR1, before=relay.cut)
    done = await reset_replica(engine, watch)
    assert done.receipt.strategy == "recreate"
    assert "no Docker engine answers" in done.receipt.fallbacks[0]
    await require_golden(done.replica)
    assert containers_of(owner) == [done.replica.container.id]
    await done.watch.close()
    await engine.remove(done.replica.container.id)
