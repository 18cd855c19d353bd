"""The state of a whole database: tables, objects and probes.

MariaDB is read over two connections at the same time.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Final, assert_never, cast

from arena_core.errors import DatabaseError
from orchestrator.sandbox.reset.database import database_reader, mariadb_connection, rows_of
from orchestrator.sandbox.reset.sqlite import (
    HASH_LENGTH,
    DatabaseCopy,
    SqliteReader,
    opened,
    read_tables,
)
from orchestrator.sandbox.reset.sqlite import read_objects as read_sqlite_objects
from orchestrator.sandbox.reset.state import ObjectState, ProbeState, TableState
from sites.manifest import DatabaseEngine

if TYPE_CHECKING:
    from orchestrator.sandbox.engine.containers import Endpoint
    from orchestrator.sandbox.reset.database import Connection, Row
    from sites.manifest import FingerprintProbes, Probe, ServerDatabase, Site


_WHOLE = ("tinyint", "smallint", "mediumint", "int", "bigint", "decimal")
_BROKEN = ("float", "double")
_TIMES = ("date", "datetime", "timestamp", "time", "year")
_PLAIN = frozenset((*_WHOLE, *_BROKEN, *_TIMES))
_UNHASHED = 10**40
_COUNTER = re.compile(r"\) (ENGINE=\w+ )?AUTO_INCREMENT=\d+ ")
THE_TABLES = (
    " FROM information_schema.TABLES"
    " WHERE TABLE_SCHEMA = DATABASE()"
    " AND TABLE_TYPE IN ('BASE TABLE', 'SEQUENCE', 'SYSTEM VERSIONED')"
)


@dataclass(frozen=True, slots=True)
class TablePlan:
    """A table whose content is to be read.

    Attributes:
        columns: name and data type of each that is state, in their order.
        counter: the next id it would give.
        size: about how much there is to read; only for the order of the work.
        is_versioned: whether it keeps the rows of before, which are read too.
    """

    name: str
    columns: tuple[tuple[str, str], ...]
    counter: int | None
    size: int
    is_versioned: bool = False


def plans(connection: Connection, probes: FingerprintProbes) -> tuple[TablePlan, ...]:
    """Return every table that is not volatile, the largest first.

    MariaDB answers from the open table, which reads the counter that InnoDB keeps on disk; there is
    no cache of statistics in between, as MySQL 8 has one.
    """
    columns = _columns(connection, probes)
    found = rows_of(
        connection, f"SELECT TABLE_NAME, AUTO_INCREMENT, TABLE_ROWS, TABLE_TYPE{THE_TABLES}"
    )
    planned = (
        TablePlan(
            name=str(name),
            columns=columns[str(name)],
            counter=None if counter is None else int(str(counter)),
            size=int(str(rows or 0)) * len(columns[str(name)]),
            is_versioned=kind == "SYSTEM VERSIONED",
        )
        for name, counter, rows, kind in found
        if name not in probes.volatile_tables
    )
    return tuple(sorted(planned, key=lambda plan: (-plan.size, plan.name)))


def definitions(connection: Connection) -> Mapping[str, str]:
    """Return a hash of each table's definition without its counter, volatile tables included.

    Their order is the catalogue's turned round: whoever asks for the columns meanwhile, over
    another connection, opens the tables from the other end.
    """
    names = sorted(str(name) for (name,) in rows_of(connection, f"SELECT TABLE_NAME{THE_TABLES}"))
    return {
        name: hashlib.sha256(definition_of(connection, name).encode()).hexdigest()
        for name in reversed(names)
    }


def table_state(connection: Connection, plan: TablePlan, definition: str) -> TableState:
    ((rows, total),) = rows_of(connection, content_sql(plan))
    content = int(str(total))
    if content >= _UNHASHED:
        long = content // _UNHASHED
        message = f"table {plan.name}: {long} of its {rows} rows are too long to hash"
        raise DatabaseError(message, hint="raise the server's max_allowed_packet")
    return TableState(
        name=plan.name,
        rows=cast("int", rows),
        content=f"{content:x}",
        auto_increment=plan.counter,
        definition=definition,
    )


def row_text_sql(columns: Iterable[tuple[str, str]]) -> str:
    """Return the SQL expression that writes one row as text, injective over the columns' values.

    A number or a time ends at its comma. Anything else is its length, a colon and its bytes. NULL
    is `N`. So no two different rows share a text, whatever their values contain.
    """
    values = "".join(f", {_value_sql(*column)}" for column in columns)
    return f"CONCAT(''{values})"


def row_hash_sql(columns: Iterable[tuple[str, str]]) -> str:
    """Return the SQL expression of 64 bits over a row, as `HASH_LENGTH` hex digits.

    Processors have instructions for SHA-1: MD5 takes twice the time.
    """
    return f"LEFT(SHA1({row_text_sql(columns)}), {HASH_LENGTH})"


def content_sql(plan: TablePlan) -> str:
    """Return the query for the count of rows and the exact sum of a 64-bit hash of each.

    A sum is free of order, and counts repeats (in a xor two equal rows would cancel out). The
    database gives NULL for a text longer than its max_allowed_packet: such a row adds `_UNHASHED`.
    """
    number = f"CAST(CONV({row_hash_sql(plan.columns)}, 16, 10) AS UNSIGNED)"
    whole = " FOR SYSTEM_TIME ALL" if plan.is_versioned else ""
    return (
        f"SELECT COUNT(*), COALESCE(SUM(COALESCE({number}, {_UNHASHED})), 0)"  # noqa: S608
        f" FROM {quoted(plan.name)}{whole}"  # names come quoted from the database's own catalogue
    )


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _value_sql(name: str, kind: str) -> str:
    column = quoted(name)
    if kind == "float":
        # FLOAT prints six digits only; as DOUBLE it prints every digit it has.
        column = f"CAST({column} AS DOUBLE)"
    if kind in _PLAIN:
        return f"IFNULL({column}, 'N'), ','"
    return f"IFNULL(LENGTH({column}), 'N'), ':', IFNULL(CAST({column} AS BINARY), '')"


def definition_of(connection: Connection, name: str) -> str:
    """Return the statement that creates a table, without its counter."""
    ((_, definition, *_rest),) = rows_of(connection, f"SHOW CREATE TABLE {quoted(name)}")
    return _COUNTER.sub(r") \1", str(definition))


def _columns(
    connection: Connection, probes: FingerprintProbes
) -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Return name and data type of the columns that are state, by table, in their order."""
    columns: defaultdict[str, tuple[tuple[str, str], ...]] = defaultdict(tuple)
    for table, column, kind in rows_of(
        connection,
        "SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE FROM information_schema.COLUMNS"
        " WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, ORDINAL_POSITION",
    ):
        if column not in probes.volatile_columns.get(str(table), frozenset()):
            columns[str(table)] += ((str(column), str(kind)),)
    return columns


