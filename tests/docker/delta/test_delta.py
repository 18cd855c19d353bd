from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from mutations.subject import Subject
from quick_cases import SLOW, quick_first

from arena_core.errors import ImageError
from evaluators.changes import IgnoredChanges, MoreChanges, RowChange, said
from orchestrator.sandbox.delta.delta import Delta, NextId, delta_of
from orchestrator.sandbox.delta.golden_rows import GoldenRows
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.golden import ROWS_LABEL, golden_rows
from orchestrator.sandbox.reset.replica import Replica
from orchestrator.sandbox.reset.sqlite import HASH_LENGTH
from sites.manifest import Site

pytestmark = pytest.mark.docker

Difference = Callable[[str, str], Awaitable[Delta]]


def told(delta: Delta) -> list[str]:
    return [said(change) for change in delta.changes]


async def test_a_fresh_replica_differs_in_nothing(engine: Engine, replica: Replica) -> None:
    assert (await delta_of(engine, replica)).is_empty


@pytest.mark.parametrize(
    ("statement", "lines"),
    quick_first([
        (
            "INSERT INTO note (author, text) VALUES ('ada', 'third')",
            ["table note, row id=3 added: author 'ada', text 'third'"],
        ),
        (
            "DELETE FROM note WHERE id = 1",
            ["table note, row id=1 removed: author 'ada', text 'first'"],
        ),
        (
            "UPDATE note SET text = 'First', author = NULL WHERE id = 1",
            ["table note, row id=1: author 'ada' -> NULL, text 'first' -> 'First'"],
        ),
        (
            "UPDATE note SET id = 7 WHERE id = 2",
            [
                "table note, row id=2 removed: author 'grace', text 'second'",
                "table note, row id=7 added: author 'grace', text 'second'",
            ],
        ),
        (
            "UPDATE account SET password = 'x', last_seen = NOW() WHERE name = 'ada'",
            ["table account, row name=ada: password (redacted)"],
        ),
        ("UPDATE account SET last_seen = NOW()", []),
        ("INSERT INTO visit (seen_at) VALUES (NOW(6))", []),
        ("TRUNCATE note", ["table note, row id=1 removed: author 'ada', text 'first'",
                           "table note, row id=2 removed: author 'grace', text 'second'"]),
        ("DROP TABLE note", ["table note removed: 2 rows"]),
        ("CREATE TABLE t (x INT); INSERT INTO t VALUES (1)", ["table t added: 1 row"]),
        (
            "ALTER TABLE note ADD COLUMN extra INT; UPDATE note SET text = 'x' WHERE id = 2",
            [
                "table note: with `extra` int(11) DEFAULT NULL",
                "table note, row id=2: text 'second' -> 'x'",
            ],
        ),
        (
            "ALTER TABLE note DROP COLUMN author; DELETE FROM note WHERE id = 1",
            [
                "table note: without `author` varchar(20) DEFAULT NULL",
                "table note, row id=1 removed: text 'first'",
            ],
        ),
    ]),
)  # fmt: skip
async def test_every_row_that_differs_is_reported(
    engine: Engine, replica: Replica, subject: Subject, statement: str, lines: list[str]
) -> None:
    await subject.sql(statement)
    assert told(await delta_of(engine, replica)) == lines


@SLOW
async def test_next_ids_are_distinguished_from_changes(
    engine: Engine, replica: Replica, subject: Subject
) -> None:
    await subject.sql("INSERT INTO note (text) VALUES ('x'); DELETE FROM note WHERE text = 'x'")
    found = await delta_of(engine, replica)
    assert found.changes == ()
    assert found.next_ids == (NextId("note", 3, 4),)
    assert not found.is_empty


async def test_files_are_reported(engine: Engine, replica: Replica, subject: Subject) -> None:
    await subject.shell("cd /srv/kiosk/files && chmod 600 picture.txt && echo x > new && mkdir sub")
    assert told(await delta_of(engine, replica)) == [
        "file /srv/kiosk/files/new added",
        "file /srv/kiosk/files/picture.txt: mode 600 instead of 644",
        "file /srv/kiosk/files/sub added",
    ]
    await subject.shell("cd /srv/kiosk/files && rm -r new sub picture.txt")
    assert told(await delta_of(engine, replica)) == ["file /srv/kiosk/files/picture.txt removed"]


@SLOW
async def test_what_else_a_fingerprint_holds_is_reported_too(
    engine: Engine, replica: Replica, subject: Subject
) -> None:
    await subject.sql("CREATE VIEW seen AS SELECT id FROM note")
    [line] = told(await delta_of(engine, replica))
    assert "seen" in line


