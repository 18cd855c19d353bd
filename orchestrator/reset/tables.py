"""The state of a database's tables, computed by the database itself."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from typing import TYPE_CHECKING, cast

from orchestrator.reset.database import Connection, Row, connected
from orchestrator.reset.state import TableState
from sites.errors import DatabaseError

if TYPE_CHECKING:
    from orchestrator.engine.endpoints import Endpoint
    from sites.manifest import FingerprintProbes, Site

_WHOLE = ("tinyint", "smallint", "mediumint", "int", "bigint", "decimal")
_BROKEN = ("float", "double")
_TIMES = ("date", "datetime", "timestamp", "time", "year")
_PLAIN = frozenset((*_WHOLE, *_BROKEN, *_TIMES))
_UNHASHED = 10**40
_COUNTER = re.compile(r"\) (ENGINE=\w+ )?AUTO_INCREMENT=\d+ ")


def read_tables(site: Site, endpoint: Endpoint) -> tuple[TableState, ...]:
    """Return the state of every table that is not volatile; blocking.

    Raises:
        DatabaseError: naming the table that could not be read.
    """
    probes = site.fingerprint
    with connected(site, endpoint) as connection:
        with connection.cursor() as cursor:
            cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
        columns = _columns(connection, probes)
        return tuple(
            _table_state(connection, name, counter, columns[name])
            for name, counter in sorted(_counters(connection))
            if name not in probes.volatile_tables
        )


def row_text_sql(columns: list[tuple[str, str]]) -> str:
    """Return the SQL expression that writes one row as text, injective over the columns' values.

    A number or a time ends at its comma. Anything else is its length, a colon and its bytes. NULL
    is `N`. So no two different rows share a text, whatever their values contain.

    Args:
        columns: name and data type of each.
    """
    values = "".join(f", {_value_sql(*column)}" for column in columns)
    return f"CONCAT(''{values})"


def quoted(name: str) -> str:
    """Return an SQL identifier."""
    return "`" + name.replace("`", "``") + "`"


def _value_sql(name: str, kind: str) -> str:
    column = quoted(name)
    if kind == "float":
        # FLOAT prints six digits only; as DOUBLE it prints every digit it has.
        column = f"CAST({column} AS DOUBLE)"
    if kind in _PLAIN:
        return f"IFNULL({column}, 'N'), ','"
    return f"IFNULL(LENGTH({column}), 'N'), ':', IFNULL(CAST({column} AS BINARY), '')"


def _rows_of(connection: Connection, sql: str) -> tuple[Row, ...]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


def _counters(connection: Connection) -> list[tuple[str, int | None]]:
    """Return name and exact next id of each table.

    MariaDB answers from the open table, which reads the counter that InnoDB keeps on disk; there is
    no cache of statistics in between, as MySQL 8 has one.
    """
    found = _rows_of(
        connection,
        "SELECT TABLE_NAME, AUTO_INCREMENT FROM information_schema.TABLES"
        " WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE IN ('BASE TABLE', 'SEQUENCE')",
    )
    return [(str(name), None if value is None else int(str(value))) for name, value in found]


def _columns(connection: Connection, probes: FingerprintProbes) -> dict[str, list[tuple[str, str]]]:
    """Return name and data type of the columns that are state, by table, in their order."""
    columns: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for table, column, kind in _rows_of(
        connection,
        "SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE FROM information_schema.COLUMNS"
        " WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, ORDINAL_POSITION",
    ):
        if column not in probes.volatile_columns.get(str(table), frozenset()):
            columns[str(table)].append((str(column), str(kind)))
    return columns


def _table_state(
    connection: Connection, name: str, counter: int | None, columns: list[tuple[str, str]]
) -> TableState:
    ((_, definition, *_rest),) = _rows_of(connection, f"SHOW CREATE TABLE {quoted(name)}")
    ((rows, total),) = _rows_of(connection, _content_sql(name, columns))
    content = int(str(total))
    if content >= _UNHASHED:
        message = f"table {name}: {content // _UNHASHED} of its {rows} rows are too long to hash"
        raise DatabaseError(message, hint="raise the server's max_allowed_packet")
    return TableState(
        name=name,
        rows=cast("int", rows),
        content=f"{content:x}",
        auto_increment=counter,
        definition=hashlib.sha256(_COUNTER.sub(r") \1", str(definition)).encode()).hexdigest(),
    )


def _content_sql(name: str, columns: list[tuple[str, str]]) -> str:
    """Return the query for the count of rows and the exact sum of a 64-bit hash of each.

    A sum is free of order, and counts repeats (in a xor two equal rows would cancel out). The
    database gives NULL for a text longer than its max_allowed_packet: such a row adds `_UNHASHED`.
    """
    number = f"CAST(CONV(LEFT(MD5({row_text_sql(columns)}), 16), 16, 10) AS UNSIGNED)"
    return (
        f"SELECT COUNT(*), COALESCE(SUM(COALESCE({number}, {_UNHASHED})), 0)"  # noqa: S608
        f" FROM {quoted(name)}"  # names come quoted from the database's own catalogue
    )
