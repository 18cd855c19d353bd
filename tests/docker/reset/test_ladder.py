from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import pytest
from kiosk_site import OWNER

from orchestrator.engine.containers import Labels
from orchestrator.engine.engine import Engine
from orchestrator.reset.ladder import Recreate, reset_replica
from orchestrator.reset.replica import Replica, as_replica
from orchestrator.reset.state import Fingerprint
from sites.errors import ResetError, SiteGoneError

pytestmark = pytest.mark.docker

Shell = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class OtherGolden:
    """A golden state that no container ever has."""

    digest: str = "0" * 64

    async def parts(self) -> Fingerprint:
        return Fingerprint()


async def test_an_untouched_replica_is_kept_with_proof(engine: Engine, replica: Replica) -> None:
    done = await reset_replica(engine, replica, wrote=False)
    assert done.receipt.strategy == "verify"
    assert done.receipt.proven
    assert done.replica.container.id == replica.container.id


async def test_a_row_changed_by_hand_is_named_and_gone_afterwards(
    engine: Engine, replica: Replica, sql: Shell
) -> None:
    await sql('UPDATE note SET text = "by hand" WHERE id = 2')
    done = await reset_replica(engine, replica, wrote=False, look_before=True)
    receipt = done.receipt
    assert receipt.differences == ("table note: same number of rows, other content",)
    assert receipt.strategy == "recreate"
    assert receipt.before != receipt.after == receipt.golden
    again = await reset_replica(engine, done.replica, wrote=False)
    assert again.receipt.strategy == "verify"
    await engine.remove(done.replica.container.id)


async def test_a_write_skips_the_check_and_nothing_is_read_before(
    engine: Engine, replica: Replica
) -> None:
    done = await reset_replica(engine, replica, wrote=True)
    assert (done.receipt.strategy, done.receipt.before) == ("recreate", None)
    assert done.replica.container.id != replica.container.id
    await engine.remove(done.replica.container.id)


async def test_a_dead_replica_is_recreated(engine: Engine, replica: Replica, shell: Shell) -> None:
    await shell("kill -9 $(cat /tmp/db.pid)")
    await engine.wait_exit(replica.container.id)
    done = await reset_replica(engine, replica, wrote=False, look_before=True)
    assert done.receipt.strategy == "recreate"
    assert "could not be read" in done.receipt.differences[0]
    await engine.remove(done.replica.container.id)


async def test_a_fixed_port_stays_the_same_after_a_reset(engine: Engine, replica: Replica) -> None:
    port = replica.endpoint.port
    fixed = replace(replica, placement=replace(replica.placement, port=port))
    done = await reset_replica(engine, fixed, rungs=(Recreate(),))
    assert done.replica.endpoint == replica.endpoint
    await engine.remove(done.replica.container.id)


async def test_what_cannot_be_brought_to_golden_is_removed_and_named(
    engine: Engine, replica: Replica
) -> None:
    odd = replace(replica, placement=replace(replica.placement, golden=OtherGolden()))
    with pytest.raises(ResetError, match=r"recreate: table account: new; table note: new"):
        await reset_replica(engine, odd)
    assert await engine.containers({Labels.OWNER: OWNER}) == ()


async def test_a_container_that_has_exited_is_no_replica(engine: Engine, replica: Replica) -> None:
    await engine.stop(replica.container.id)
    stopped = await engine.container(replica.container.id)
    assert stopped is not None
    with pytest.raises(SiteGoneError, match="is exited and publishes no port 8000"):
        as_replica(replica.placement, stopped)
