"""Which rows of one table differ from golden: hashes are compared first, then a few rows read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from orchestrator.sandbox.delta.golden_rows import Cells, GoldenRows, GoldenTable
from orchestrator.sandbox.delta.shapes import TableShape
from orchestrator.sandbox.reset.sqlite import HASH_LENGTH


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


class PresentRows(Protocol):
    """The tables of a replica as they are, whatever its database's engine; blocking.

    Every method raises `DatabaseError` where the database cannot be read.
    """

    def shapes(self, names: Iterable[str]) -> tuple[TableShape, ...]:
        """Return the shapes of those of the named tables that there are."""

    def entries(self, shape: TableShape) -> Iterable[str]:
        """Return each row's hash and key, as the golden rows' entries are written."""

    def values(self, shape: TableShape) -> Iterable[Cells]:
        """Return the values of each row."""

    def fetched(self, shape: TableShape, wanted: Sequence[Differing]) -> Mapping[str, Cells]:
        """Return the values that some rows have now, by entry."""


@dataclass(frozen=True, slots=True)
class Differing:
    """One row that differs: its entry before and after, None where it is not there."""

    key: str
    before: str | None
    after: str | None


def differing_rows(
    present: PresentRows, golden: GoldenRows, table: GoldenTable, now: TableShape, limit: int
) -> TableDifference:
    """Compare a table's rows with golden.

    A table whose columns are the golden ones is compared by the database's own hashes; of one that
    was altered, the columns that both have are read whole.
    """
    if now.columns == table.shape.columns and now.key == table.shape.key:
        return _by_hash(present, golden, table, limit)
    return _by_values(present, golden, table, now, limit)


def _by_hash(
    present: PresentRows, golden: GoldenRows, table: GoldenTable, limit: int
) -> TableDifference:
    shape = table.shape
    sealed = golden.entries(table)
    ids = dict(sealed)
    before = Counter([entry for entry, _ in sealed])
    after = Counter(present.entries(shape))
    differing = _differing(before, after, _by_key if shape.key else None)
    shown = differing[:limit]
    now = present.fetched(shape, [one for one in shown if one.after is not None])
    pairs = tuple(
        RowPair(
            before=None if one.before is None else golden.cells(ids[one.before]),
            after=None if one.after is None else now[one.after],
        )
        for one in shown
    )
    return _difference(shape, pairs, len(differing) - len(shown))


def _by_values(
    present: PresentRows,
    golden: GoldenRows,
    table: GoldenTable,
    now: TableShape,
    limit: int,
) -> TableDifference:
    """Compare what both have; there, a row's entry is its values themselves."""
    kept = {column.name: column for column in now.columns}
    places = [n for n, column in enumerate(table.shape.columns) if column.name in kept]
    names = [table.shape.columns[place].name for place in places]
    key = now.key if now.key == table.shape.key and set(now.key) <= set(names) else ()
    shape = TableShape(now.name, tuple(kept[name] for name in names), key, now.definition)
    if not names:
        return _difference(shape, (), 0)
    before = Counter(
        json.dumps([cells[place] for place in places])
        for cells in (golden.cells(row) for _, row in golden.entries(table))
    )
    after = Counter(json.dumps(cells) for cells in present.values(shape))

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
) -> list[Differing]:
    """Return the rows that are not on both sides alike, in the order of their keys.

    Args:
        before: how often each golden entry is there.
        after: how often each present one is.
        key_of: which row an entry is of; None where rows have no key and are counted: what is
            there once more than before was added.
    """
    gone, come = before - after, after - before
    if key_of is None:
        found = [Differing("", entry, None) for entry in gone.elements()]
        found += [Differing("", None, entry) for entry in come.elements()]
    else:
        old = {key_of(entry): entry for entry in gone}
        new = {key_of(entry): entry for entry in come}
        found = [Differing(key, old.get(key), new.get(key)) for key in {*old, *new}]
    return sorted(found, key=_order)


def _order(one: Differing) -> tuple[bool, int, str, str, str]:
    is_number = one.key.isdecimal()
    number = int(one.key) if is_number else 0
    return not is_number, number, one.key, one.before or "", one.after or ""
