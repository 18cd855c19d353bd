"""What MariaDB counts, tried on a real server: state changed means that a counter moved.

Whether the state changed is judged by a witness that reads everything the superuser can see.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from random import Random

import pymysql
import pytest
from quick_cases import SLOW

from orchestrator.sandbox.engine.containers import Endpoint
from orchestrator.sandbox.reset.counters import Meter
from orchestrator.sandbox.reset.replica import Replica

pytestmark = pytest.mark.docker

Shell = Callable[[str], Awaitable[None]]
Rows = tuple[tuple[object, ...], ...]

ROUNDS = 300

# Statements that change nothing must not move a counter: a false alarm costs a reset.
READING = """
SELECT * FROM note
SELECT * FROM note AS a JOIN note AS b ORDER BY b.text DESC
SELECT text, COUNT(*) FROM note GROUP BY text WITH ROLLUP
SELECT * FROM note FOR UPDATE
SELECT NOW(), SLEEP(0.01), @x := 1, GET_LOCK("a", 0), RELEASE_LOCK("a")
SHOW TABLES
SHOW CREATE TABLE note
SHOW GLOBAL STATUS
SHOW TABLE STATUS
SELECT * FROM information_schema.TABLES
SELECT * FROM mysql.global_priv
EXPLAIN SELECT * FROM note
SET SESSION sql_mode = ""
SET @x = 5
BEGIN
COMMIT
ROLLBACK
DO 1
PREPARE p FROM "SELECT * FROM note"
EXECUTE p
DEALLOCATE PREPARE p
EXECUTE IMMEDIATE "SELECT 1"
USE kiosk
CALL looks()
SELECT many()
""".strip().splitlines()

# Each of these changes the state, or what the server does from now on, in a way of its own.
WRITING = """
INSERT INTO note (text) VALUES ("x")
INSERT INTO note (text) VALUES ("x") RETURNING id
INSERT INTO note (text) SELECT text FROM note LIMIT 1
INSERT IGNORE INTO account (name) VALUES ("someone")
REPLACE INTO note (id, text) VALUES (1, "replaced")
UPDATE note SET text = CONCAT(text, "!") WHERE id = 1
UPDATE note, account SET note.text = "both" WHERE note.id = 1
WITH one AS (SELECT 1) SELECT puts() FROM one
SELECT puts()
DO puts()
CALL keeps()
BEGIN NOT ATOMIC INSERT INTO note (text) VALUES ("block"); END
PREPARE p FROM "INSERT INTO note (text) VALUES (1)" | EXECUTE p
EXECUTE IMMEDIATE "INSERT INTO note (text) VALUES (1)"
SET STATEMENT max_statement_time = 9 FOR INSERT INTO note (text) VALUES ("s")
ANALYZE FORMAT=JSON UPDATE note SET text = "analyzed"
SELECT 1 INTO OUTFILE "/tmp/{outfile}" | LOAD DATA INFILE "/tmp/{outfile}" INTO TABLE note (text)
BEGIN | INSERT INTO note (text) VALUES ("gone") | ROLLBACK
BEGIN | SAVEPOINT s | INSERT INTO note (text) VALUES ("gone") | ROLLBACK TO s | COMMIT
INSERT INTO twice (id, once) VALUES (NULL, 1)
DELETE FROM note WHERE id = 1
DELETE note FROM note JOIN account WHERE note.id = 2
TRUNCATE note
ALTER TABLE note AUTO_INCREMENT = 1000
ALTER TABLE note ADD COLUMN extra INT
ALTER TABLE note DROP COLUMN extra
ALTER TABLE note COMMENT "other"
CREATE INDEX ix ON note (author)
DROP INDEX ix ON note
RENAME TABLE note TO moved | RENAME TABLE moved TO note | INSERT INTO note (text) VALUES ("r")
CREATE TABLE made (id INT) ENGINE=InnoDB
CREATE TABLE made_too AS SELECT * FROM note
DROP TABLE made
CREATE TABLE isam (id INT AUTO_INCREMENT PRIMARY KEY, x INT UNIQUE) ENGINE=MyISAM
INSERT INTO isam (x) VALUES (7), (8)
INSERT IGNORE INTO isam (x) VALUES (7)
DELETE FROM isam WHERE x = 7
TRUNCATE isam
CREATE TABLE aria (id INT PRIMARY KEY) ENGINE=Aria
INSERT INTO aria VALUES (1)
CREATE TABLE heap (id INT AUTO_INCREMENT PRIMARY KEY, x INT) ENGINE=MEMORY
INSERT INTO heap (x) VALUES (1)
TRUNCATE heap
CREATE TABLE csv (id INT NOT NULL) ENGINE=CSV
INSERT INTO csv VALUES (1)
CREATE SEQUENCE numbers
SELECT NEXTVAL(numbers)
SELECT NEXT VALUE FOR numbers, SETVAL(numbers, 5000)
ALTER SEQUENCE numbers RESTART 3
DROP SEQUENCE numbers
CREATE SEQUENCE singly NOCACHE
SELECT NEXTVAL(singly)
SELECT NEXTVAL(singly)
CREATE VIEW seen AS SELECT id FROM note
CREATE OR REPLACE VIEW seen AS SELECT text FROM note
DROP VIEW seen
CREATE TRIGGER pulled AFTER INSERT ON note FOR EACH ROW UPDATE account SET last_seen = NOW(6)
INSERT INTO note (text) VALUES ("triggers")
DROP TRIGGER pulled
CREATE PROCEDURE another() SELECT 1
DROP PROCEDURE another
CREATE FUNCTION also() RETURNS INT RETURN 1
ALTER FUNCTION also COMMENT "other"
DROP FUNCTION also
CREATE EVENT later ON SCHEDULE EVERY 1 DAY DO SELECT 1
ALTER EVENT later DISABLE
DROP EVENT later
CREATE DATABASE other
CREATE TABLE other.t (id INT)
INSERT INTO other.t VALUES (1)
ALTER DATABASE other CHARACTER SET latin1
DROP DATABASE other
CREATE USER guest IDENTIFIED BY "x"
GRANT SELECT ON kiosk.* TO guest
GRANT SELECT (id) ON kiosk.note TO guest
SET PASSWORD FOR guest = PASSWORD("y")
ALTER USER guest IDENTIFIED BY "z"
CREATE ROLE aide
GRANT aide TO guest
SET DEFAULT ROLE aide FOR guest
REVOKE ALL ON kiosk.* FROM guest
RENAME USER guest TO visitor
DROP USER visitor
DROP ROLE aide
CREATE SERVER far FOREIGN DATA WRAPPER mysql OPTIONS (HOST "x")
DROP SERVER far
SET GLOBAL sql_mode = "ANSI"
SET GLOBAL sql_mode = "TRADITIONAL"
SET GLOBAL max_connections = 77
SET @@global.wait_timeout = 1000
SET GLOBAL TRANSACTION ISOLATION LEVEL SERIALIZABLE
SET GLOBAL time_zone = "+01:00"
SET GLOBAL innodb_io_capacity = 300
SET GLOBAL init_connect = "SELECT 1"
SET GLOBAL read_only = 1
SET GLOBAL read_only = 0
XA START "t" | INSERT INTO note (text) VALUES ("xa") | XA END "t" | XA PREPARE "t"
XA COMMIT "t"
FLUSH STATUS
FLUSH TABLES
ANALYZE TABLE note
OPTIMIZE TABLE note
""".strip().splitlines()

MADE_BY_ROOT = (
    'CREATE USER boss@"%" IDENTIFIED BY "boss"; GRANT ALL ON *.* TO boss@"%" WITH GRANT OPTION'
)
MADE_FIRST = """
CREATE TABLE twice (id INT AUTO_INCREMENT PRIMARY KEY, once INT UNIQUE)
INSERT INTO twice (once) VALUES (1)
CREATE PROCEDURE looks() SELECT * FROM note
CREATE FUNCTION many() RETURNS INT RETURN (SELECT COUNT(*) FROM note)
CREATE PROCEDURE keeps() INSERT INTO note (text) VALUES ("kept")
CREATE FUNCTION puts() RETURNS INT BEGIN INSERT INTO note (text) VALUES ("put"); RETURN 1; END
""".strip().splitlines()


@dataclass(frozen=True, slots=True)
class Boss:
    """The superuser, over a connection of its own; its locks never wait."""

    connection: pymysql.connections.Connection

    @classmethod
    def at(cls, database: Endpoint) -> Boss:
        return cls(
            pymysql.connect(
                host=database.host,
                port=database.port,
                user="boss",
                password="boss",
                database="kiosk",
                autocommit=True,
                ssl_disabled=True,
                init_command="SET SESSION lock_wait_timeout = 0, innodb_lock_wait_timeout = 0",
            )
        )

    def run(self, statement: str) -> Rows:
        with self.connection.cursor() as cursor:
            cursor.execute(statement)
            return tuple(cursor.fetchall())

    def run_all(self, statements: str) -> None:
        for statement in statements.split(" | "):
            self.run(statement)

    def everything(self) -> Iterator[object]:
        """Yield all that is state, whatever engine and schema it is in."""
        for query in (
            "SHOW DATABASES",
            "SELECT SCHEMA_NAME, DEFAULT_CHARACTER_SET_NAME FROM information_schema.SCHEMATA",
            "SELECT TRIGGER_NAME, ACTION_STATEMENT FROM information_schema.TRIGGERS",
            "SHOW GLOBAL VARIABLES",
        ):
            yield self.run(query)
        for schema, table, counter in self.run(
            "SELECT TABLE_SCHEMA, TABLE_NAME, AUTO_INCREMENT FROM information_schema.TABLES"
            " WHERE TABLE_SCHEMA NOT IN ('information_schema', 'performance_schema', 'sys')"
            " AND TABLE_NAME NOT REGEXP '_(stats|log)$|^transaction_registry$|^(help|time)_'"
        ):
            name = f"`{schema}`.`{table}`"
            yield name, counter, self.run(f"SHOW CREATE TABLE {name}")
            yield self.run(f"SELECT * FROM {name}")  # noqa: S608

    def witness(self) -> str:
        return repr(list(self.everything()))


@asynccontextmanager
async def metered(replica: Replica) -> AsyncIterator[Meter]:
    assert replica.database is not None
    meter = await Meter.open(replica.site, replica.database)
    try:
        yield meter
    finally:
        meter.close()


async def settled(meter: Meter, boss: Boss) -> None:
    """Wait until the server has tidied up behind earlier writes: history, statistics.

    It does so in the background, in turns of a second or more: one quiet second says nothing yet.
    """
    async with asyncio.timeout(30):
        for statement in READING:
            boss.run(statement)
        before = None
        while (now := await meter.read()) != before:
            before = now
            boss.run("SELECT SLEEP(4)")


@pytest.fixture
async def boss(replica: Replica, sql: Shell) -> AsyncIterator[Boss]:
    await sql(MADE_BY_ROOT)
    assert replica.database is not None
    boss = await asyncio.to_thread(Boss.at, replica.database)
    for statement in MADE_FIRST:
        boss.run(statement)
    with closing(boss.connection):
        yield boss


async def test_a_statement_that_only_reads_moves_nothing(replica: Replica, boss: Boss) -> None:
    async with metered(replica) as meter:
        await settled(meter, boss)
        for statement in READING:
            before = await meter.read()
            boss.run(statement)
            assert (await meter.read()).moved_since(before) is None, statement


@SLOW
async def test_pages_that_only_read_and_time_that_passes_move_nothing(
    replica: Replica, boss: Boss
) -> None:
    from orchestrator.sandbox.engine.engine import Engine  # noqa: PLC0415
    from orchestrator.sandbox.reset.replica import await_health  # noqa: PLC0415

    async with metered(replica) as meter, await Engine.connect() as engine:
        await settled(meter, boss)
        before = await meter.read()
        for _ in range(20):
            await await_health(engine, replica)
        boss.run("SELECT SLEEP(3)")
        assert (await meter.read()).moved_since(before) is None


@SLOW
async def test_the_checkpoint_of_a_server_that_was_just_started_moves_nothing(
    replica: Replica,
) -> None:
    """It is made a second or two after the start, and has its own record in the log."""
    async with metered(replica) as meter:
        before = await meter.read()
        for _ in range(40):
            await asyncio.sleep(0.1)
            assert (await meter.read()).moved_since(before) is None


async def test_every_kind_of_write_moves_a_counter(replica: Replica, boss: Boss) -> None:
    async with metered(replica) as meter:
        for number, statement in enumerate(WRITING):
            before = await meter.read()
            try:
                boss.run_all(statement.replace("{outfile}", f"out-{number}"))
            except pymysql.IntegrityError:
                assert "twice" in statement  # refused, and still the next id has moved
            assert (await meter.read()).moved_since(before) is not None, statement


@SLOW
async def test_the_end_of_a_transaction_that_wrote_before_moves_a_counter(
    replica: Replica, boss: Boss
) -> None:
    for end in ("COMMIT", "ROLLBACK"):
        boss.run("BEGIN")
        boss.run("UPDATE note SET text = CONCAT(text, 'late')")
        async with metered(replica) as meter:
            before = await meter.read()
            boss.run(end)
            moved = (await meter.read()).moved_since(before)
            assert moved is not None
            assert "Innodb_lsn_current" in moved


@SLOW
async def test_an_event_that_writes_by_itself_moves_a_counter(replica: Replica, boss: Boss) -> None:
    boss.run("SET GLOBAL event_scheduler = ON")
    async with metered(replica) as meter, asyncio.timeout(30):
        boss.run(
            "CREATE EVENT soon ON SCHEDULE AT NOW() + INTERVAL 1 SECOND"
            " DO INSERT INTO note (text) VALUES ('by itself')"
        )
        before = await meter.read()
        while not boss.run("SELECT SLEEP(0.1), id FROM note WHERE text = 'by itself'"):
            boss.run("SELECT SLEEP(0.1)")
        assert (await meter.read()).moved_since(before) is not None


@SLOW
async def test_the_first_number_of_a_sequence_since_it_was_opened_moves_a_counter(
    replica: Replica, boss: Boss
) -> None:
    """The next ones are given out of memory, unseen; but then the first one has been seen."""
    boss.run("CREATE SEQUENCE numbers")
    for number in (1, 1001):
        boss.run("FLUSH TABLES")  # as after a start: nothing of it is in memory
        async with metered(replica) as meter:
            before = await meter.read()
            assert boss.run("SELECT NEXTVAL(numbers)") == ((number,),)
            assert (await meter.read()).moved_since(before) is not None


@SLOW
async def test_a_killed_connection_is_an_error_and_no_answer(replica: Replica, boss: Boss) -> None:
    from arena_core.errors import DatabaseError  # noqa: PLC0415

    async with metered(replica) as meter:
        await meter.read()
        ((number,),) = boss.run("SELECT ID FROM information_schema.PROCESSLIST WHERE USER='reader'")
        boss.run(f"KILL {number}")
        with pytest.raises(DatabaseError):
            await meter.read()


@SLOW
async def test_a_state_that_changed_has_moved_a_counter_whatever_was_run(
    replica: Replica, boss: Boss
) -> None:
    """Random statements of every kind, over connections whose transactions stay open."""
    assert replica.database is not None
    seed = Random().randrange(10**9)
    dice = Random(seed)
    changes = 0
    with ExitStack() as stack:
        writers = [Boss.at(replica.database) for _ in range(3)]
        for writer in writers:
            stack.enter_context(closing(writer.connection))
        async with metered(replica) as meter:
            was = boss.witness()
            for number in range(ROUNDS):
                statement = _some_statement(dice, number)
                before = await meter.read()
                _try(dice.choice(writers), statement)
                moved = (await meter.read()).moved_since(before)
                now = boss.witness()
                assert now == was or moved, f"seed {seed}, round {number}: {statement}"
                changes += now != was
                was = now
    assert changes > ROUNDS / 10


def _some_statement(dice: Random, number: int) -> str:
    """Return a statement or a few: often the plain ones that transactions are made of."""
    row = dice.randint(1, 8)
    plain = (
        "INSERT INTO note (text) VALUES ('{number}')",
        "INSERT INTO note (id, text) VALUES ({row}, '{number}')",
        "UPDATE note SET text = 'a' WHERE id = {row}",
        "UPDATE note SET text = 'b' WHERE id = {row}",
        "DELETE FROM note WHERE id = {row}",
        "BEGIN",
        "SET autocommit = 0",
        "SET autocommit = 1",
        "COMMIT",
        "ROLLBACK",
        "SAVEPOINT here",
        "ROLLBACK TO here",
    )
    pool = dice.choices((plain, WRITING, READING), (6, 5, 1))[0]
    return (
        dice.choice(pool)
        .replace("{outfile}", f"random-{number}")
        .replace("{number}", str(number))
        .replace("{row}", str(row))
    )


def _try(writer: Boss, statement: str) -> None:
    """Run it; that a statement is refused where it makes no sense is part of the game."""
    try:
        writer.run_all(statement)
    except pymysql.MySQLError:
        return