@SLOW
async def test_no_more_rows_are_read_than_asked_for(between: Difference, subject: Subject) -> None:
    rows = "INSERT INTO many SELECT seq, seq FROM seq_1_to_450"
    found = await between(
        f"CREATE TABLE many (id INT PRIMARY KEY, n INT); {rows}", "UPDATE many SET n = n + 1"
    )
    *shown, more = found.changes
    assert [change.key for change in shown if isinstance(change, RowChange)] == [
        {"id": str(n)} for n in range(1, 201)
    ]
    assert more == MoreChanges(table="many", count=250)


@SLOW
async def test_what_is_ignored_is_not_reported(
    engine: Engine, replica: Replica, subject: Subject
) -> None:
    await subject.sql(
        "UPDATE note SET text = 'x' WHERE id = 1",
        "UPDATE note SET text = 'y', author = 'eve' WHERE id = 2",
        "UPDATE account SET name = 'eve' WHERE name = 'ada'",
    )
    ignored = IgnoredChanges(tables=("acc*",), columns={"note": ("text",)})
    assert told(await delta_of(engine, replica, ignored=ignored)) == [
        "table note, row id=2: author 'grace' -> 'eve'"
    ]


SESSION = "SET NAMES utf8mb4; SET time_zone = '+00:00'"
TYPES = [
    ("DECIMAL(20,4)", "1234567890123.4500", "1234567890123.4501"),
    ("FLOAT", "1000001", "1000002"),
    ("DOUBLE", "0.1", "0.10000000000000002"),
    ("BIGINT UNSIGNED", "18446744073709551615", "18446744073709551614"),
    ("DATE", "2026-01-31", "2026-02-01"),
    ("DATETIME(6)", "2026-01-01 00:00:00.000001", "2026-01-01 00:00:00.000002"),
    ("TIMESTAMP(3) NULL", "2026-07-01 12:00:00.125", "2026-07-01 12:00:00.126"),
    ("TIME(2)", "-12:00:00.50", "-12:00:00.51"),
    ("YEAR", "1999", "2000"),
    ("ENUM('x', 'y')", "x", "y"),
    ("SET('a', 'b', 'c')", "a,c", "b"),
    ("TEXT", "tea", "tea "),
    ("VARCHAR(9)", "a", "A"),
    ("VARCHAR(9)", "", "null"),
    ("VARCHAR(9) CHARACTER SET latin1", "é", "è"),
    ("JSON", '{"a": [1, null]}', '{"a": [1.0, null]}'),
    ("UUID", "123e4567-e89b-12d3-a456-426655440000", "123e4567-e89b-12d3-a456-426655440001"),
    ("INET6", "2001:db8::1", "2001:db8::2"),
]
BYTES = [
    ("VARBINARY(9)", "0x00ff27", "0x00ff28"),
    ("BLOB", "0x", "0x00"),
    ("BINARY(2)", "0xc328", "0xc329"),
]


async def test_values_of_every_type_are_reported_exactly(between: Difference) -> None:
    for number, (kind, was, now) in enumerate([*TYPES, *BYTES]):
        before, after = (
            ("X'" + value[2:] + "'" if (kind, was, now) in BYTES else f"'{value}'")
            for value in (was, now)
        )
        found = await between(
            f"{SESSION}; CREATE OR REPLACE TABLE odd (id INT PRIMARY KEY, v {kind});"  # noqa: S608
            f" INSERT INTO odd VALUES ({number}, {before})",
            f"{SESSION}; UPDATE odd SET v = {after}",  # noqa: S608
        )
        assert len(found.changes) == 1, told(found)
        [change] = found.changes
        assert isinstance(change, RowChange)
        assert change.changed == ("v",), kind
        assert (change.before, change.after) == (
            {"id": str(number), "v": was},
            {"id": str(number), "v": now},
        )


@SLOW
async def test_bits_are_numbers_and_null_is_no_text(between: Difference) -> None:
    found = await between(
        "CREATE TABLE odd (id INT PRIMARY KEY, b BIT(9), n INT);"
        " INSERT INTO odd VALUES (1, 256, 0)",
        "UPDATE odd SET b = 257, n = NULL",
    )
    [change] = found.changes
    assert isinstance(change, RowChange)
    assert change.before == {"id": "1", "b": "256", "n": "0"}
    assert change.after == {"id": "1", "b": "257", "n": None}


