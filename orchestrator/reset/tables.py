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

_COUNTER = re.compile(r"\) (ENGINE=\w+ )?AUTO_INCREMENT=\d+ ")


def read_tables(site: Site, endpoint: Endpoint) -> tuple[TableState, ...]:
    """Return the state of every table that is not volatile; blocking.

    Raises:
        DatabaseError: naming the table that could not be read.
    """
    probes = site.fingerprint
    with connected(site, endpoint) as connection:
        connection.begin()
        columns = _columns(connection, probes)
        return tuple(
            _table_state(connection, name, counter, columns[name])
            for name, counter in _counters(connection)
            if name not in probes.volatile_tables
        )


def row_hash_sql(columns: list[tuple[str, str]]) -> str:
    """Return the SQL expression that hashes one row, injective over the columns' values.

    Each value is written as its length, a colon and its bytes, and NULL as `N`: so no two different
    rows share a text, whatever their values contain.

    Args:
        columns: name and data type of each.
    """
    parts = ", ".join(_value_sql(name, kind) for name, kind in columns)
    return f"MD5(CONCAT('', {parts}))" if parts else "MD5('')"


def quoted(name: str) -> str:
    """Return an SQL identifier."""
    return "`" + name.replace("`", "``") + "`"


def _value_sql(name: str, kind: str) -> str:
    # FLOAT prints six digits only; as DOUBLE it prints every digit it has.
    column = f"CAST({quoted(name)} AS DOUBLE)" if kind == "float" else quoted(name)
    value = f"CAST({column} AS BINARY)"
    return f"IFNULL(CONCAT(LENGTH({value}), ':', {value}), 'N')"


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
        " WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE IN ('BASE TABLE', 'SEQUENCE')"
        " ORDER BY TABLE_NAME",
    )
    return [(str(name), None if value is None else int(str(value))) for name, value in found]


def _columns(
    connection: Connection, probes: FingerprintProbes
) -> dict[str, list[tuple[str, str]]]:
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
    ((rows, hashed, total, folded),) = _rows_of(connection, _content_sql(name, columns))
    if rows != hashed:
        message = f"table {name}: {cast('int', rows) - cast('int', hashed)} rows are too long to hash"
        raise DatabaseError(message, hint="raise max_allowed_packet, or list the column as volatile")
    return TableState(
        name=name,
        rows=cast("int", rows),
        content=f"{int(str(total)):x}-{int(str(folded)):x}",
        auto_increment=counter,
        definition=hashlib.sha256(_COUNTER.sub(r") \1", str(definition)).encode()).hexdigest(),
    )


def _content_sql(name: str, columns: list[tuple[str, str]]) -> str:
    """Return the query for count, count of hashes, sum of their one half and xor of the other.

    Both are free of order. The sum tells repeats apart, which cancel out in a xor.
    """
    return (
        "SELECT COUNT(*), COUNT(h),"
        " COALESCE(SUM(CAST(CONV(LEFT(h, 16), 16, 10) AS UNSIGNED)), 0),"
        " BIT_XOR(CAST(CONV(RIGHT(h, 16), 16, 10) AS UNSIGNED))"
        f" FROM (SELECT {row_hash_sql(columns)} AS h FROM {quoted(name)}) AS hashes"  # noqa: S608
    )
