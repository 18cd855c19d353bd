"""Which rows of one table differ from golden: hashes are compared first, then a few rows read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.delta.golden_rows import Cells, GoldenRows, GoldenTable
from orchestrator.delta.shapes import HASH_LENGTH, ColumnShape, TableShape
from orchestrator.reset.tables import quoted
from sites.errors import DatabaseError

if TYPE_CHECKING:
    from orchestrator.reset.database import Connection


@dataclass(frozen=True, slots=True)
class RowPair:
    """One row before and after, values in the order of `TableDifference.columns`."""

    before: Cells | None
    after: Cells | None


@dataclass(frozen=True, slots=True)
class TableDifference:
    """The rows of one table that differ.

    Attributes:
        columns: those that both sides have.
        key: the columns that say which row it is; empty where rows are told apart by content.
        rows: at most as many as asked for, in the order of the key.
        more: how many more there are.
    """

    columns: tuple[str, ...]
    key: tuple[str, ...]
    rows: tuple[RowPair, ...]
    more: int


@dataclass(frozen=True, slots=True)
class _Differing:
    """One row that differs: its entry before and after, None where it is not there."""

    key: str
    before: str | None
    after: str | None


def differing_rows(
    connection: Connection, golden: GoldenRows, table: GoldenTable, now: TableShape, limit: int
) -> TableDifference:
    """Compare a table's rows with golden.

    A table whose columns are the golden ones is compared by the database's own hashes; of one that
    was altered, the columns that both have are read whole.

    Raises:
        DatabaseError: a row that differs could not be read.
    """
    if now.columns == table.shape.columns and now.key == table.shape.key:
        return _by_hash(connection, golden, table, limit)
    return _by_values(connection, golden, table, now, limit)


def _by_hash(
    connection: Connection, golden: GoldenRows, table: GoldenTable, limit: int
) -> TableDifference:
    shape = table.shape
    sealed = golden.entries(table)
    ids = dict(sealed)
    before = Counter([entry for entry, _ in sealed])
    after = Counter([str(entry) for (entry,) in _select(connection, shape, shape.entry_sql)])
    differing = _differing(before, after, _by_key if shape.key else None)
    shown = differing[:limit]
    present = _fetched(connection, shape, [one for one in shown if one.after is not None])
    pairs = tuple(
        RowPair(
            before=None if one.before is None else golden.cells(ids[one.before]),
            after=None if one.after is None else present[one.after],
        )
        for one in shown
    )
    return _difference(shape, pairs, len(differing) - len(shown))


def _by_values(
    connection: Connection,
    golden: GoldenRows,
    table: GoldenTable,
    now: TableShape,
    limit: int,
) -> TableDifference:
    """Compare what both have; there, a row's entry is its values themselves."""
    present = {column.name: column for column in now.columns}
    places = [n for n, column in enumerate(table.shape.columns) if column.name in present]
    names = [table.shape.columns[place].name for place in places]
    key = now.key if now.key == table.shape.key and set(now.key) <= set(names) else ()
    shape = TableShape(now.name, tuple(present[name] for name in names), key, now.definition)
    if not names:
        return _difference(shape, (), 0)
    before = Counter(
        json.dumps([cells[place] for place in places])
        for cells in (golden.cells(row) for _, row in golden.entries(table))
    )
    values = ", ".join(column.text_sql for column in shape.columns)
    after = Counter(json.dumps(cells) for cells in _select(connection, shape, values))

    def key_of(entry: str) -> str:
        cells = json.loads(entry)
        found = [cells[place] for place in shape.key_places]
        return str(found[0]) if len(found) == 1 else json.dumps(found)

    differing = _differing(before, after, key_of if key else None)
    pairs = tuple(
        RowPair(
            before=None if one.before is None else tuple(json.loads(one.before)),
            after=None if one.after is None else tuple(json.loads(one.after)),
        )
        for one in differing[:limit]
    )
    return _difference(shape, pairs, len(differing) - len(pairs))


def _difference(shape: TableShape, pairs: tuple[RowPair, ...], more: int) -> TableDifference:
    columns = tuple(column.name for column in shape.columns)
    return TableDifference(columns=columns, key=shape.key, rows=pairs, more=more)


def _by_key(entry: str) -> str:
    return entry[HASH_LENGTH:]


def _differing(
    before: Counter[str], after: Counter[str], key_of: Callable[[str], str] | None
) -> list[_Differing]:
    """Return the rows that are not on both sides alike, in the order of their keys.

    Args:
        before: how often each golden entry is there.
        after: how often each present one is.
        key_of: which row an entry is of; None where rows have no key and are counted: what is
            there once more than before was added.
    """
    gone, come = before - after, after - before
    if key_of is None:
        found = [_Differing("", entry, None) for entry in gone.elements()]
        found += [_Differing("", None, entry) for entry in come.elements()]
    else:
        old = {key_of(entry): entry for entry in gone}
        new = {key_of(entry): entry for entry in come}
        found = [_Differing(key, old.get(key), new.get(key)) for key in {*old, *new}]
    return sorted(found, key=_order)


def _order(one: _Differing) -> tuple[bool, int, str, str, str]:
    """Sort keys that are numbers as numbers, and the others as text."""
    is_number = one.key.isdecimal()
    number = int(one.key) if is_number else 0
    return not is_number, number, one.key, one.before or "", one.after or ""


def _fetched(
    connection: Connection, shape: TableShape, wanted: Sequence[_Differing]
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


def _where(connection: Connection, shape: TableShape, wanted: Sequence[_Differing]) -> str:
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
