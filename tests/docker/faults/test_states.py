"""The supervisor, the container or Arena dies at each step of taking and of restoring a state."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Final

import pytest
from quick_cases import SLOW, quick_first
from sabotage.engine_cli import containers_of, start_inside
from sabotage.inside import ambush

from arena_core.errors import ResetError, SiteError, StateError
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.reset.database import execute_as_owner
from orchestrator.sandbox.reset.ladder import WAYS_TO_A_STATE, Reset, reset_replica
from orchestrator.sandbox.reset.replica import Replica
from orchestrator.sandbox.reset.state import TakenState
from orchestrator.sandbox.reset.strategies import trusted_supervision
from orchestrator.sandbox.reset.taking import take_state
from orchestrator.sandbox.reset.watch import Watch

pytestmark = pytest.mark.docker

Prove = Callable[[Replica], Awaitable[None]]
STATE: Final = "/srv/shop/state"
DIES_WITHIN_S: Final = 60.0
RESTORED_WITHIN_S: Final = 20.0


async def sql(engine: Engine, replica: Replica, statements: str) -> str:
    done = await execute_as_owner(engine, replica, statements, "--skip-column-names", timeout_s=60)
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
    supervision = await trusted_supervision(watch)
    struck = ambush(replica.container.id, STATE, moment, "SIGKILL")
    with pytest.raises(SiteError, match="closed the connection"):
        await supervision.take_state()
    assert struck()
    async with asyncio.timeout(DIES_WITHIN_S):
        await engine.wait_exit(replica.container.id)
    done = await restored(watch, None)
    assert done.receipt.strategy == "recreate"
    await require_golden(done.replica)


@SLOW
@pytest.mark.parametrize("moment", ["copy", "stand", "start"])
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


@SLOW
async def test_a_state_that_does_not_lead_to_its_fingerprint_is_never_handed_out(
    engine: Engine, watch: Watch, taken: TakenState, owner: str
) -> None:
    golden = await watch.replica.placement.golden.parts()
    watch.aim(replace(taken, fingerprint=golden))
    with pytest.raises(ResetError, match=r"brought to a state that was taken; .* table kept"):
        await reset_replica(engine, watch, strategies=WAYS_TO_A_STATE)
    assert containers_of(owner) == []


@SLOW
async def test_a_state_that_was_cut_off_is_refused_and_the_site_stays_as_it_is(
    engine: Engine, watch: Watch, taken: TakenState, owner: str
) -> None:
    supervision = await watch.supervision()
    before = supervision.generation
    watch.aim(replace(taken, packed=taken.packed[:-1]))
    with pytest.raises(StateError, match="the state "):
        await reset_replica(engine, watch, strategies=WAYS_TO_A_STATE)
    assert (supervision.generation, supervision.is_ready) == (before, True)
    assert await sql(engine, watch.replica, "SELECT t FROM kept") == "row\n"
    assert containers_of(owner) == [watch.replica.container.id]


# The number of each transaction is printed when it is committed.
WRITER: Final = """
for ((n = 1; ; n++)); do
    echo "BEGIN; INSERT INTO one VALUES ($n); INSERT INTO two VALUES ($n); COMMIT; SELECT $n;"
done | mariadb --defaults-file=/srv/shop/my.cnf -BNn shop
"""
WHOLE: Final = (
    "SELECT COUNT(*), MIN(n), MAX(n) FROM one; SELECT COUNT(*), MIN(n), MAX(n) FROM two;"
    " CHECK TABLE one, two"
)


@SLOW
async def test_what_is_committed_while_a_state_is_taken_is_in_it_whole_or_not_at_all(
    engine: Engine, watch: Watch
) -> None:
    """The supervisor alone is asked: `take_state` refuses what is written to all the time."""
    replica = watch.replica
    await sql(engine, replica, "CREATE TABLE one (n INT PRIMARY KEY); CREATE TABLE two LIKE one")
    supervision = await trusted_supervision(watch)
    with start_inside(replica.container.id, "bash", "-c", WRITER) as writer:
        assert writer.stdout is not None
        committed = int(await asyncio.to_thread(writer.stdout.readline))
        taken = await supervision.take_state()
        await supervision.restore_state(taken.packed, RESTORED_WITHIN_S)  # it ends the writer too
    ones, twos, *checked = (await sql(engine, replica, WHOLE)).splitlines()
    count, first, last = map(int, ones.split())
    assert ones == twos
    assert (first, last) == (1, count)
    assert count >= committed
    assert [line.split("\t")[2:] for line in checked] == [["status", "OK"]] * 2


# What an attacker does who runs code as the application's own user: the shape of what it is told.
INTRUDER: Final = r"""
import json, os, socket
tokens = ['', os.environ.get('ARENA_STATES_TOKEN', '')]
for pid in filter(str.isdigit, os.listdir('/proc')):
    if pid == '1':
        continue  # docs/states.md says what the first process gives away
    try:
        environment = open(f'/proc/{pid}/environ', 'rb').read()
    except OSError:
        continue
    pairs = (entry.partition(b'=') for entry in environment.split(b'\0'))
    tokens += [value.decode() for name, _, value in pairs if name == b'ARENA_STATES_TOKEN']
told = []
for token in tokens:
    with socket.create_connection(('127.0.0.1', 9009), 20) as port:
        lines = port.makefile('rb')
        lines.readline()
        port.sendall(b'POST / HTTP/1.1\r\n')
        told.append(json.loads(lines.readline()))
        trust = {'ask': 'trust', 'token': token}
        for question in (trust, {'ask': 'take'}, {'ask': 'restore', 'taken': ''}, {'ask': 'clock'}):
            port.sendall(json.dumps(question).encode() + b'\r\n')
            told.append(json.loads(lines.readline()))
print(json.dumps([sorted(one) for one in told]))
"""


@SLOW
async def test_a_site_that_reaches_its_supervisor_can_neither_take_nor_restore(
    engine: Engine, watch: Watch
) -> None:
    supervision = await watch.supervision()
    before = supervision.generation
    done = await engine.execute(watch.replica.container.id, ("python3", "-c", INTRUDER))
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    assert len(told) >= 2 * 4  # without a token, and with that of its own environment
    assert {tuple(one) for one in told} == {("ask", "error")}
    assert (supervision.generation, supervision.is_ready) == (before, True)
    assert await watch.moved() is None
