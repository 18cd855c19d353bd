"""How a table's rows are written as text: its columns, its key, and the SQL that reads them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from orchestrator.sandbox.reset.database import rows_of
from orchestrator.sandbox.reset.snapshot import THE_TABLES, definition_of, quoted, row_hash_sql
from orchestrator.sandbox.reset.sqlite import HASH_LENGTH

if TYPE_CHECKING:
    from orchestrator.sandbox.reset.database import Connection
    from sites.manifest import FingerprintProbes


_BYTES: Final = frozenset(
    (
        *("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"),
        *("geometry", "point", "linestring", "polygon", "multipoint", "multilinestring"),
        *("multipolygon", "geometrycollection"),
    )
)
# Kinds whose every value equals the text that it is written as: what a key can be looked up by.
_EXACT: Final = frozenset(
    (
        *("tinyint", "smallint", "mediumint", "int", "bigint", "decimal"),
        *("char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum"),
        *("date", "datetime", "timestamp", "uuid", "inet4", "inet6"),
    )
)


@dataclass(frozen=True, slots=True)
class ColumnShape:
    """A column's name and data type, as the database's catalogue names it."""

    name: str
    kind: str

    @property
    def text_sql(self) -> str:
        """The SQL expression of its value as text: bytes as `0x00ff`, every digit of a number."""
        column = quoted(self.name)
        if self.kind in _BYTES:
            return f"CONCAT('0x', LOWER(HEX({column})))"
        if self.kind == "bit":
            return f"CAST({column} + 0 AS CHAR)"
        if self.kind == "float":
            # FLOAT prints six digits only; as DOUBLE it prints every digit it has.
            return f"CAST(CAST({column} AS DOUBLE) AS CHAR)"
        return f"CAST({column} AS CHAR)"


@dataclass(frozen=True, slots=True)
class TableShape:
    """What a table's rows consist of, volatile columns left out.

    Attributes:
        columns: in the table's order.
        key: names of the primary key's columns; empty where there is none.
        definition: the statement that creates it, without the counter.
    """

    name: str
    columns: tuple[ColumnShape, ...]
    key: tuple[str, ...]
    definition: str

    @property
    def hash_sql(self) -> str:
        """The SQL expression of 64 bits over a row as hex, the same as in a fingerprint.

        A fingerprint refuses a row that is too long to hash; such a row has no digits here.
        """
        columns = [(column.name, column.kind) for column in self.columns]
        return f"COALESCE({row_hash_sql(columns)}, '{'-' * HASH_LENGTH}')"

    @property
    def entry_sql(self) -> str:
        """The SQL expression of a row's hash followed by its key: equal where the rows are.

        Without a key it is the hash alone.
        """
        return f"CONCAT({self.hash_sql}, {self._key_sql})"

    @property
    def key_places(self) -> tuple[int, ...]:
        names = [column.name for column in self.columns]
        return tuple(names.index(name) for name in self.key)

    @property
    def lookup(self) -> ColumnShape | None:
        """The column that is the key all alone and by whose text a row is looked up, if any."""
        columns = [self.columns[place] for place in self.key_places]
        return columns[0] if len(columns) == 1 and columns[0].kind in _EXACT else None

    @property
    def _key_sql(self) -> str:
        """The SQL expression of the key as text, another one for every other key."""
        texts = [self.columns[place].text_sql for place in self.key_places]
        if len(texts) == 1:
            return texts[0]
        return ", ".join(f"LENGTH({text}), ':', {text}" for text in texts) or "''"


def read_shapes(
    connection: Connection, probes: FingerprintProbes, names: Iterable[str] | None = None
) -> tuple[TableShape, ...]:
    """Return the shapes of tables, by name: of every one that is state, or of those named."""
    wanted = None if names is None else tuple(names)
    columns = _columns(connection, probes, wanted)
    keys = _keys(connection, wanted)
    return tuple(
        TableShape(
            name=name,
            columns=tuple(columns[name]),
            key=_usable(keys.get(name, ()), columns[name]),
            definition=definition_of(connection, name),
        )
        for name in sorted(_tables(connection) & columns.keys())
        if name not in probes.volatile_tables
    )


def _usable(key: Sequence[str], columns: Sequence[ColumnShape]) -> tuple[str, ...]:
    """Return a key whose columns are all state; without one, rows are told apart by content."""
    state = {column.name for column in columns}
    return tuple(key) if set(key) <= state else ()


def _tables(connection: Connection) -> set[str]:
    return {str(name) for (name,) in rows_of(connection, f"SELECT TABLE_NAME{THE_TABLES}")}


def _columns(
    connection: Connection, probes: FingerprintProbes, names: Sequence[str] | None
) -> dict[str, list[ColumnShape]]:
    columns: dict[str, list[ColumnShape]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE FROM information_schema.COLUMNS"  # noqa: S608
            f"{_of_tables(names)} ORDER BY TABLE_NAME, ORDINAL_POSITION",
            names,
        )
        for table, column, kind in cursor.fetchall():
            if column not in probes.volatile_columns.get(str(table), frozenset()):
                columns[str(table)].append(ColumnShape(str(column), str(kind)))
    return columns


def _keys(connection: Connection, names: Sequence[str] | None) -> dict[str, list[str]]:
    keys: dict[str, list[str]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT TABLE_NAME, COLUMN_NAME FROM information_schema.STATISTICS"  # noqa: S608
            f"{_of_tables(names)} AND INDEX_NAME = 'PRIMARY' ORDER BY TABLE_NAME, SEQ_IN_INDEX",
            names,
        )
        for table, column in cursor.fetchall():
            keys[str(table)].append(str(column))
    return keys


def _of_tables(names: Sequence[str] | None) -> str:
    some = "" if names is None else f" AND TABLE_NAME IN ({', '.join(['%s'] * len(names))})"
    return f" WHERE TABLE_SCHEMA = DATABASE(){some}"
