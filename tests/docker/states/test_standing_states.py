"""States of real sites: taken while they run, gone back to, proven, and golden again after that."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from quick_cases import SLOW

from arena_core.errors import StateError
from orchestrator.cli.entry import main
from orchestrator.sandbox.engine.containers import Labels
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.pool.placement import place
from orchestrator.sandbox.pool.slot_pool import UP
from orchestrator.sandbox.reset.ladder import reset_replica
from orchestrator.sandbox.reset.replica import Replica, start_replica
from orchestrator.sandbox.reset.state import TakenState
from orchestrator.sandbox.reset.strategies import Rewind
from orchestrator.sandbox.reset.taking import take_state
from orchestrator.sandbox.reset.watch import Watch
from sites.manifest import ServerDatabase
from sites.registry import load_registry

pytestmark = pytest.mark.docker

SLOT = 2000 + os.getpid()  # of its own, beside what else may be up
SITES = [
    "tools",
    *(pytest.param(name, marks=SLOW) for name in ("shop", "cms", "forge", "forum")),
]


async def sql(engine: Engine, replica: Replica, *statements: str) -> str:
    """Run SQL as the owner of the database, through the socket inside the container."""
    name = replica.site.name
    database = replica.site.database
    assert isinstance(database, ServerDatabase)
    argv = ("mariadb", f"--defaults-file=/srv/{name}/my.cnf", "-BN", database.name)
    done = await engine.execute(replica.container.id, (*argv, "-e", "; ".join(statements)))
    assert done.exit_code == 0, done.stderr
    return done.stdout.decode()


class Site:
    """A replica that a test writes to."""

    def __init__(self, engine: Engine, replica: Replica) -> None:
        self.engine = engine
        self.replica = replica
        self.watch = Watch.over(engine, replica, new=True)

    async def sql(self, *statements: str) -> str:
        return await sql(self.engine, self.replica, *statements)

    async def go_to(self, taken: TakenState | None) -> None:
        """Go to a state, or to golden, and prove it; by the rewind alone."""
        self.watch.aim(taken)
        reset = await reset_replica(self.engine, self.watch, strategies=(Rewind(),))
        assert reset.receipt.proven
        assert reset.receipt.strategy == "rewind"
        assert reset.receipt.fallbacks == ()


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    async with await Engine.connect() as connected:
        yield connected


@pytest.fixture(params=SITES)
async def site(request: pytest.FixtureRequest, engine: Engine) -> AsyncIterator[Site]:
    manifest = load_registry().site(request.param)
    placement = await place(engine, manifest, owner=f"states-{os.getpid()}", slot=0)
    made = Site(engine, await start_replica(engine, placement))
    yield made
    await made.watch.close()
    await engine.remove(made.replica.container.id)


async def test_the_last_row_that_was_written_is_part_of_a_state(site: Site) -> None:
    """Taken right after each commit, while the site runs; a crash must not lose the last row."""
    await site.sql("CREATE TABLE kept (id INT PRIMARY KEY AUTO_INCREMENT, t TEXT) ENGINE = InnoDB")
    states = []
    for number in range(3):
        row = f"INSERT INTO kept (t) VALUES (REPEAT('{number}', 20000))"  # noqa: S608 - a number
        await site.sql(row)
        states.append(await take_state(site.engine, site.watch))
    await site.sql("DROP TABLE kept", "CREATE TABLE later (id INT) ENGINE = InnoDB")
    for number in (2, 0, 1):
        await site.go_to(states[number])
        found = await site.sql("SELECT COUNT(*), MAX(LEFT(t, 1)) FROM kept")
        assert found.split() == [str(number + 1), str(number)]
    assert all(len(one.packed) < 1_000_000 for one in states)
    await site.go_to(None)
    assert "kept" not in (await site.sql("SHOW TABLES")).split()


async def test_what_no_state_can_hold_is_refused_by_name(site: Site) -> None:
    await site.sql("CREATE TABLE unsafe (id INT) ENGINE = MyISAM")
    with pytest.raises(StateError, match="table unsafe is of MyISAM"):
        await take_state(site.engine, site.watch)
    await site.sql("DROP TABLE unsafe", "SET GLOBAL max_connections = 99")
    with pytest.raises(StateError, match="MAX_CONNECTIONS was set while the server ran"):
        await take_state(site.engine, site.watch)
    await site.go_to(None)


@pytest.fixture
def standing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., None]]:
    """The tools of `arena up`; call it to write into their database."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    tools = load_registry().site("tools")

    async def start() -> Replica:
        async with await Engine.connect() as engine:
            return await start_replica(engine, await place(engine, tools, owner=UP, slot=SLOT))

    async def write(*statements: str) -> None:
        async with await Engine.connect() as engine:
            await sql(engine, replica, *statements)

    async def remove() -> None:
        async with await Engine.connect() as engine:
            for one in await engine.containers({Labels.OWNER: UP, Labels.SLOT: str(SLOT)}):
                await engine.remove(one.id)

    replica = asyncio.run(start())
    yield lambda *statements: asyncio.run(write(*statements))
    asyncio.run(remove())


@pytest.fixture
def arena(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., str]:
    """Call a command; return what it printed, or its error."""

    def called(*words: str, fails: int = 0) -> str:
        monkeypatch.setattr(sys, "argv", ["arena", *words])
        with pytest.raises(SystemExit) as leaving:
            main()
        printed = capsys.readouterr()
        assert (leaving.value.code or 0) == fails, printed.err
        return printed.err if fails else printed.out

    return called


def test_a_site_is_saved_changed_and_brought_back_by_commands(
    standing: Callable[..., None], arena: Callable[..., str], tmp_path: Path
) -> None:
    slot = ("--slot", str(SLOT))
    standing("CREATE TABLE half_done (id INT) ENGINE = InnoDB")
    [saved] = json.loads(arena("state", "save", "half", "tools", *slot, "--json"))
    assert list(saved["sites"]) == ["tools"]
    assert "'half' already" in arena("state", "save", "half", *slot, fails=2)
    standing("DROP TABLE half_done")
    [restored] = json.loads(arena("state", "restore", "half", *slot, "--json"))
    assert restored["proven"]
    assert restored["after"] == saved["sites"]["tools"]["fingerprint"]
    standing("INSERT INTO half_done VALUES (1)")
    assert arena("state", "diff", "half") == "tools: table half_done: new\n"
    carried = tmp_path / "carried.arena-state"
    arena("state", "export", "half", str(carried))
    arena("state", "import", str(carried))
    arena("state", "rm", "half")
    assert "carried" in arena("state", "list")
    arena("reset", "tools", *slot)
    arena("state", "restore", "carried", *slot)
    assert "half_done" in arena("diff", "tools", *slot)
