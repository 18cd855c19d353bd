"""Matching what an episode changed with what it should have changed: no less, and no more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import assert_never

from evaluators.changes import (
    Cells,
    Change,
    ChangeKind,
    FileChange,
    MoreChanges,
    OtherChange,
    RowChange,
    TableChange,
    read_change,
    row_name,
    said,
)
from evaluators.checks import AllowedChanges, ExpectedCell, ExpectedChange, MatchDelta
from evaluators.equality import is_equal
from evaluators.matched import Matched
from evaluators.pairing import pair_up
from evaluators.text import normalise, shown

_SAID = 3


def match_delta(asked: MatchDelta, values: Sequence[str]) -> Matched:
    """Compare changes, as `change_as_text` writes them, with those that a check expects.

    Met where every expected change is paired with a change of its own, and every change that is
    left is allowed. A text that is no change is unexpected.
    """
    found = [(value, read_change(value)) for value in values]
    changes = [change for _, change in found]
    wanted = [one for one in asked.changes for _ in range(one.count)]
    fits = [[n for n, change in enumerate(changes) if _fits(one, change)] for one in wanted]
    bound = [n for n, change in enumerate(changes) if not _is_allowed(asked.allow, change)]
    paired = pair_up(fits, first=bound)
    left = [change for n, change in enumerate(changes) if n not in paired]
    missing = [
        f"{lacking}{_near(one, left)}"
        for one, lacking in _without(asked.changes, wanted, set(paired.values()))
    ]
    unexpected = [_said(*found[n]) for n in bound if n not in paired]
    expected = _expected_said(asked)
    if not missing and not unexpected:
        done = [_said(*found[n]) for n in sorted(paired)]
        reason = f"changed as wanted: {_listed(done)}" if done else "nothing changed, as wanted"
        return Matched(met=True, reason=reason, expected=expected)
    faults = [f"missing: {_listed(missing)}"] if missing else []
    faults += [f"not expected: {_listed(unexpected)}"] if unexpected else []
    return Matched(met=False, reason="; ".join(faults), expected=expected)


def _fits(wanted: ExpectedChange, change: Change | None) -> bool:
    match change:
        case RowChange():
            return _is_kin(wanted, change) and not any(_misfits(wanted, change))
        case FileChange():
            return (
                wanted.file is not None
                and wanted.kind is change.kind
                and fnmatchcase(change.path, wanted.file)
            )
        case TableChange() | MoreChanges() | OtherChange() | None:
            return False
        case _:
            assert_never(change)


def _misfits(wanted: ExpectedChange, change: RowChange) -> Iterator[str]:
    """Yield why a row of the right table and kind is not the one: columns that matter come first.

    Of a changed row no column may have changed that is named nowhere.
    """
    match wanted.kind:
        case ChangeKind.ADDED:
            yield from _other_cells(wanted.columns, change.after or {})
        case ChangeKind.REMOVED:
            yield from _other_cells(wanted.columns, change.before or {})
        case ChangeKind.CHANGED:
            yield from _other_cells(wanted.columns, change.after or {})
            yield from _other_cells(wanted.before, change.before or {}, " before")
            for column in change.changed:
                named = column in wanted.columns or column in wanted.before
                if not named and not _is_like(column, wanted.also):
                    yield f"{column} changed too"
        case _:
            assert_never(wanted.kind)


def _other_cells(wanted: Mapping[str, ExpectedCell], row: Cells, when: str = "") -> Iterator[str]:
    for column, cell in wanted.items():
        if column not in row:
            yield f"there is no column '{column}'"
        elif not _cell_is(row[column], cell):
            yield f"{column}{when} is {_cell_said(row[column])}"


def _cell_is(value: str | None, wanted: ExpectedCell) -> bool:
    if value is None or wanted is None:
        return value is wanted
    return is_equal(normalise(value), wanted)


def _near(wanted: ExpectedChange, left: Iterable[Change | None]) -> str:
    """Say which row that is left comes nearest, and what is other about it."""
    rows = [one for one in left if isinstance(one, RowChange) and _is_kin(wanted, one)]
    if not rows:
        return ""
    misfits, row = min(
        ((tuple(_misfits(wanted, row)), row) for row in rows), key=lambda pair: len(pair[0])
    )
    return f", nearest {row_name(row)}: {', '.join(misfits[:_SAID])}" if misfits else ""


def _is_kin(wanted: ExpectedChange, change: RowChange) -> bool:
    return wanted.table == change.table and wanted.kind is change.kind


def _is_allowed(allow: AllowedChanges, change: Change | None) -> bool:
    match change:
        case RowChange() | TableChange() | MoreChanges():
            return _is_like(change.table, allow.tables)
        case FileChange():
            return _is_like(change.path, allow.files)
        case OtherChange() | None:
            return False
        case _:
            assert_never(change)


def _is_like(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _without(
    asked: Sequence[ExpectedChange], wanted: Sequence[ExpectedChange], paired: set[int]
) -> Iterator[tuple[ExpectedChange, str]]:
    """Yield the expected changes that are without one, each once, with how many of it lack."""
    lacking = [one for number, one in enumerate(wanted) if number not in paired]
    for one in asked:
        count = sum(other is one for other in lacking)
        if count:
            yield one, _wanted_said(one, count)


def _expected_said(asked: MatchDelta) -> str:
    if not asked.changes:
        return "no change"
    return "exactly " + _listed([_wanted_said(one, one.count) for one in asked.changes])


def _wanted_said(wanted: ExpectedChange, count: int) -> str:
    what = f"file {wanted.file}" if wanted.table is None else f"a row of {wanted.table}"
    times = f"{count} × " if count > 1 else ""
    cells = ", ".join(_cells_said(wanted))
    return f"{times}{what} {wanted.kind}{f' ({cells})' if cells else ''}"


def _cells_said(wanted: ExpectedChange) -> Iterator[str]:
    for column, cell in wanted.before.items():
        yield f"{column} before {_cell_said(cell)}"
    for column, cell in wanted.columns.items():
        yield f"{column} {_cell_said(cell)}"


def _cell_said(cell: ExpectedCell) -> str:
    if cell is None:
        return "NULL"
    return shown(cell) if isinstance(cell, str) else str(cell)


def _said(text: str, change: Change | None) -> str:
    return said(change) if change is not None else f"{shown(text)}, which is no change"


def _listed(sentences: Sequence[str]) -> str:
    first = "; ".join(sentences[:_SAID])
    more = len(sentences) - _SAID
    return f"{first} and {more} more" if more > 0 else first
