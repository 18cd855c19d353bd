"""Rewinding the shop inside its container: whatever was done to it, it is golden afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace

import pytest
import requests
from quick_cases import SLOW
from support.sites.kiosk_site import OWNER
from support.sites.supervisor_server import READY, supervisor

from arena_core.errors import ResetError
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.pool.placement import place
from orchestrator.sandbox.reset.ladder import Reset, reset_replica, strategies_for
from orchestrator.sandbox.reset.replica import Replica, start_replica
from orchestrator.sandbox.reset.strategies import Recreate, Rewind, Strategy
from orchestrator.sandbox.reset.watch import Watch
from sites.registry import load_registry

pytestmark = pytest.mark.docker

Shell = Callable[[str], Awaitable[str]]
SHOP = load_registry().site("shop")
ONLY_REWIND: tuple[Strategy, ...] = (Rewind(),)


@pytest.fixture
async def shop(engine: Engine) -> AsyncIterator[Replica]:
    placement = await place(engine, SHOP, owner=OWNER, slot=0)
    yield await start_replica(engine, placement)
    await engine.sweep(OWNER)


@pytest.fixture
async def watch(engine: Engine, shop: Replica) -> AsyncIterator[Watch]:
    made = Watch.over(engine, shop, new=True)
    await made.prove()
    assert await made.moved() is None
    yield made
    await made.close()


@pytest.fixture
def shell(engine: Engine, shop: Replica) -> Shell:
    """Run a shell line in the stateful folder."""

    async def run(line: str) -> str:
        line = f"cd /srv/shop/state && {line}"
        done = await engine.execute(shop.container.id, ("bash", "-c", line))
        assert done.exit_code == 0, done.stderr
        return done.stdout.decode()

    return run


@pytest.fixture
def sql(shell: Shell) -> Shell:
    """Run SQL as the superuser, through the socket: nobody outside the container sees it."""

    async def run(statement: str) -> str:
        assert "'" not in statement
        return await shell(f"mariadb --defaults-file=/srv/shop/my.cnf -BN shop -e '{statement}'")

    return run


SQL = [
    'UPDATE catalogue_product SET title = "Kettel" WHERE id = 17',
    "DELETE FROM reviews_productreview",
    "SET FOREIGN_KEY_CHECKS = 0; TRUNCATE order_order",
    "DROP TABLE reviews_vote",
    "ALTER TABLE catalogue_product ADD COLUMN extra INT",
    "CREATE TABLE added (id INT) ENGINE=MyISAM",
    "CREATE DATABASE another; CREATE TABLE another.t (id INT)",
    "CREATE TRIGGER pulled AFTER INSERT ON basket_basket FOR EACH ROW DELETE FROM basket_line",
    "BEGIN; INSERT INTO basket_basket (status, date_created) VALUES (1, NOW()); ROLLBACK",
    'GRANT ALL ON shop.* TO guest IDENTIFIED BY "x"',
    'SET GLOBAL sql_mode = "ANSI"',
]
FILES = [
    "rm -r media/*",
    "echo x > media/uploaded.txt",
    "mkdir -p media/a/b",
    "chmod 600 media/image_not_found.jpg",
    "chmod 700 media",
    "f=media/image_not_found.jpg && touch -r $f /tmp/t && echo x >> $f && touch -r /tmp/t $f",
    "mv media/image_not_found.jpg media/moved.jpg",
    "ln -sf /etc/passwd media/image_not_found.jpg",
]


async def test_whatever_is_written_to_the_database_is_not_clean_and_is_rewound(
    engine: Engine, watch: Watch, sql: Shell
) -> None:
    for statement in SQL:
        await sql(statement)
        await not_clean_then_rewound(engine, watch, statement)


@SLOW
async def test_whatever_is_done_to_the_files_is_not_clean_and_is_rewound(
    engine: Engine, watch: Watch, shell: Shell
) -> None:
    for line in FILES:
        await shell(line)
        await not_clean_then_rewound(engine, watch, line)


async def not_clean_then_rewound(engine: Engine, watch: Watch, what: str) -> None:
    container = watch.replica.container.id
    assert await watch.moved() is not None, what
    with pytest.raises(ResetError, match="not clean"):
        await reset_replica(engine, watch, strategies=strategies_for("clean"), wrote=False)
    done = await reset_replica(engine, watch, wrote=False)
    receipt = done.receipt
    assert (receipt.strategy, receipt.proof, receipt.proven) == ("rewind", "fingerprint", True), (
        what
    )
    assert receipt.fallbacks[0].startswith("clean: ")
    assert done.replica.container.id == container
    assert await watch.moved() is None, what
    again = await reset_replica(engine, watch, wrote=False)
    assert (again.receipt.strategy, again.receipt.proof) == ("clean", "counters"), what


async def test_ids_go_on_as_in_a_fresh_container_and_the_pages_come_back(
    engine: Engine, watch: Watch, sql: Shell
) -> None:
    insert = (
        "INSERT INTO basket_basket (status, date_created) VALUES (1, NOW());"
        " SELECT LAST_INSERT_ID()"
    )
    first = await sql(insert)
    await reset_replica(engine, watch, strategies=ONLY_REWIND)
    assert await sql(insert) == first
    await reset_replica(engine, watch, strategies=ONLY_REWIND)
    page = await asyncio.to_thread(
        requests.get,
        f"http://{watch.replica.endpoint}/catalogue/",
        headers={"Host": SHOP.host},
        timeout=10,
    )
    assert page.ok


@SLOW
async def test_looking_at_pages_and_signing_in_leaves_a_replica_clean(
    engine: Engine, watch: Watch
) -> None:
    from orchestrator.sandbox.logins import login, replica_client, role_of  # noqa: PLC0415

    client = replica_client(SHOP, watch.replica.endpoint)
    await login(SHOP, "customer", role_of(SHOP, "customer"), client)
    for path in SHOP.warm:
        await asyncio.to_thread(
            requests.get,
            f"http://{watch.replica.endpoint}{path}",
            headers={"Host": SHOP.host},
            timeout=10,
        )
    done = await reset_replica(engine, watch, wrote=False)
    assert (done.receipt.strategy, done.receipt.proof) == ("clean", "counters")
    assert done.receipt.seconds < 1


@dataclass(frozen=True, slots=True)
class KilledRewind(Rewind):
    """A rewind in the middle of which the container is killed."""

    async def restore(self, engine: Engine, watch: Watch) -> Watch:
        supervision = await watch.supervision()

        async def kill() -> None:
            async with asyncio.timeout(10):
                while supervision.is_ready and not supervision.is_lost:  # noqa: ASYNC110
                    await asyncio.sleep(0)
            await engine.signal(watch.replica.container.id, "KILL")

        killing = asyncio.create_task(kill())
        try:
            return await Rewind.restore(self, engine, watch)
        finally:
            await killing


async def test_a_container_killed_in_the_middle_of_a_rewind_is_recreated(
    engine: Engine, watch: Watch
) -> None:
    done = await reset_replica(engine, watch, strategies=(KilledRewind(), Recreate()))
    receipt = done.receipt
    assert (receipt.strategy, receipt.proven) == ("recreate", True)
    (fallback,) = receipt.fallbacks
    assert fallback.startswith("rewind: the supervisor at")
    assert "closed the connection; container arena-shop-" in fallback
    assert "is exited with code 137" in fallback
    await done.watch.close()


@SLOW
async def test_a_supervisor_that_never_answers_is_bounded_and_the_next_strategy_takes_over(
    engine: Engine, shop: Replica
) -> None:
    assert SHOP.state is not None
    async with supervisor(first={**READY, "folder": SHOP.state.folder}) as silent:
        deaf = Watch.over(engine, replace(shop, supervisor=silent.endpoint))
        strategies = (Rewind(deadline_s=0.5), Recreate())
        done = await reset_replica(engine, deaf, strategies=strategies)
    assert done.receipt.strategy == "recreate"
    assert "reports no generation after 1 within 0.5 s" in done.receipt.fallbacks[0]
    await done.watch.close()


@SLOW
async def test_a_rewind_that_somebody_else_asked_for_is_no_proof(
    engine: Engine, watch: Watch
) -> None:
    supervision = await watch.supervision()
    await engine.signal(watch.replica.container.id, "USR1")
    await supervision.generation_after(1, 20)
    assert await watch.moved() is not None
    done: Reset = await reset_replica(engine, watch, wrote=False)
    assert done.receipt.proven


@SLOW
async def test_a_state_that_stays_other_than_golden_falls_through_to_the_end(
    engine: Engine, watch: Watch, sql: Shell
) -> None:
    """A pristine copy that is spoilt itself: the rewind's proof fails, a new container is right."""
    await sql("SELECT 1")

    @dataclass(frozen=True, slots=True)
    class Spoilt(Rewind):
        async def restore(self, engine: Engine, watch: Watch) -> Watch:
            done = await Rewind.restore(self, engine, watch)
            await sql("DELETE FROM reviews_vote LIMIT 1; UPDATE catalogue_product SET title = id")
            return done

    done = await reset_replica(engine, watch, strategies=(Spoilt(), Recreate()))
    assert (done.receipt.strategy, done.receipt.proven) == ("recreate", True)
    assert "rewind: table catalogue_product: same number of rows" in done.receipt.fallbacks[0]
    await done.watch.close()
