"""States of real sites: taken while they run, gone back to, proven, and golden again after that."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from quick_cases import SLOW

from arena_core.errors import ResetError, StateError
from orchestrator.cli.entry import main
from orchestrator.sandbox.check_queries import ask
from orchestrator.sandbox.engine.containers import Labels
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.pool.placement import place
from orchestrator.sandbox.pool.slot_pool import UP
from orchestrator.sandbox.reset import taking
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

TOOLS = pytest.mark.parametrize("site", ["tools"], indirect=True)  # every site has this database
PATIENCE_S = 60.0
READS_S = 5
READING = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE = 'User sleep'"
WAITING = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE = 'User lock'"


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


class Session:
    """A connection of the database's owner that stays open, as a request's does."""

    def __init__(self, replica: Replica) -> None:
        name = replica.site.name
        client = ("mariadb", f"--defaults-file=/srv/{name}/my.cnf", "-BNn", name)
        self._process = subprocess.Popen(
            ["docker", "exec", "-i", replica.container.id, *client],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def begin(self, sql: str) -> None:
        """Send statements; none of their answers is read."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{sql};\n")

    def ask(self, sql: str) -> str:
        """Send statements of which the last answers with one line, and return that."""
        assert self._process.stdout is not None
        self.begin(sql)
        return self._process.stdout.readline().strip()

    def end(self) -> None:
        """Leave: MariaDB rolls back what was open."""
        self._process.communicate(timeout=60)


def until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not done():
        assert time.monotonic() < end


@pytest.fixture
def session(site: Site) -> Iterator[Callable[[], Session]]:
    """Open a session; all end with the test."""
    opened: list[Session] = []

    def open_one() -> Session:
        opened.append(Session(site.replica))
        return opened[-1]

    yield open_one
    for one in opened:
        one.end()


