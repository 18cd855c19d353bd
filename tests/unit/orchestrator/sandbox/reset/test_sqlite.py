"""A SQLite database is read from a copy of its files: as of one moment, and without a trace."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from arena_core.errors import DatabaseError
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.reset.sqlite import (
    SqliteReader,
    SqliteTable,
    copy_database,
    opened,
    read_objects,
    read_tables,
)
from orchestrator.sandbox.reset.state import TableState
from sites.manifest import FileDatabase, FingerprintProbes, Site

SITE = Site.model_validate(
    {
        "name": "ledger",
        "title": "Ledger",
        "summary": "a ledger",
        "host": "ledger.arena.test",
        "stateful": True,
        "image": {"tag": "own/ledger:1", "published": "unused"},
        "port": 8000,
        "health": {"path": "/health", "contains": "ready"},
        "resources": {"memory_mb": 64, "cpus": 1, "pids": 32},
        "database": {"engine": "sqlite", "file": "/data/ledger.db"},
    }
)
PROBES = FingerprintProbes()


@dataclass
class Folder:
    """Gives the files of a folder as an engine gives those of a container."""

    path: Path
    writes: list[bytes] = field(default_factory=list)

    async def find_file(self, _container: str, path: str) -> bytes | None:
        file = self.path / Path(path).name
        found = file.read_bytes() if file.exists() else None
        if self.writes and not file.suffix.endswith(("wal", "journal")):
            file.write_bytes(self.writes.pop())
        return found


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def database(folder: Folder, *statements: str) -> sqlite3.Connection:
    connection = sqlite3.connect(folder.path / "ledger.db", isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    return connection


@contextmanager
def reading(folder: Folder) -> Iterator[sqlite3.Connection]:
    import asyncio  # noqa: PLC0415

    given = cast("FileDatabase", SITE.database)
    copy = asyncio.run(copy_database(cast("Engine", folder), SITE, given, "container"))
    with opened(SITE, copy) as connection:
        yield connection


def rows(folder: Folder, sql: str) -> tuple[tuple[object, ...], ...]:
    with reading(folder) as connection:
        return SqliteReader(SITE, connection).read(sql).rows


def tables(folder: Folder, probes: FingerprintProbes = PROBES) -> dict[str, SqliteTable]:
    with reading(folder) as connection:
        return {table.name: table for table in read_tables(connection, probes)}


def states(folder: Folder, probes: FingerprintProbes = PROBES) -> dict[str, TableState]:
    with reading(folder) as connection:
        return {one.name: one.state(connection) for one in read_tables(connection, probes)}


@pytest.mark.parametrize("mode", ["delete", "wal", "truncate", "persist"])
def test_what_is_committed_is_read_and_what_is_under_way_is_not(folder: Folder, mode: str) -> None:
    with closing(
        database(
            folder,
            f"PRAGMA journal_mode = {mode}",
            "PRAGMA cache_size = 2",  # what is under way is written to the file early
            "CREATE TABLE t (x)",
            "INSERT INTO t VALUES ('kept')",
            "BEGIN",
        )
    ) as writing:
        writing.executemany("INSERT INTO t VALUES (?)", [("x" * 900,) for _ in range(400)])
        before = {path.name: path.read_bytes() for path in folder.path.iterdir()}
        assert rows(folder, "SELECT * FROM t") == (("kept",),)
        assert {path.name: path.read_bytes() for path in folder.path.iterdir()} == before
        writing.execute("COMMIT")
        assert rows(folder, "SELECT COUNT(*) FROM t") == ((401,),)


async def test_a_file_that_changed_between_the_rounds_is_copied_again(folder: Folder) -> None:
    folder.path.joinpath("ledger.db").write_bytes(b"first")
    folder.writes = [b"last", b"second"]
    given = cast("FileDatabase", SITE.database)
    copy = await copy_database(cast("Engine", folder), SITE, given, "container")
    assert copy.files == {"": b"last"}


async def test_a_file_that_never_stands_still_is_named(folder: Folder) -> None:
    folder.path.joinpath("ledger.db").write_bytes(b"0")
    folder.writes = [str(number).encode() for number in range(1, 50)]
    given = cast("FileDatabase", SITE.database)
    with pytest.raises(DatabaseError, match="is written to all the time"):
        await copy_database(cast("Engine", folder), SITE, given, "container")


def test_a_missing_file_and_one_that_is_no_database_are_named(folder: Folder) -> None:
    with pytest.raises(DatabaseError, match=r"there is no file /data/ledger\.db"):
        rows(folder, "SELECT 1")
    folder.path.joinpath("ledger.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(DatabaseError, match="not a database"):
        rows(folder, "SELECT 1")


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM t",
        "CREATE TABLE u (x)",
        "CREATE TEMP TABLE u (x)",
        "ATTACH '/etc/hostname' AS other",
        "PRAGMA user_version = 3",
        "PRAGMA query_only = OFF",
        "SELECT load_extension('x')",
        "VACUUM INTO '/tmp/arena-out.db'",
        "SELECT 1; SELECT 2",
        "SHOW TABLES",
    ],
)
def test_nothing_but_one_reading_statement_is_run(folder: Folder, sql: str) -> None:
    database(folder, "CREATE TABLE t (x)").close()
    with pytest.raises(DatabaseError, match="database of site 'ledger': query failed"):
        rows(folder, sql)


def test_an_answer_is_cut_where_it_is_long(folder: Folder) -> None:
    database(folder, "CREATE TABLE t (x)", "INSERT INTO t VALUES (1), (2), (3)").close()
    with reading(folder) as connection:
        answer = SqliteReader(SITE, connection).read("SELECT x AS n FROM t", 2)
    assert (answer.columns, answer.rows, answer.cut) == (("n",), ((1,), (2,)), True)


VALUES = ["1", "1.0", "'1'", "x'31'", "NULL", "''", "x''", "0.1", "0.30000000000000004", "-0.0"]


def test_every_other_value_is_another_content(folder: Folder) -> None:
    contents = set()
    for value in VALUES:
        statements = ("DROP TABLE IF EXISTS t", "CREATE TABLE t (a, b)")
        insert = f"INSERT INTO t VALUES ({value}, 'b')"  # noqa: S608
        database(folder, *statements, insert).close()
        contents.add(states(folder)["t"].content)
    database(folder, "DELETE FROM t", "INSERT INTO t VALUES (CAST(x'ff' AS TEXT), 'b')").close()
    contents.add(states(folder)["t"].content)
    database(folder, "DELETE FROM t", "INSERT INTO t VALUES ('1t', '')").close()
    contents.add(states(folder)["t"].content)
    assert len(contents) == len(VALUES) + 2


def test_the_order_in_which_rows_were_written_does_not_matter_and_repeats_do(
    folder: Folder,
) -> None:
    database(folder, "CREATE TABLE t (x)", "INSERT INTO t VALUES (1), (2)").close()
    first = states(folder)
    database(folder, "DELETE FROM t", "INSERT INTO t VALUES (2), (1)").close()
    assert states(folder) == first
    database(folder, "INSERT INTO t VALUES (1)").close()
    assert states(folder)["t"] != first["t"]


@pytest.mark.parametrize(
    ("columns", "key", "counter"),
    [
        ("id INTEGER PRIMARY KEY, x", ("id",), 8),
        ("id INTEGER PRIMARY KEY AUTOINCREMENT, x", ("id",), 10),
        ("id INT PRIMARY KEY, x", (), None),  # may be NULL, more than once
        ("id INT PRIMARY KEY NOT NULL, x", ("id",), None),
        ("id NUMERIC NOT NULL PRIMARY KEY, x", (), None),  # 1 and '1' beside each other
        ("id INTEGER, x TEXT NOT NULL, PRIMARY KEY (x, id)", (), None),
        ("id INTEGER NOT NULL, x TEXT NOT NULL, PRIMARY KEY (x, id)", ("x", "id"), None),
        ("id INTEGER PRIMARY KEY NOT NULL, x) WITHOUT ROWID --", ("id",), None),
        ("id INTEGER, x", (), None),
    ],
)
def test_keys_and_next_ids_are_those_of_the_table(
    folder: Folder, columns: str, key: tuple[str, ...], counter: int | None
) -> None:
    database(
        folder,
        f"CREATE TABLE t ({columns}\n)" if "--" not in columns else f"CREATE TABLE t ({columns}",
        "INSERT INTO t (id, x) VALUES (7, 'a'), (9, 'b')",
        "DELETE FROM t WHERE id = 9",
    ).close()
    found = tables(folder)["t"]
    assert (found.key, found.counter) == (key, counter)


def test_volatile_tables_and_columns_are_left_out(folder: Folder) -> None:
    database(folder, "CREATE TABLE t (a, b)", "CREATE TABLE v (x)").close()
    probes = FingerprintProbes(
        volatile_tables=frozenset({"v"}), volatile_columns={"t": frozenset({"b"})}
    )
    before = states(folder, probes)
    assert list(before) == ["t"]
    database(folder, "INSERT INTO v VALUES (1)", "UPDATE t SET b = 2").close()
    assert states(folder, probes) == before


def test_definitions_indexes_and_references_are_part_of_a_table(folder: Folder) -> None:
    create = "CREATE TABLE t (id INTEGER PRIMARY KEY, other INTEGER REFERENCES u)"
    database(folder, create, "CREATE TABLE u (id INTEGER PRIMARY KEY)").close()
    before = states(folder)
    assert "FOREIGN KEY (other) REFERENCES u (rowid)" in tables(folder)["t"].definition
    database(folder, "CREATE INDEX i ON t (other)").close()
    assert states(folder)["t"].definition != before["t"].definition
    assert states(folder)["u"] == before["u"]


def test_views_triggers_and_what_applications_set_are_objects(folder: Folder) -> None:
    database(
        folder,
        "CREATE TABLE t (x)",
        "CREATE VIEW w AS SELECT x FROM t",
        "CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END",
        "PRAGMA user_version = 7",
        "CREATE VIRTUAL TABLE f USING fts5 (body)",
    ).close()
    with reading(folder) as connection:
        found = {(one.kind, one.name) for one in read_objects(connection)}
    assert found == {
        ("view", "w"),
        ("trigger", "g"),
        ("table", "f"),
        ("setting", "user_version"),
    }
    assert {"f_content", "f_data"} <= tables(folder).keys()
