"""The state of a SQLite database: its tables, what else it holds, and each row as an entry."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from orchestrator.reset.sqlite import shown
from orchestrator.reset.state import ObjectState, TableState

if TYPE_CHECKING:
    from sites.manifest import FingerprintProbes

HASH_LENGTH: Final = 16  # hex digits
_HIDDEN: Final = 1  # a column of a virtual table that no `*` gives
_VIRTUAL: Final = "CREATE VIRTUAL TABLE"
_KEYS_OF_TEXT: Final = ("CHAR", "CLOB", "TEXT")

Value = str | int | float | bytes | None


@dataclass(frozen=True)  # without slots: what is reckoned from the columns is kept
class SqliteTable:
    """One table.

    Attributes:
        columns: name and declared type of each that is state, in their order.
        key: the primary key's columns; empty where rows are told apart by content.
        definition: a line a column, a line a reference, the indexes, and the statement itself.
        counter: the next id that it gives; None where it gives none.
    """

    name: str
    columns: tuple[tuple[str, str], ...]
    key: tuple[str, ...]
    definition: str
    counter: int | None

    @cached_property
    def _key_places(self) -> tuple[int, ...]:
        names = [name for name, _ in self.columns]
        return tuple(names.index(name) for name in self.key)

    def rows(self, connection: sqlite3.Connection) -> Iterator[tuple[str, tuple[str | None, ...]]]:
        """Yield entry and cells of each row: entries are equal where the rows are.

        An entry is a hash of the row followed by its key. A cell is the value as text: bytes as
        `0x00ff`, every digit of a number, None for NULL.
        """
        if not self.columns:
            return
        listed = ", ".join(quoted(name) for name, _ in self.columns)
        order = ", ".join(quoted(name) for name in self.key) or "1"
        found = connection.execute(f"SELECT {listed} FROM {quoted(self.name)} ORDER BY {order}")  # noqa: S608
        for row in found:
            cells = tuple(_cell(value) for value in row)
            keys = [cells[place] for place in self._key_places]
            key = "" if not keys else str(keys[0]) if len(keys) == 1 else json.dumps(keys)
            yield f"{_hashed(row)}{key}", cells

    def state(self, connection: sqlite3.Connection) -> TableState:
        """Read its content: count, and exact sum of the rows' hashes, whatever their order."""
        hashes = [int(entry[:HASH_LENGTH], 16) for entry, _ in self.rows(connection)]
        return TableState(
            name=self.name,
            rows=len(hashes),
            content=f"{sum(hashes):x}",
            auto_increment=self.counter,
            definition=hashlib.sha256(self.definition.encode()).hexdigest(),
        )


def read_tables(
    connection: sqlite3.Connection, probes: FingerprintProbes
) -> tuple[SqliteTable, ...]:
    """Return every table that is state, by name.

    What a virtual table holds stands in tables of its own, which are read instead.
    """
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
    return tuple(
        _table(connection, str(name), str(sql), probes)
        for name, sql in sorted(found.fetchall())
        if not name.startswith("sqlite_")
        and name not in probes.volatile_tables
        and not str(sql).upper().startswith(_VIRTUAL)
    )


def read_objects(connection: sqlite3.Connection) -> tuple[ObjectState, ...]:
    """Return views, triggers and virtual tables, and the numbers that applications may set."""
    found = connection.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE type IN ('view', 'trigger')"
        " OR sql LIKE 'CREATE VIRTUAL TABLE%'"
    )
    objects = [
        ObjectState(str(kind), str(name), hashlib.sha256(str(sql).encode()).hexdigest())
        for kind, name, sql in found
    ]
    for setting in ("user_version", "application_id"):
        (number,) = connection.execute(f"PRAGMA {setting}").fetchone()
        objects += [ObjectState("setting", setting, str(number))] if number else []
    return tuple(objects)


def quoted(name: str) -> str:
    """Return an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def _table(
    connection: sqlite3.Connection, name: str, sql: str, probes: FingerprintProbes
) -> SqliteTable:
    info = connection.execute(f"PRAGMA table_xinfo({quoted(name)})").fetchall()
    volatile = probes.volatile_columns.get(name, frozenset())
    columns = tuple(
        (str(column), str(kind))
        for _, column, kind, _, _, _, hidden in info
        if hidden != _HIDDEN and column not in volatile
    )
    keyed = sorted((pk, str(column), str(kind)) for _, column, kind, _, _, pk, _ in info if pk)
    alone = keyed[0] if len(keyed) == 1 else None
    is_rowid = alone is not None and alone[2].upper() == "INTEGER" and not _is_rowless(sql)
    strict = {str(column) for _, column, _, not_null, _, _, _ in info if not_null}
    usable = all(
        column not in volatile and (is_rowid or column in strict) and _is_told_by_text(kind)
        for _, column, kind in keyed
    )
    return SqliteTable(
        name=name,
        columns=columns,
        key=tuple(column for _, column, _ in keyed) if usable else (),
        definition=_definition(connection, name, sql, info),
        counter=_counter(connection, name, sql) if is_rowid else None,
    )


def _is_told_by_text(kind: str) -> bool:
    """Whether no two different values of a key's type are written as the same text.

    A column without such a type may hold 1 and '1' side by side.
    """
    upper = kind.upper()
    return "INT" in upper or any(word in upper for word in _KEYS_OF_TEXT)


def _is_rowless(sql: str) -> bool:
    return "WITHOUT ROWID" in " ".join(sql.rpartition(")")[2].upper().split())


def _counter(connection: sqlite3.Connection, name: str, sql: str) -> int:
    """Return the next id: beyond all that there ever were, or beyond the largest there is."""
    if "AUTOINCREMENT" in sql.upper():
        found = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (name,))
        ((last,),) = found.fetchall() or [(0,)]
    else:
        (last,) = connection.execute(f"SELECT MAX(rowid) FROM {quoted(name)}").fetchone()  # noqa: S608
    return int(last or 0) + 1


def _definition(
    connection: sqlite3.Connection, name: str, sql: str, info: Sequence[tuple[object, ...]]
) -> str:
    lines = [f"CREATE TABLE {name}"]
    for _, column, kind, not_null, default, pk, _ in info:
        rest = (" NOT NULL" if not_null else "") + (f" DEFAULT {default}" if default else "")
        lines.append(f"{column} {kind}{rest}{' PRIMARY KEY' if pk else ''}")
    for _, _, table, column, target, *_ in connection.execute(
        f"PRAGMA foreign_key_list({quoted(name)})"
    ):
        lines.append(f"FOREIGN KEY ({column}) REFERENCES {table} ({target or 'rowid'})")
    indexes = connection.execute(
        "SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL"
        " ORDER BY name",
        (name,),
    )
    lines += [" ".join(str(index).split()) for (index,) in indexes]
    return "\n".join([*lines, " ".join(sql.split())])


def _cell(value: Value) -> str | None:
    match value:
        case None:
            return None
        case bytes():
            return f"0x{value.hex()}"
        case float():
            return repr(value)
        case _:
            return str(shown(value))


def _hashed(row: Sequence[Value]) -> str:
    """Return a hash of a row, over its values with their types and lengths."""
    total = hashlib.md5(usedforsecurity=False)
    for value in row:
        match value:
            case None:
                kind, raw = b"n", b""
            case bytes():
                kind, raw = b"b", value
            case str():
                kind, raw = b"t", value.encode("utf-8", "surrogateescape")
            case _:
                kind, raw = type(value).__name__[:1].encode(), repr(value).encode()
        total.update(b"%b%d:%b" % (kind, len(raw), raw))
    return total.hexdigest()[:HASH_LENGTH]
