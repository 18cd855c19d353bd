"""A replica's SQLite database, read from a copy: nothing in the container is locked or written.

The file, its write-ahead log and its rollback journal are copied out by the engine, again and again
until two copies in a row are the same to the last byte. Then no file changed between its two reads,
so in the moment between the two rounds all of them had that content: what a process that died then
would have left. Opening the copy recovers it as SQLite recovers from such a death: what was
committed is there, what was under way is not.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena_core.errors import DatabaseError
from orchestrator.sandbox.reset.database import READ_TIMEOUT_S, QueryResult
from orchestrator.sandbox.reset.state import ObjectState, TableState

if TYPE_CHECKING:
    from orchestrator.sandbox.engine.engine import Engine
    from sites.manifest import FileDatabase, FingerprintProbes, Site


_ROUNDS: Final = 8
_PARTS: Final = ("", "-wal", "-journal")  # the file first: without it there is no database
_STEPS: Final = 10_000  # of SQLite's machine, between two looks at the clock
_READING: Final = frozenset(
    (
        *(sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION),
        sqlite3.SQLITE_RECURSIVE,
    )
)
_LISTING: Final = frozenset(
    (
        *("table_info", "table_xinfo", "table_list", "foreign_key_list"),
        *("index_list", "index_info", "user_version", "application_id"),
    )
)


@dataclass(frozen=True, slots=True)
class DatabaseCopy:
    """The files of a database as they were in one moment, by what their names end with."""

    files: Mapping[str, bytes]


async def copy_database(
    engine: Engine, site: Site, database: FileDatabase, container_id: str
) -> DatabaseCopy:
    before: Mapping[str, bytes] = {}
    for _ in range(_ROUNDS):
        found = await asyncio.gather(
            *[engine.find_file(container_id, f"{database.file}{part}") for part in _PARTS]
        )
        now = {part: one for part, one in zip(_PARTS, found, strict=True) if one is not None}
        if "" not in now:
            message = f"database of site '{site.name}': there is no file {database.file}"
            raise DatabaseError(message, hint=f"correct database.file of site '{site.name}'")
        if now == before:
            return DatabaseCopy(now)
        before = now
    raise DatabaseError(
        f"database of site '{site.name}': {database.file} is written to all the time:"
        f" {_ROUNDS} copies in a row differ"
    )


@contextmanager
def opened(site: Site, copy: DatabaseCopy) -> Iterator[sqlite3.Connection]:
    """Open a copy for reading, and remove it at the end of the block; blocking.

    Text is decoded with `surrogateescape`, so that no two different texts are read alike. Nothing
    but reading is permitted, other files included, and no statement runs longer than a minute.
    """
    with tempfile.TemporaryDirectory(prefix="arena-sqlite-") as folder, asking(site):
        path = Path(folder, "copy")
        for part, content in copy.files.items():
            path.with_name(f"copy{part}").write_bytes(content)
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.text_factory = _as_text
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()  # recovers
            connection.set_authorizer(_permit)
            yield connection


@contextmanager
def asking(site: Site) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning) as cause:
        raise DatabaseError(f"database of site '{site.name}': query failed: {cause}") from cause


class SqliteReader:
    """Answers questions to a copy."""

    def __init__(self, site: Site, connection: sqlite3.Connection) -> None:
        self._site = site
        self._connection = connection

    def read(self, sql: str, limit: int | None = None) -> QueryResult:
        """Run one statement; see `Reader`."""
        due = time.monotonic() + READ_TIMEOUT_S
        self._connection.set_progress_handler(lambda: time.monotonic() > due, _STEPS)
        with asking(self._site), closing(self._connection.execute(sql)) as cursor:
            found = cursor.fetchall() if limit is None else cursor.fetchmany(limit + 1)
            columns = tuple(str(column[0]) for column in cursor.description or ())
        rows = [tuple(shown(cell) for cell in row) for row in found]
        return QueryResult.upto(limit, columns, rows)


def shown(value: object) -> object:
    """Return a value as people and JSON can have it: bytes that are no UTF-8 are written out."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return value


def _as_text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _permit(
    action: int, first: str | None, second: str | None, _database: str | None, _by: str | None
) -> int:
    """Permit reading and listing; a pragma that is given a value would set it."""
    if action in _READING:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_PRAGMA and first in _LISTING:
        sets = first in {"user_version", "application_id"} and second is not None
        return sqlite3.SQLITE_DENY if sets else sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


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
