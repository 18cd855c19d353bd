"""A replica's SQLite database, read from a copy: nothing in the container is locked or written.

The file, its write-ahead log and its rollback journal are copied out by the engine, again and again
until two copies in a row are the same to the last byte. Then no file changed between its two reads,
so in the moment between the two rounds all of them had that content: what a process that died then
would have left. Opening the copy recovers it as SQLite recovers from such a death: what was
committed is there, what was under way is not.
"""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena_core.errors import DatabaseError
from orchestrator.reset.query_result import READ_TIMEOUT_S, QueryResult

if TYPE_CHECKING:
    from orchestrator.engine.engine import Engine
    from sites.manifest import FileDatabase, Site

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
    """Copy a database out of a container that need not run.

    Raises:
        DatabaseError: there is no such file, or it is written to all the time.
        SiteGoneError: the container is gone.
    """
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
    message = (
        f"database of site '{site.name}': {database.file} is written to all the time:"
        f" {_ROUNDS} copies in a row differ"
    )
    raise DatabaseError(message)


@contextmanager
def opened(site: Site, copy: DatabaseCopy) -> Iterator[sqlite3.Connection]:
    """Open a copy for reading, and remove it at the end of the block; blocking.

    Text is decoded with `surrogateescape`, so that no two different texts are read alike. Nothing
    but reading is permitted, other files included, and no statement runs longer than a minute.

    Raises:
        DatabaseError: it is no database, or a statement inside the block failed.
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
    """Turn what SQLite raises inside the block into `DatabaseError`."""
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning) as cause:
        message = f"database of site '{site.name}': query failed: {cause}"
        raise DatabaseError(message) from cause


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
        kept = tuple(rows[:limit])
        return QueryResult(columns=columns, rows=kept, cut=len(kept) < len(rows))


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
