from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import pytest
from quick_cases import SLOW
from support.sites.kiosk_site import OWNER

from arena_core.errors import ImageError, ResetError, SiteGoneError
from orchestrator.sandbox.engine.containers import Labels
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.reset.ladder import Reset, reset_replica, strategies_for
from orchestrator.sandbox.reset.replica import Replica, as_replica
from orchestrator.sandbox.reset.state import Fingerprint
from orchestrator.sandbox.reset.strategies import Recreate, Rewind
from orchestrator.sandbox.reset.watch import Watch

pytestmark = pytest.mark.docker

Shell = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class OtherGolden:
    """A golden state that no container ever has."""

    digest: str = "0" * 64

    async def parts(self) -> Fingerprint:
        return Fingerprint()


@dataclass(frozen=True, slots=True)
class OlderSeal:
    """What an image has that an older version of Arena sealed."""

    digest: str = "0" * 64

    async def parts(self) -> Fingerprint:
        return Fingerprint.from_json(b'{"version": 1, "tables": [], "files": []}')


async def dismiss(engine: Engine, done: Reset) -> None:
    await done.watch.close()
    await engine.remove(done.replica.container.id)


async def test_an_untouched_replica_is_kept_with_proof(engine: Engine, watch: Watch) -> None:
    done = await reset_replica(engine, watch, wrote=False)
    assert (done.receipt.strategy, done.receipt.proof) == ("clean", "fingerprint")
    assert done.receipt.proven
    assert done.watch is watch


async def test_a_row_changed_by_hand_is_named_and_gone_afterwards(
    engine: Engine, watch: Watch, sql: Shell
) -> None:
    await sql('UPDATE note SET text = "by hand" WHERE id = 2')
    done = await reset_replica(engine, watch, wrote=False, look_before=True)
    receipt = done.receipt
    line = "table note: same number of rows, other content"
    assert receipt.differences == (line,)
    assert (receipt.strategy, receipt.fallbacks) == ("recreate", (f"clean: {line}",))
    assert receipt.before != receipt.after == receipt.golden
    again = await reset_replica(engine, done.watch, wrote=False)
    assert again.receipt.strategy == "clean"
    await dismiss(engine, done)


@SLOW
async def test_a_write_skips_the_check_and_nothing_is_read_before(
    engine: Engine, watch: Watch
) -> None:
    done = await reset_replica(engine, watch, wrote=True)
    receipt = done.receipt
    assert (receipt.strategy, receipt.before, receipt.fallbacks) == ("recreate", None, ())
    assert done.replica.container.id != watch.replica.container.id
    await dismiss(engine, done)


@SLOW
async def test_what_was_written_and_taken_back_is_not_clean(
    engine: Engine, watch: Watch, sql: Shell
) -> None:
    """The whole state is golden again; but who knows what else the writer did."""
    await watch.prove()
    await sql(
        'UPDATE note SET text = "x" WHERE id = 1; UPDATE note SET text = "first" WHERE id = 1'
    )
    assert (await watch.prove(own_writes=True)).digest == watch.replica.golden
    assert watch.golden is not None
    await sql('GRANT SELECT ON kiosk.note TO guest@localhost IDENTIFIED BY "x"')
    done = await reset_replica(engine, watch, wrote=False)
    assert done.receipt.strategy == "recreate"
    assert "Com_grant moved by 1" in done.receipt.fallbacks[0]
    await dismiss(engine, done)


async def test_a_dead_replica_is_recreated(engine: Engine, watch: Watch, shell: Shell) -> None:
    await shell("kill -9 $(cat /tmp/db.pid)")
    await engine.wait_exit(watch.replica.container.id)
    done = await reset_replica(engine, watch, wrote=False, look_before=True)
    assert done.receipt.strategy == "recreate"
    assert "could not be read" in done.receipt.differences[0]
    await dismiss(engine, done)


@SLOW
async def test_a_broken_application_is_not_waited_for(
    engine: Engine, watch: Watch, sql: Shell
) -> None:
    """Its health page fails without the table; the manifest would give it a minute to start."""
    await sql("DROP TABLE account")
    async with asyncio.timeout(30):
        done = await reset_replica(engine, watch, wrote=False)
    assert done.receipt.strategy == "recreate"
    assert "did not become healthy within 3" in done.receipt.fallbacks[0]
    await dismiss(engine, done)


@SLOW
async def test_a_fixed_port_stays_the_same_after_a_reset(engine: Engine, replica: Replica) -> None:
    port = replica.endpoint.port
    fixed = replace(replica, placement=replace(replica.placement, port=port))
    done = await reset_replica(engine, Watch.over(engine, fixed), strategies=(Recreate(),))
    assert done.replica.endpoint == replica.endpoint
    await dismiss(engine, done)


async def test_what_cannot_be_brought_to_golden_is_removed_and_named(
    engine: Engine, replica: Replica
) -> None:
    odd = replace(replica, placement=replace(replica.placement, golden=OtherGolden()))
    with pytest.raises(ResetError, match=r"recreate: table account: new; table note: new"):
        await reset_replica(engine, Watch.over(engine, odd))
    assert await engine.containers({Labels.OWNER: OWNER}) == ()


@SLOW
async def test_a_forced_clean_never_removes_a_replica(
    engine: Engine, watch: Watch, sql: Shell
) -> None:
    await sql("DELETE FROM note WHERE id = 1")
    with pytest.raises(ResetError, match="not clean: table note: 1 row fewer; the replica stays"):
        await reset_replica(engine, watch, strategies=strategies_for("clean"), wrote=False)
    container = await engine.container(watch.replica.container.id)
    assert container is not None
    assert container.state == "running"


@SLOW
async def test_an_image_of_an_older_version_asks_to_be_built_anew(
    engine: Engine, replica: Replica
) -> None:
    older = replace(replica, placement=replace(replica.placement, golden=OlderSeal()))
    with pytest.raises(ImageError, match="version 1") as caught:
        await reset_replica(engine, Watch.over(engine, older), wrote=False)
    assert caught.value.hint == "arena build --force"


@SLOW
async def test_a_container_that_has_exited_is_no_replica(engine: Engine, replica: Replica) -> None:
    await engine.stop(replica.container.id)
    stopped = await engine.container(replica.container.id)
    assert stopped is not None
    with pytest.raises(SiteGoneError, match="is exited and publishes no port 8000"):
        as_replica(replica.placement, stopped)


async def test_what_a_service_still_puts_in_place_as_it_starts_does_not_cost_a_replica(
    engine: Engine, replica: Replica, sql: Shell
) -> None:
    """A service that does not say when it is ready may be at it while the state is read."""
    note = 'UPDATE note SET text = "{}" WHERE id = 1'

    class StartingWatch(Watch):
        async def prove(self, *, own_writes: bool = False) -> Fingerprint:
            state = await super().prove(own_writes=own_writes)
            await sql(note.format("first"))
            return state

    class Restart(Rewind):
        async def restore(self, engine: Engine, watch: Watch) -> Watch:
            await sql(note.format("not yet"))
            return watch

        def applies(self, watch: Watch, *, wrote: bool) -> bool:
            return True

    watch = StartingWatch(engine, replica, new=True)
    try:
        done = await reset_replica(engine, watch, strategies=(Restart(),))
    finally:
        await watch.close()
    assert (done.receipt.strategy, done.receipt.fallbacks) == ("rewind", ())
    assert done.receipt.proven