# Name first, then everything that defines the object; nothing that changes by looking or by time.
_QUERIES: Final = {
    "trigger": (
        "SELECT TRIGGER_NAME, EVENT_OBJECT_TABLE, EVENT_MANIPULATION, ACTION_TIMING, ACTION_ORDER,"
        " ACTION_STATEMENT, SQL_MODE, DEFINER, CHARACTER_SET_CLIENT, COLLATION_CONNECTION"
        " FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE()"
    ),
    "view": (
        "SELECT TABLE_NAME, VIEW_DEFINITION, CHECK_OPTION, IS_UPDATABLE, DEFINER, SECURITY_TYPE,"
        " ALGORITHM, CHARACTER_SET_CLIENT, COLLATION_CONNECTION,"
        " (SELECT JSON_ARRAYAGG(CONCAT(COLUMN_NAME, ' ', COLUMN_TYPE) ORDER BY ORDINAL_POSITION)"
        " FROM information_schema.COLUMNS AS shown"
        " WHERE shown.TABLE_SCHEMA = DATABASE() AND shown.TABLE_NAME = VIEWS.TABLE_NAME)"
        " FROM information_schema.VIEWS WHERE TABLE_SCHEMA = DATABASE()"
    ),
    "routine": (
        "SELECT SPECIFIC_NAME, ROUTINE_TYPE, DTD_IDENTIFIER, ROUTINE_DEFINITION, SQL_DATA_ACCESS,"
        " IS_DETERMINISTIC, SECURITY_TYPE, SQL_MODE, DEFINER"
        " FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE()"
    ),
    "event": (
        "SELECT EVENT_NAME, EVENT_DEFINITION, EVENT_TYPE, EXECUTE_AT, INTERVAL_VALUE,"
        " INTERVAL_FIELD, STARTS, ENDS, STATUS, ON_COMPLETION, SQL_MODE, DEFINER"
        " FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE()"
    ),
    # A server that was just started has none of these, whatever machine it runs on.
    "setting": (
        "SELECT VARIABLE_NAME, GLOBAL_VALUE FROM information_schema.SYSTEM_VARIABLES"
        " WHERE GLOBAL_VALUE_ORIGIN = 'SQL'"
    ),
}