# A table's key, the key of a first and of a second row, and what the second is called.
KEYS = [
    ("a INT, b VARCHAR(9), PRIMARY KEY (a, b)", "1, 'x'", "1, 'y'", "a=1, b=y"),
    ("a INT, b VARCHAR(9), PRIMARY KEY (b, a)", "1, 'x'", "1, 'y'", "b=y, a=1"),
    ("a BINARY(2) PRIMARY KEY", "0xc328", "0x0027", "a=0x0027"),
    ("a VARCHAR(9) PRIMARY KEY", "'it''s'", "'b\\\\'", "a=b\\"),
    ("a VARCHAR(9) PRIMARY KEY", "'[1]'", "''", "a="),
    ("a DOUBLE PRIMARY KEY", "0.1", "0.3", "a=0.3"),
    ("a DATETIME(6) PRIMARY KEY", "0", "'2026-01-01 00:00:00.5'", "a=2026-01-01 00:00:00.500000"),
    ("a BIGINT PRIMARY KEY", "-9", "-10", "a=-10"),
]


@SLOW
async def test_a_row_is_known_by_whatever_its_key_is(between: Difference) -> None:
    for key, first, second, named in KEYS:
        found = await between(
            f"CREATE OR REPLACE TABLE keyed (v INT, {key});"  # noqa: S608
            f" INSERT INTO keyed VALUES (1, {first}), (2, {second})",
            "UPDATE keyed SET v = 3 WHERE v = 2",
        )
        assert told(found) == [f"table keyed, row {named}: v 2 -> 3"]


@SLOW
async def test_rows_without_a_key_are_counted(between: Difference) -> None:
    found = await between(
        "CREATE TABLE log (x VARCHAR(9)); INSERT INTO log VALUES ('a'), ('a'), ('b'), ('c')",
        "DELETE FROM log WHERE x = 'a' LIMIT 1; DELETE FROM log WHERE x = 'c';"
        " INSERT INTO log VALUES ('b'), ('b'), ('d')",
    )
    assert sorted(told(found)) == [
        "table log, a row added: x 'b'",
        "table log, a row added: x 'b'",
        "table log, a row added: x 'd'",
        "table log, a row removed: x 'a'",
        "table log, a row removed: x 'c'",
    ]


@SLOW
async def test_a_table_that_lost_its_key_is_compared_by_content(between: Difference) -> None:
    found = await between(
        "CREATE TABLE k (id INT PRIMARY KEY, x INT); INSERT INTO k VALUES (1, 1), (2, 2)",
        "ALTER TABLE k DROP PRIMARY KEY; INSERT INTO k VALUES (2, 2)",
    )
    lines = told(found)
    assert lines[0].startswith("table k: without PRIMARY KEY (`id`)")
    assert lines[1:] == ["table k, a row added: id 2, x 2"]


@SLOW
async def test_keys_that_are_numbers_stand_in_their_order(between: Difference) -> None:
    found = await between(
        "CREATE TABLE k (id INT PRIMARY KEY)", "INSERT INTO k VALUES (10), (9), (100)"
    )
    assert told(found) == [f"table k, row id={n} added" for n in (9, 10, 100)]


async def test_what_travels_with_an_image_is_its_golden_state(
    engine: Engine, kiosk: Site, replica: Replica
) -> None:
    image = await engine.image(kiosk.image.tag)
    assert image is not None
    golden = await replica.placement.golden.parts()
    with GoldenRows.opened(await golden_rows(engine, image)) as rows:
        tables = rows.tables()
        sums = {
            name: f"{sum(int(entry[:HASH_LENGTH], 16) for entry, _ in rows.entries(table)):x}"
            for name, table in tables.items()
        }
    assert sums == {table.name: table.content for table in golden.tables}
    assert "visit" not in tables
    assert [column.name for column in tables["account"].shape.columns] == ["name", "password"]


@SLOW
async def test_an_image_is_read_out_once_and_by_several_at_once(
    engine: Engine, kiosk: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    image = await engine.image(kiosk.image.tag)
    assert image is not None
    files = await asyncio.gather(*[golden_rows(engine, image) for _ in range(4)])
    assert len(set(files)) == 1
    written = files[0].stat().st_ino
    assert (await golden_rows(engine, image)).stat().st_ino == written


@SLOW
async def test_an_image_without_rows_is_named_with_what_mends_it(
    engine: Engine, kiosk: Site
) -> None:
    image = await engine.image(kiosk.image.tag)
    assert image is not None
    bare = {name: value for name, value in image.labels.items() if name != ROWS_LABEL}
    with pytest.raises(ImageError, match="sealed without its rows") as refused:
        await golden_rows(engine, replace(image, labels=bare))
    assert "arena build" in refused.value.hint
