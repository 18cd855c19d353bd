"""The journal of a ledger: each change of an attempt is an entry, chained to the one before it.

The digest of an entry covers the digest of the entry before, so the digest of the last one, the
head, stands for all that was written. Whoever knows an earlier head can tell whether an entry was
taken out or changed since. The first entry says which run it is, and of which lock.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS entry (
    number INTEGER PRIMARY KEY,
    content TEXT NOT NULL,
    sha256 TEXT NOT NULL
) STRICT
"""
_FIELDS: Final = (
    "task, world, repeat, attempt, state, outcome, started_at, ended_at, evidence_sha256"
)
_ROWS: Final = f"SELECT {_FIELDS} FROM attempt"  # noqa: S608
_ORDER: Final = " ORDER BY task, world, repeat, attempt"
_OF_ONE: Final = " WHERE task = ? AND world = ? AND repeat = ? AND attempt = ?"
# An attempt by task, world, repeat and number.
Key = tuple[Any, ...]
# What the ledger holds of it, by column.
Row = Mapping[str, Any]
_BY_DATES: Final = "(julianday(ended_at) - julianday(started_at)) * 86400.0"
# A clock that was set back between the two says nothing of how long it took.
SECONDS_BY_DATES: Final = f"CASE WHEN {_BY_DATES} >= 0 THEN {_BY_DATES} END"


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Where a journal stood.

    Attributes:
        sha256: the digest of the last; empty where there was none.
    """

    entries: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """A ledger's journal, as it was read.

    Attributes:
        heads: the digest of each entry, in order, as the contents give it.
        run, lock: what the first entry says: the run's id, and the digest of its lock.
        rows: each attempt's states, in order, and all else that was written of it.
        broken: the number (from 1) of the first entry whose digest is not that of its content and
            of what stood before; None where all fit.
    """

    heads: tuple[str, ...]
    run: str | None
    lock: str | None
    rows: Mapping[Key, Sequence[Row]]
    broken: int | None

    @property
    def head(self) -> Head:
        return Head(entries=len(self.heads), sha256=self.heads[-1] if self.heads else "")

    def holds(self, head: Head) -> bool:
        """Whether it once stood there."""
        if not head.entries:
            return not head.sha256
        return head.entries <= len(self.heads) and self.heads[head.entries - 1] == head.sha256


def holds_code(connection: sqlite3.Connection) -> bool:
    """Whether a ledger would compute what it is read for: views and triggers may never end."""
    found = connection.execute(
        "SELECT 1 FROM sqlite_master WHERE type IN ('view', 'trigger')"
        " OR sql LIKE '%GENERATED%' OR sql LIKE 'CREATE VIRTUAL%'"
    )
    return found.fetchone() is not None


def is_kept(connection: sqlite3.Connection) -> bool:
    """Whether a ledger has a journal; those of earlier versions have none."""
    found = connection.execute(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'entry'"
    )
    return found.fetchone() is not None


def begin(connection: sqlite3.Connection, run: str, lock: str) -> None:
    """Begin a journal: the run, its lock, and every attempt that the ledger holds already."""
    connection.execute(_SCHEMA)
    _append(connection, {"run": run, "lock": lock})
    for values in connection.execute(_ROWS + _ORDER).fetchall():
        _append(connection, _row(values))


def note(connection: sqlite3.Connection, key: Key) -> None:
    """Write down an attempt as the ledger holds it now."""
    _append(connection, _row(connection.execute(_ROWS + _OF_ONE, key).fetchone()))


def contents(connection: sqlite3.Connection) -> list[str]:
    """Return what the entries say, in order, without the first: it says which run it is."""
    found = connection.execute("SELECT content FROM entry WHERE number > 1 ORDER BY number")
    return [content for (content,) in found]


def go_on(connection: sqlite3.Connection, entries: Iterable[str]) -> None:
    """Append what entries of another journal say, chained to this one."""
    head = read_head(connection)
    number, sha256 = head.entries, head.sha256
    for content in entries:
        number, sha256 = number + 1, _digest(sha256, content)
        connection.execute("INSERT INTO entry VALUES (?, ?, ?)", (number, content, sha256))


def read_head(connection: sqlite3.Connection) -> Head:
    """Return where a journal stands, without reading the whole of it."""
    found = connection.execute("SELECT number, sha256 FROM entry ORDER BY number DESC LIMIT 1")
    number, sha256 = found.fetchone() or (0, "")
    return Head(entries=number, sha256=sha256)


def read_journal(connection: sqlite3.Connection) -> Journal:
    heads: list[str] = []
    first: Mapping[str, Any] = {}
    rows: dict[Key, list[Row]] = {}
    broken: int | None = None
    written = connection.execute("SELECT number, content, sha256 FROM entry ORDER BY number")
    for position, (number, content, sha256) in enumerate(written, start=1):
        heads.append(_digest(heads[-1] if heads else "", content))
        if broken is None and (number != position or heads[-1] != sha256):
            broken = position
        document = json.loads(content)
        if not isinstance(document, dict):
            message = f"entry {position} is no JSON object"
            raise ValueError(message)  # noqa: TRY004 - as of what is no JSON
        if "task" in document:
            rows.setdefault(key_of(document), []).append(document)
        elif position == 1:
            first = document
    return Journal(
        heads=tuple(heads),
        run=first.get("run"),
        lock=first.get("lock"),
        rows=rows,
        broken=broken,
    )


def rows_of(connection: sqlite3.Connection) -> Mapping[Key, Row]:
    """Return what a ledger holds of each attempt, in the form of its journal."""
    found = (_row(values) for values in connection.execute(_ROWS + _ORDER))
    return {key_of(row): row for row in found}


def key_of(row: Row) -> Key:
    return tuple(row.get(name) for name in ("task", "world", "repeat", "attempt"))


def _row(values: Iterable[Any]) -> Row:
    return dict(zip(_FIELDS.split(", "), values, strict=True))


def _append(connection: sqlite3.Connection, content: Row) -> None:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    go_on(connection, [text])


def _digest(previous: str, content: str) -> str:
    return hashlib.sha256(f"{previous}\n{content}".encode()).hexdigest()


def seconds_in(columns: Collection[str]) -> str:
    """Return the SQL of an attempt's seconds, NULL where they are unknown.

    They were measured by a clock that nobody sets; an earlier version of Arena kept dates alone.
    """
    return "seconds" if "seconds" in columns else SECONDS_BY_DATES
