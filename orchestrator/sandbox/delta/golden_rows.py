"""The rows that an image was sealed with: the format of their file, and its reader."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from arena_core.errors import ImageError, StateError
from orchestrator.sandbox.delta.shapes import ColumnShape, TableShape

if TYPE_CHECKING:
    from pathlib import Path


FORMAT: Final = 2
BATCH: Final = 2000

# One SQLite database: `shape` a table, `row` its rows in the order of their keys, between `first`
# and `last`. `entry` is the database's own hash of the row and its key: a replica is compared
# without sending its rows. `cells` is a JSON array of texts and nulls in the order of `columns`.
SCHEMA: Final = f"""
PRAGMA user_version = {FORMAT};
PRAGMA journal_mode = OFF;
CREATE TABLE shape (
    name TEXT NOT NULL UNIQUE, columns TEXT NOT NULL, key TEXT NOT NULL, definition TEXT NOT NULL,
    first INTEGER NOT NULL, last INTEGER NOT NULL
);
CREATE TABLE row (id INTEGER PRIMARY KEY, entry TEXT NOT NULL, cells TEXT NOT NULL);
"""

Cell = str | None
Cells = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class GoldenTable:
    """One table as it was sealed.

    Attributes:
        first, last: the rows' ids in the file.
    """

    shape: TableShape
    first: int
    last: int

    @property
    def count(self) -> int:
        return self.last - self.first + 1


class GoldenRows:
    """An open file of golden rows; see `opened`."""

    def __init__(self, packed: sqlite3.Connection) -> None:
        self._packed = packed

    @classmethod
    @contextmanager
    def opened(cls, path: Path) -> Iterator[GoldenRows]:
        """Open a file that `pack_rows` wrote, for reading."""
        address = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
        try:
            with closing(sqlite3.connect(address, uri=True)) as packed:
                (version,) = packed.execute("PRAGMA user_version").fetchone()
                if version != FORMAT:
                    message = f"the image's golden rows have version {version}, not {FORMAT}"
                    raise ImageError(message, hint="arena build --force")
                yield cls(packed)
        except sqlite3.DatabaseError as cause:
            message = f"the image's golden rows cannot be read: {cause}"
            raise ImageError(message, hint="arena build --force") from cause

    @classmethod
    @contextmanager
    def of_start(cls, content: bytes) -> Iterator[GoldenRows]:
        """Open the rows of a start, which may come from anybody, in memory."""
        try:
            with closing(sqlite3.connect(":memory:")) as packed:
                packed.execute("PRAGMA trusted_schema = OFF")
                packed.deserialize(content)
                (version,) = packed.execute("PRAGMA user_version").fetchone()
                if version != FORMAT:
                    raise StateError(f"the rows of a start have version {version}, not {FORMAT}")
                yield cls(packed)
        except (sqlite3.Error, ValueError, TypeError) as cause:
            raise StateError(f"the rows of a start cannot be read: {cause}") from cause

    def tables(self) -> dict[str, GoldenTable]:
        found = self._packed.execute(
            "SELECT name, columns, key, definition, first, last FROM shape ORDER BY name"
        )
        return {
            name: GoldenTable(
                shape=TableShape(
                    name=name,
                    columns=tuple(ColumnShape(*column) for column in json.loads(columns)),
                    key=tuple(json.loads(key)),
                    definition=definition,
                ),
                first=first,
                last=last,
            )
            for name, columns, key, definition, first, last in found
        }

    def entries(self, table: GoldenTable) -> list[tuple[str, int]]:
        found = self._packed.execute(
            "SELECT entry, id FROM row WHERE id BETWEEN ? AND ?", (table.first, table.last)
        )
        return found.fetchall()

    def cells(self, row: int) -> Cells:
        (cells,) = self._packed.execute("SELECT cells FROM row WHERE id = ?", (row,)).fetchone()
        return tuple(json.loads(cells))

    def texts(self) -> Iterator[str]:
        """Yield the values of all rows as JSON, many rows at once, to search in."""
        found = self._packed.execute("SELECT cells FROM row ORDER BY id")
        while batch := found.fetchmany(BATCH):
            yield "\n".join(cells for (cells,) in batch)
