"""Changes by SQL, as the database's superuser: of rows, of counters, of definitions."""

# ruff: noqa: S608  the names are those of the tests' own sites
from __future__ import annotations

from random import Random

from mutations.grounds import GROUNDS, Grounds
from mutations.mutation import Kind, Mutation
from mutations.seeds import word
from mutations.subject import Subject

_UNBOUND = "SET foreign_key_checks = 0"


async def used_ids(subject: Subject) -> tuple[str, ...]:
    """Insert a row into some tables, and return table and id of each: the ids that came next."""
    grounds = GROUNDS[subject.site]
    statements = [
        statement
        for table in grounds.copied
        for statement in (
            _copy_row(grounds, table, "next"),
            f"SELECT '{table}', LAST_INSERT_ID()",
        )
    ]
    return await subject.sql(*statements)


async def _insert(subject: Subject, dice: Random) -> str:
    table, text = dice.choice(GROUNDS[subject.site].copied), word(dice)
    insert = _copy_row(GROUNDS[subject.site], table, text)
    number = await subject.value(insert, "SELECT LAST_INSERT_ID()")
    assert int(number) > 0, f"{table} gave no id"
    return f"row {number} of {table}, '{text}'"


async def _update(subject: Subject, dice: Random) -> str:
    table, column, number = await _some_row(subject, dice)
    text = word(dice)
    changed = await subject.value(
        f"UPDATE {table} SET {column} = '{text}' WHERE {_key(subject, table)} = {number}",
        "SELECT ROW_COUNT()",
    )
    assert changed == "1", f"{table}: {changed} rows changed"
    return f"row {number} of {table} says '{text}'"


async def _delete(subject: Subject, dice: Random) -> str:
    table, _, number = await _some_row(subject, dice)
    changed = await subject.value(
        _UNBOUND,
        f"DELETE FROM {table} WHERE {_key(subject, table)} = {number}",
        "SELECT ROW_COUNT()",
    )
    assert changed == "1", f"{table}: {changed} rows deleted"
    return f"row {number} of {table}"


async def _rolled_back_insert(subject: Subject, dice: Random) -> str:
    """No row stays; but the number it would have had is used up."""
    table = dice.choice(GROUNDS[subject.site].copied)
    insert = _copy_row(GROUNDS[subject.site], table, word(dice))
    *_, before, rows, after, left = await subject.sql(
        _next_id(table),
        f"SELECT COUNT(*) FROM {table}",
        *("START TRANSACTION", insert, "ROLLBACK"),
        _next_id(table),
        f"SELECT COUNT(*) FROM {table}",
    )
    assert int(after) > int(before), f"{table}: next id {after} after {before}"
    assert left == rows, f"{table}: {left} rows after {rows}"
    return f"{table}, next id {after} instead of {before}"


async def _jump(subject: Subject, dice: Random) -> str:
    table = dice.choice(sorted(GROUNDS[subject.site].prose))
    wanted = dice.randint(10**6, 10**7)
    *_, found = await subject.sql(f"ALTER TABLE {table} AUTO_INCREMENT = {wanted}", _next_id(table))
    assert int(found) == wanted, f"{table}: next id {found}"
    return f"next id of {table} is {wanted}"


async def _truncate(subject: Subject, dice: Random) -> str:
    looks = [f"(SELECT '{table}' FROM {table} LIMIT 1)" for table in await _tables(subject)]
    table = dice.choice(await subject.sql(" UNION ALL ".join(looks)))
    before, after = await subject.sql(
        _UNBOUND,
        f"SELECT COUNT(*) FROM {table}",
        f"TRUNCATE TABLE {table}",
        f"SELECT COUNT(*) FROM {table}",
    )
    assert int(before) > 0 == int(after), f"{table}: {before} rows, then {after}"
    return f"{table}, {before} rows"


async def _drop(subject: Subject, dice: Random) -> str:
    table = dice.choice(await _tables(subject))
    await subject.sql(_UNBOUND, f"DROP TABLE {table}")
    assert table not in await _tables(subject), f"{table} is still there"
    return table


async def _rename(subject: Subject, dice: Random) -> str:
    table, name = dice.choice(await _tables(subject)), word(dice)
    await subject.sql(_UNBOUND, f"RENAME TABLE {table} TO {name}")
    there = await _tables(subject)
    assert name in there, f"no {name}"
    assert table not in there, f"{table} is still there"
    return f"{table} is {name}"


