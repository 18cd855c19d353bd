"""The rows of a SQLite database, as they are in a copy of its file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.delta.shapes import ColumnShape, TableShape
from orchestrator.reset.sqlite_tables import SqliteTable, read_tables

if TYPE_CHECKING:
    import sqlite3

    from orchestrator.delta.comparing import Differing
    from orchestrator.delta.golden_rows import Cells
    from sites.manifest import FingerprintProbes


class SqliteRows:
    """What an open copy holds; see `PresentRows`."""

    def __init__(self, connection: sqlite3.Connection, probes: FingerprintProbes) -> None:
        self._connection = connection
        self._tables = {table.name: table for table in read_tables(connection, probes)}

    @property
    def names(self) -> tuple[str, ...]:
        """The tables that are state."""
        return tuple(self._tables)

    def shapes(self, names: Iterable[str]) -> tuple[TableShape, ...]:
        """Return the shapes of those of the named tables that there are."""
        wanted = frozenset(names)
        return tuple(
            _shape(table) for name, table in sorted(self._tables.items()) if name in wanted
        )

    def rows(self, shape: TableShape) -> Iterator[tuple[str, Cells]]:
        """Yield entry and values of each row; of a shape with fewer columns, these alone."""
        table = self._tables[shape.name]
        columns = tuple((column.name, column.kind) for column in shape.columns)
        yield from replace(table, columns=columns, key=shape.key).rows(self._connection)

    def entries(self, shape: TableShape) -> Iterator[str]:
        """Yield each row's hash and key."""
        return (entry for entry, _ in self.rows(shape))

    def values(self, shape: TableShape) -> Iterator[Cells]:
        """Yield the values of each row."""
        return (cells for _, cells in self.rows(shape))

    def fetched(self, shape: TableShape, wanted: Sequence[Differing]) -> Mapping[str, Cells]:
        """Return the values that some rows have now, by entry."""
        entries = frozenset(one.after for one in wanted)
        return {entry: cells for entry, cells in self.rows(shape) if entry in entries}


def _shape(table: SqliteTable) -> TableShape:
    return TableShape(
        name=table.name,
        columns=tuple(ColumnShape(name, kind) for name, kind in table.columns),
        key=table.key,
        definition=table.definition,
    )
