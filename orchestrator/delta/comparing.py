"""Which rows of one table differ from golden: hashes are compared first, then a few rows read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.delta.golden_rows import Cells, GoldenRows, GoldenTable
from orchestrator.delta.shapes import ColumnShape, TableShape, key_text
from orchestrator.reset.tables import quoted
from sites.errors import DatabaseError

if TYPE_CHECKING:
    from orchestrator.reset.database import Connection

# Key and digest of one row; without a primary key the key is empty.
Entry = tuple[str, str]


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
    """One row that differs: its digest before and after, None where it is not there."""

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
    sealed = golden.hashes(table)
    differing = _differing(
        [(key, digest) for key, digest, _ in sealed],
        _entries(connection, shape),
        keyed=bool(shape.key),
    )
    shown = differing[:limit]
    ids = {(key, digest): row for key, digest, row in sealed}
    after = _fetched(connection, shape, [one for one in shown if one.after is not None])
    pairs = tuple(
        RowPair(
            before=None if one.before is None else golden.cells(ids[one.key, one.before]),
            after=None if one.after is None else after[one.key, one.after],
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
    """Compare what both have; there, a row's digest is its values themselves."""
    present = {column.name for column in now.columns}
    places = [n for n, column in enumerate(table.shape.columns) if column.name in present]
    names = [table.shape.columns[place].name for place in places]
    columns = {column.name: column for column in now.columns}
    key = now.key if now.key == table.shape.key and set(now.key) <= set(names) else ()
    shape = TableShape(now.name, tuple(columns[name] for name in names), key, now.definition)
    before = [
        _valued(shape, tuple(cells[place] for place in places))
        for cells in (golden.cells(row) for _, _, row in golden.hashes(table))
    ]
    values = ", ".join(column.text_sql for column in shape.columns)
    after = (
        [_valued(shape, cells) for cells in _select(connection, f"SELECT {values}", shape)]
        if values
        else []
    )
    differing = _differing(before, after, keyed=bool(key)) if values else []
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


def _valued(shape: TableShape, cells: Cells) -> Entry:
    return key_text([cells[place] for place in shape.key_places]), json.dumps(cells)


def _differing(before: Iterable[Entry], after: Iterable[Entry], *, keyed: bool) -> list[_Differing]:
    """Return the rows that are not on both sides alike, in the order of their keys.

    Rows without a key are counted: what is there once more than before was added.
    """
    was, now = Counter(before), Counter(after)
    gone, come = was - now, now - was
    if keyed:
        old, new = dict(gone.keys()), dict(come.keys())
        found = [_Differing(key, old.get(key), new.get(key)) for key in {*old, *new}]
    else:
        found = [_Differing(key, digest, None) for key, digest in gone.elements()]
        found += [_Differing(key, None, digest) for key, digest in come.elements()]
    return sorted(found, key=_order)


def _order(one: _Differing) -> tuple[bool, int, str, str, str]:
    """Sort keys that are numbers as numbers, and the others as text."""
    is_number = one.key.isdecimal()
    number = int(one.key) if is_number else 0
    return not is_number, number, one.key, one.before or "", one.after or ""


def _entries(connection: Connection, shape: TableShape) -> list[Entry]:
    """Return key and hash of every row the table has now."""
    keys = "".join(f", {column.text_sql}" for column in shape.key_columns)
    return [
        (key_text(key), str(digest))
        for digest, *key in _select(connection, f"SELECT {shape.hash_sql}{keys}", shape)
    ]


def _fetched(
    connection: Connection, shape: TableShape, wanted: Sequence[_Differing]
) -> dict[Entry, Cells]:
    """Return the values of some rows, by key and hash."""
    if not wanted:
        return {}
    values = "".join(f", {column.text_sql}" for column in shape.columns)
    which = _where(connection, shape, wanted)
    found = {}
    for digest, *cells in _select(connection, f"SELECT {shape.hash_sql}{values}", shape, which):
        found[key_text([cells[place] for place in shape.key_places]), str(digest)] = tuple(cells)
    lost = next((one for one in wanted if (one.key, one.after) not in found), None)
    if lost is not None:
        message = f"table {shape.name}: row {lost.key or lost.after} differs but cannot be found"
        raise DatabaseError(message)
    return found


def _where(connection: Connection, shape: TableShape, wanted: Sequence[_Differing]) -> str:
    """Return the condition that finds rows: by key where that is sure, or else by hash."""
    if not shape.has_exact_key:
        hashes = ", ".join(connection.escape(one.after) for one in wanted)
        return f" WHERE {shape.hash_sql} IN ({hashes})"
    names = ", ".join(quoted(name) for name in shape.key)
    keys = ", ".join(f"({_literals(connection, shape, one.key)})" for one in wanted)
    return f" WHERE ({names}) IN ({keys})"


def _literals(connection: Connection, shape: TableShape, key: str) -> str:
    cells = [key] if len(shape.key) == 1 else json.loads(key)
    return ", ".join(
        _literal(connection, column, cell)
        for column, cell in zip(shape.key_columns, cells, strict=True)
    )


def _literal(connection: Connection, column: ColumnShape, cell: str) -> str:
    """Write a key's value; a number without quotes, so that the index is used."""
    is_whole = column.kind.endswith("int") and cell.removeprefix("-").isdecimal()
    return cell if is_whole else str(connection.escape(cell))


def _select(
    connection: Connection, select: str, shape: TableShape, where: str = ""
) -> tuple[tuple[str | None, ...], ...]:
    with connection.cursor() as cursor:
        # Names come quoted from the database's own catalogue, values escaped.
        cursor.execute(f"{select} FROM {quoted(shape.name)}{where}")
        return cursor.fetchall()