async def _create(subject: Subject, dice: Random) -> str:
    name = word(dice)
    rows = await subject.value(
        f"CREATE TABLE {name} (id INT AUTO_INCREMENT PRIMARY KEY, text VARCHAR(20))",
        f"INSERT INTO {name} (text) VALUES ('one'), ('two')",
        f"SELECT COUNT(*) FROM {name}",
    )
    assert rows == "2", rows
    return f"{name}, 2 rows"


async def _add_column(subject: Subject, dice: Random) -> str:
    table, name = dice.choice(await _tables(subject)), word(dice)
    found = await subject.value(
        f"ALTER TABLE {table} ADD COLUMN {name} INT NOT NULL DEFAULT 7",
        "SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()"
        f" AND COLUMN_NAME = '{name}'",
    )
    assert found == "1", f"{table} has no {name}"
    return f"{table}.{name}"


async def _add_view(subject: Subject, dice: Random) -> str:
    table, name = dice.choice(await _tables(subject)), word(dice)
    assert await subject.sql(
        f"CREATE VIEW {name} AS SELECT COUNT(*) FROM {table}",
        f"SELECT * FROM {name}",
    )
    return f"{name} of {table}"


async def _add_trigger(subject: Subject, dice: Random) -> str:
    table, name = dice.choice(await _tables(subject)), word(dice)
    found = await subject.value(
        f"CREATE TRIGGER {name} BEFORE INSERT ON {table} FOR EACH ROW SET @seen = 1",
        f"SELECT COUNT(*) FROM information_schema.TRIGGERS WHERE TRIGGER_NAME = '{name}'",
    )
    assert found == "1", f"no trigger {name}"
    return f"{name} on {table}"


ROWS = (
    Mutation("insert", Kind.SQL, _insert),
    Mutation("update", Kind.SQL, _update),
    Mutation("delete", Kind.SQL, _delete),
    Mutation("rolled-back insert", Kind.SQL, _rolled_back_insert),
    Mutation("auto-increment jump", Kind.SQL, _jump),
)
SCHEMA = (
    Mutation("truncate", Kind.SCHEMA, _truncate),
    Mutation("drop table", Kind.SCHEMA, _drop),
    Mutation("rename table", Kind.SCHEMA, _rename),
    Mutation("create table", Kind.SCHEMA, _create),
    Mutation("add column", Kind.SCHEMA, _add_column),
    Mutation("create view", Kind.SCHEMA, _add_view),
    Mutation("create trigger", Kind.SCHEMA, _add_trigger),
)


def _copy_row(grounds: Grounds, table: str, text: str) -> str:
    """Return the statement, whatever columns the table has by now."""
    column, key = grounds.prose[table], grounds.key(table)
    others = (
        "(SELECT GROUP_CONCAT('`', COLUMN_NAME, '`') FROM information_schema.COLUMNS"
        f" WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '{table}'"
        f" AND COLUMN_NAME NOT IN ('{key}', '{column}'))"
    )
    return (
        f"SET @others = {others}; EXECUTE IMMEDIATE CONCAT('INSERT INTO {table} ({column}, ',"
        f" @others, ') SELECT ''{text}'', ', @others, ' FROM {table} ORDER BY {key} LIMIT 1')"
    )


def _next_id(table: str) -> str:
    return (
        "SELECT AUTO_INCREMENT FROM information_schema.TABLES"
        f" WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '{table}'"
    )


def _key(subject: Subject, table: str) -> str:
    return GROUNDS[subject.site].key(table)


async def _tables(subject: Subject) -> list[str]:
    found = await subject.sql(
        "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"
        " AND TABLE_TYPE = 'BASE TABLE'"
    )
    return sorted(set(found) - GROUNDS[subject.site].aside)


async def _some_row(subject: Subject, dice: Random) -> tuple[str, str, int]:
    """Return a table, its text column and the id of one of its rows."""
    table, column = dice.choice(sorted(GROUNDS[subject.site].prose.items()))
    place, key = dice.random(), _key(subject, table)
    number = await subject.value(
        f"SELECT {key} FROM {table} WHERE {key} >= (SELECT MIN({key}) + {place} * (MAX({key})"
        f" - MIN({key})) FROM {table}) ORDER BY {key} LIMIT 1"
    )
    return table, column, int(number)