def read_objects(connection: Connection) -> tuple[ObjectState, ...]:
    """Return triggers, views, routines and events, and variables set since the server started.

    An account that may only SELECT sees views and variables; of the others it sees what it was
    given a privilege for.
    """
    return tuple(
        ObjectState(kind=kind, name=str(name), definition=_hashed(parts))
        for kind, query in _QUERIES.items()
        for name, *parts in rows_of(connection, query)
    )


def _hashed(parts: list[object]) -> str:
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()


def _ask_database(
    read: Callable[[str], tuple[Row, ...]], probes: tuple[Probe, ...]
) -> tuple[ProbeState, ...]:
    """Run the queries of the probes that have one; their rows, in the order they come, are facts.

    Whoever writes a probe whose order matters puts an ORDER BY into it.
    """
    return tuple(
        ProbeState.of(probe.name, json.dumps(read(probe.sql), default=_as_text))
        for probe in probes
        if probe.sql is not None
    )


def _as_text(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a fingerprint holds of a database."""

    tables: tuple[TableState, ...] = ()
    objects: tuple[ObjectState, ...] = ()
    probes: tuple[ProbeState, ...] = ()


def read_snapshot(site: Site, database: ServerDatabase, endpoint: Endpoint) -> Snapshot:
    """Return the state of a database: all of MariaDB, what probes read of PostgreSQL."""
    match database.engine:
        case DatabaseEngine.MARIADB:
            return _whole(site, endpoint)
        case DatabaseEngine.POSTGRESQL:
            with database_reader(site, endpoint) as reader:
                asked = _ask_database(lambda sql: reader.read(sql).rows, site.fingerprint.probes)
            return Snapshot(probes=asked)
        case _:
            assert_never(database.engine)


def read_copy(site: Site, copy: DatabaseCopy) -> Snapshot:
    with opened(site, copy) as connection:
        tables = read_tables(connection, site.fingerprint)
        reader = SqliteReader(site, connection)
        return Snapshot(
            tables=tuple(table.state(connection) for table in tables),
            objects=read_sqlite_objects(connection),
            probes=_ask_database(lambda sql: reader.read(sql).rows, site.fingerprint.probes),
        )


def _whole(site: Site, endpoint: Endpoint) -> Snapshot:
    """Return the state of every table that is not volatile, of objects and probes; blocking.

    The work is the database's: two connections keep two cores of it busy. Each sees its tables as
    of one moment; the two moments are a millisecond apart, so whoever must know that nothing was
    written between them compares the counters of before and after (`Watch.prove`).
    """
    with (
        mariadb_connection(site, endpoint) as first,
        mariadb_connection(site, endpoint) as second,
        ThreadPoolExecutor(2, thread_name_prefix="arena-snapshot") as threads,
    ):
        for connection in (first, second):
            connection.query("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
        work: _Work = SimpleQueue()
        planning = threads.submit(_plan_and_read, first, site, work)
        aside = threads.submit(_look_aside_and_read, second, site, work)
        (defined, objects, probes), others = aside.result()
        tables = [
            replace(table, definition=defined.get(table.name, ""))
            for table in (*planning.result(), *others)
        ]
    return Snapshot(tuple(sorted(tables, key=lambda table: table.name)), objects, probes)


_Work = SimpleQueue[TablePlan | None]  # None for each connection: no table is left
_Aside = tuple[Mapping[str, str], tuple[ObjectState, ...], tuple[ProbeState, ...]]


def _plan_and_read(connection: Connection, site: Site, work: _Work) -> list[TableState]:
    try:
        for plan in plans(connection, site.fingerprint):
            work.put(plan)
    finally:  # the other connection waits for it
        work.put(None)
        work.put(None)
    return _read(connection, work)


def _look_aside_and_read(
    connection: Connection, site: Site, work: _Work
) -> tuple[_Aside, list[TableState]]:
    """Read everything but the contents of the tables, and then what is left of these."""
    defined = definitions(connection)
    objects = read_objects(connection)
    probes = _ask_database(partial(rows_of, connection), site.fingerprint.probes)
    return (defined, objects, probes), _read(connection, work)


def _read(connection: Connection, work: _Work) -> list[TableState]:
    """Read table after table until none is left; their definitions are read elsewhere."""
    done: list[TableState] = []
    while (plan := work.get()) is not None:
        done.append(table_state(connection, plan, ""))
    return done
