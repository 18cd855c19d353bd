"""What a shell in the container leaves behind, one attack after the other on one running shop."""

from __future__ import annotations

from collections.abc import AsyncIterator
from random import Random

import pytest
from kiosk_site import OWNER
from mutations.attacks import ATTACKS, PREAMBLE, Attack
from mutations.beside import beside
from mutations.seeds import seeded
from mutations.subject import Accounts, Subject
from mutations.witness import parted

from orchestrator.engine.engine import Engine
from orchestrator.pool.acquiring import place
from orchestrator.reset.ladder import reset_replica
from orchestrator.reset.replica import start_replica
from orchestrator.reset.watch import Watch
from sites.atlas import load_atlas

pytestmark = [pytest.mark.docker, pytest.mark.slow(minutes=1)]

SHOP = load_atlas().site("shop")
_PLACES = (
    "site=shop; home=/srv/shop; state=/srv/shop/state; media=/srv/shop/state/media;"
    " table=basket_basket\n"
)


@pytest.fixture
def dice(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> Random:
    with capsys.disabled():
        return seeded(request.node.name)


@pytest.fixture
async def watch(engine: Engine) -> AsyncIterator[Watch]:
    """Over a new shop that was proven golden."""
    replica = await start_replica(engine, await place(engine, SHOP, owner=OWNER, slot=0))
    made = Watch.over(engine, replica, new=True)
    await made.prove()
    yield made
    await made.close()
    await engine.sweep(OWNER)


async def test_a_reset_leaves_nothing_of_any_attack(
    engine: Engine, watch: Watch, dice: Random
) -> None:
    """Resets are those of `arena reset`, which watched nobody; the order is random."""
    golden = await beside(Subject(engine, watch.replica, Accounts()))
    for attack in dice.sample(ATTACKS, k=len(ATTACKS)):
        try:
            watch = await undone(engine, watch, attack, golden)
        except BaseException as error:
            error.add_note(f"attack: {attack.name}")
            raise
    await watch.close()


async def undone(engine: Engine, watch: Watch, attack: Attack, golden: frozenset[str]) -> Watch:
    """Attack, reset, and compare what an independent witness sees; return the next watch."""
    subject = Subject(engine, watch.replica, Accounts())
    await subject.shell(_PLACES + PREAMBLE + attack.script)
    assert await beside(subject) != golden, "it had no effect"
    if attack.noticed:
        assert await watch.moved() is not None
    await watch.close()
    done = await reset_replica(engine, Watch.over(engine, watch.replica), wrote=False)
    assert (done.receipt.strategy, done.receipt.proven) == (attack.undone, True), done.receipt
    found = await beside(Subject(engine, done.replica, Accounts()))
    assert found == golden, parted(found, golden)
    return done.watch
