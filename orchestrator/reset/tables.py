"""The state of a database's tables, computed by the database itself."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from arena_core.errors import DatabaseError
from orchestrator.reset.mariadb import Connection, rows_of
from orchestrator.reset.state import TableState

if TYPE_CHECKING:
    from sites.manifest import FingerprintProbes

_WHOLE = ("tinyint", "smallint", "mediumint", "int", "bigint", "decimal")
_BROKEN = ("float", "double")
_TIMES = ("date", "datetime", "timestamp", "time", "year")
_PLAIN = frozenset((*_WHOLE, *_BROKEN, *_TIMES))
_UNHASHED = 10**40
_COUNTER = re.compile(r"\) (ENGINE=\w+ )?AUTO_INCREMENT=\d+ ")
_THE_TABLES = (
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
        connection, f"SELECT TABLE_NAME, AUTO_INCREMENT, TABLE_ROWS, TABLE_TYPE{_THE_TABLES}"
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
    names = sorted(str(name) for (name,) in rows_of(connection, f"SELECT TABLE_NAME{_THE_TABLES}"))
    return {name: _definition(connection, name) for name in reversed(names)}


def table_state(connection: Connection, plan: TablePlan, definition: str) -> TableState:
    """Read one table's content.

    Raises:
        DatabaseError: a row is too long for the database to hash.
    """
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

    Args:
        columns: name and data type of each.
    """
    values = "".join(f", {_value_sql(*column)}" for column in columns)
    return f"CONCAT(''{values})"


def content_sql(plan: TablePlan) -> str:
    """Return the query for the count of rows and the exact sum of a 64-bit hash of each.

    A sum is free of order, and counts repeats (in a xor two equal rows would cancel out). The
    database gives NULL for a text longer than its max_allowed_packet: such a row adds `_UNHASHED`.
    """
    number = f"CAST(CONV(LEFT(MD5({row_text_sql(plan.columns)}), 16), 16, 10) AS UNSIGNED)"
    whole = " FOR SYSTEM_TIME ALL" if plan.is_versioned else ""
    return (
        f"SELECT COUNT(*), COALESCE(SUM(COALESCE({number}, {_UNHASHED})), 0)"  # noqa: S608
        f" FROM {quoted(plan.name)}{whole}"  # names come quoted from the database's own catalogue
    )


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


def _definition(connection: Connection, name: str) -> str:
    ((_, definition, *_rest),) = rows_of(connection, f"SHOW CREATE TABLE {quoted(name)}")
    return hashlib.sha256(_COUNTER.sub(r") \1", str(definition)).encode()).hexdigest()


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
