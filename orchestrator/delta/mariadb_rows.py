"""The rows of a MariaDB as they are: hashed by the database itself, then a few of them read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from arena_core.errors import DatabaseError
from orchestrator.delta.shapes import HASH_LENGTH, ColumnShape, TableShape, read_shapes
from orchestrator.reset.tables import quoted

if TYPE_CHECKING:
    from orchestrator.delta.comparing import Differing
    from orchestrator.delta.golden_rows import Cells
    from orchestrator.reset.mariadb import Connection
    from sites.manifest import FingerprintProbes


class MariadbRows:
    """What one connection sees, in one snapshot; see `PresentRows`."""

    def __init__(self, connection: Connection, probes: FingerprintProbes) -> None:
        with connection.cursor() as cursor:
            cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
        self._connection = connection
        self._probes = probes

    def shapes(self, names: Iterable[str]) -> tuple[TableShape, ...]:
        """Return the shapes of those of the named tables that there are."""
        return read_shapes(self._connection, self._probes, names)

    def entries(self, shape: TableShape) -> Iterator[str]:
        """Yield each row's hash and key."""
        for (entry,) in _select(self._connection, shape, shape.entry_sql):
            yield str(entry)

    def values(self, shape: TableShape) -> Iterator[Cells]:
        """Yield the values of each row."""
        values = ", ".join(column.text_sql for column in shape.columns)
        yield from _select(self._connection, shape, values)

    def fetched(self, shape: TableShape, wanted: Sequence[Differing]) -> Mapping[str, Cells]:
        """Return the values that some rows have now, by entry.

        Raises:
            DatabaseError: one is not found.
        """
        return _fetched(self._connection, shape, wanted)


def _fetched(
    connection: Connection, shape: TableShape, wanted: Sequence[Differing]
) -> dict[str, Cells]:
    """Return the values that some rows have now, by entry.

    Raises:
        DatabaseError: one is not found.
    """
    if not wanted:
        return {}
    values = ", ".join((shape.entry_sql, *(column.text_sql for column in shape.columns)))
    rows = _select(connection, shape, values, _where(connection, shape, wanted))
    found = {str(entry): tuple(cells) for entry, *cells in rows}
    lost = next((one for one in wanted if one.after not in found), None)
    if lost is not None:
        message = f"table {shape.name}: row {lost.key or lost.after} differs but cannot be found"
        raise DatabaseError(message)
    return found


def _where(connection: Connection, shape: TableShape, wanted: Sequence[Differing]) -> str:
    """Return the condition that finds rows: by key where that is sure, or else by hash."""
    column = shape.lookup
    if column is None:
        hashes = {one.after[:HASH_LENGTH] for one in wanted if one.after is not None}
        return f" WHERE {shape.hash_sql} IN ({', '.join(map(connection.escape, hashes))})"
    keys = ", ".join(_literal(connection, column, one.key) for one in wanted)
    return f" WHERE {quoted(column.name)} IN ({keys})"


def _literal(connection: Connection, column: ColumnShape, text: str) -> str:
    """Write a key's value; a number without quotes, so that the index is used."""
    is_whole = column.kind.endswith("int") and text.removeprefix("-").isdecimal()
    return text if is_whole else str(connection.escape(text))


def _select(
    connection: Connection, shape: TableShape, values: str, where: str = ""
) -> tuple[tuple[str | None, ...], ...]:
    with connection.cursor() as cursor:
        # Names come quoted from the database's own catalogue, values escaped.
        cursor.execute(f"SELECT {values} FROM {quoted(shape.name)}{where}")  # noqa: S608
        return cursor.fetchall()