@TOOLS
async def test_a_transaction_that_stays_open_is_refused_and_may_go_on(
    site: Site, session: Callable[[], Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taking, "_QUIET_WITHIN_S", 0.0)
    await site.sql("CREATE TABLE kept (t TEXT)")
    writer = session()
    number = writer.ask("BEGIN; INSERT INTO kept VALUES ('half'); SELECT CONNECTION_ID()")
    with pytest.raises(StateError) as refusal:
        await take_state(site.engine, site.watch)
    transaction = f"connection {number} of arena has an open transaction: 1 rows changed, "
    assert transaction in refusal.value.message
    assert refusal.value.hint == "wait until it ends, or end it; then save"
    assert writer.ask("INSERT INTO kept VALUES ('whole'); COMMIT; SELECT 'done'") == "done"
    taken = await take_state(site.engine, site.watch)
    assert len(taken.packed) < 1_000_000
    await site.sql("DROP TABLE kept")
    await site.go_to(taken)
    assert (await site.sql("SELECT t FROM kept ORDER BY t")).split() == ["half", "whole"]


@TOOLS
async def test_a_request_that_ends_soon_is_waited_for(
    site: Site, session: Callable[[], Session]
) -> None:
    await site.sql("CREATE TABLE kept (t TEXT)")
    writer = session()
    assert writer.ask("BEGIN; INSERT INTO kept VALUES ('whole'); SELECT 'written'") == "written"
    writer.begin("DO SLEEP(1); COMMIT")
    taken = await take_state(site.engine, site.watch)
    await site.sql("DROP TABLE kept")
    await site.go_to(taken)
    assert await site.sql("SELECT t FROM kept") == "whole\n"


@SLOW
@TOOLS
async def test_whoever_waits_for_an_advisory_lock_is_a_request_under_way(
    site: Site, session: Callable[[], Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taking, "_QUIET_WITHIN_S", 0.0)
    holder, waiting = session(), session()
    assert holder.ask("SELECT GET_LOCK('import', 0)") == "1"
    waiting.begin("DO GET_LOCK('import', 600)")
    until(lambda: holder.ask(WAITING) == "1")
    with pytest.raises(StateError, match=r"runs a statement \(User lock\) for .* s, which a"):
        await take_state(site.engine, site.watch)


@TOOLS
async def test_whoever_holds_an_advisory_lock_is_a_request_under_way(
    site: Site, session: Callable[[], Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taking, "_QUIET_WITHIN_S", 0.0)
    holder = session()
    assert holder.ask("SELECT GET_LOCK('import', 0)") == "1"
    with pytest.raises(StateError) as refusal:
        await take_state(site.engine, site.watch)
    assert "of arena holds the lock 'import'; idle for " in refusal.value.message
    assert holder.ask("SELECT RELEASE_ALL_LOCKS()") == "1"
    await take_state(site.engine, site.watch)


@TOOLS
async def test_rows_of_other_schemas_and_accounts_are_proven(site: Site) -> None:
    await site.sql(
        "CREATE DATABASE `be-side`",
        "CREATE TABLE `be-side`.`o.``dd` (t TEXT)",
        "INSERT INTO `be-side`.`o.``dd` VALUES ('kept')",
    )
    first = await take_state(site.engine, site.watch)
    await site.sql("CREATE USER visitor IDENTIFIED BY 'first'")
    taken = await take_state(site.engine, site.watch)
    assert taken.fingerprint.differences(first.fingerprint) == ("rows of mysql: other content",)
    await site.sql("UPDATE `be-side`.`o.``dd` SET t = 'lost'", "SET PASSWORD FOR visitor = ''")
    changed = await take_state(site.engine, site.watch)
    both = ("rows of be-side: other content", "rows of mysql: other content")
    assert changed.fingerprint.differences(taken.fingerprint) == both
    assert b"ibtmp1" not in zlib.decompress(taken.packed)  # a server makes its own
    await site.go_to(taken)
    assert await site.sql("SELECT t FROM `be-side`.`o.``dd`") == "kept\n"
    forged = replace(taken, fingerprint=changed.fingerprint)
    with pytest.raises(ResetError, match=r"rows of be-side: other content; rows of mysql: other"):
        await site.go_to(forged)


@SLOW
@TOOLS
async def test_what_only_reads_is_let_pass(
    site: Site, session: Callable[[], Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taking, "_QUIET_WITHIN_S", 0.0)
    application = session()
    assert application.ask("BEGIN; SELECT COUNT(*) > 0 FROM desk_note") == "1"
    arena = asyncio.create_task(ask(site.replica, f"SELECT SLEEP({READS_S})"))
    await asyncio.to_thread(until, lambda: application.ask(READING) == "1")
    await take_state(site.engine, site.watch)
    assert application.ask(READING) == "1", "it did not read all the time"
    await arena


@SLOW
@TOOLS
async def test_an_image_that_does_not_let_arena_look_is_refused(site: Site) -> None:
    await site.sql("REVOKE PROCESS ON *.* FROM arena@localhost")
    refusal = "whether a request is under way cannot be seen: ERROR 1227 .* PROCESS privilege"
    with pytest.raises(StateError, match=refusal):
        await take_state(site.engine, site.watch)


@TOOLS
async def test_tables_that_no_crash_survives_are_taken_after_a_clean_shutdown(site: Site) -> None:
    await site.sql(
        "CREATE TABLE plain (id INT PRIMARY KEY, t TEXT, FULLTEXT (t)) ENGINE = MyISAM",
        "INSERT INTO plain VALUES (1, 'one'), (2, 'two')",
    )
    generation = (await site.watch.supervision()).generation
    taken = await take_state(site.engine, site.watch)
    assert (await site.watch.supervision()).generation == generation + 1
    assert await site.sql("SELECT t FROM plain") == "one\ntwo\n"
    for _ in range(2):
        await site.sql("REPLACE INTO plain VALUES (1, 'other')", "DELETE FROM plain WHERE id = 2")
        await site.go_to(taken)
        assert await site.sql("SELECT t FROM plain ORDER BY id") == "one\ntwo\n"
        assert "OK" in await site.sql("CHECK TABLE plain EXTENDED")
    await site.go_to(None)


async def test_what_no_state_can_hold_is_refused_by_name(site: Site) -> None:
    await site.sql("CREATE TABLE unsafe (id INT) ENGINE = MEMORY")
    with pytest.raises(StateError, match="table unsafe is of MEMORY"):
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
    since = json.loads(arena("diff", "tools", *slot, "--json"))
    assert since["from"] == "half"
    assert [(one["of"], one["table"]) for one in since["changes"]] == [("row", "half_done")]
    since = json.loads(arena("diff", "tools", *slot, "--from", "golden", "--json"))
    assert since["from"] == "golden"
    assert [(one["of"], one["table"]) for one in since["changes"]] == [("table", "half_done")]
    carried = tmp_path / "carried.arena-state"
    arena("state", "export", "half", str(carried))
    arena("state", "import", str(carried))
    arena("state", "rm", "half")
    assert "carried" in arena("state", "list")
    arena("reset", "tools", *slot)
    assert json.loads(arena("diff", "tools", *slot, "--json"))["from"] == "golden"
    arena("state", "restore", "carried", *slot)
    assert arena("diff", "tools", *slot) == "tools: nothing changed\n"
    arena("state", "rm", "carried")
    assert "that it was brought to is not kept here" in arena("diff", "tools", *slot, fails=45)
