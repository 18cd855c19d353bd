"""From what differs to changes: the records that evidence holds, without secrets."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from arena_core.names import counted
from evaluators.changes import (
    Cells,
    Change,
    ChangeKind,
    FileChange,
    MoreChanges,
    OtherChange,
    RowChange,
    TableChange,
    kept,
)

if TYPE_CHECKING:
    from orchestrator.sandbox.delta.comparison import RowPair, TableDifference
    from orchestrator.sandbox.delta.golden_rows import Cells as Values
    from orchestrator.sandbox.delta.shapes import TableShape
    from orchestrator.sandbox.reset.state import FileState, Fingerprint, TableState


def row_changes(
    table: str, difference: TableDifference, ignored: Collection[str]
) -> Iterator[Change]:
    """Yield the rows of a table that differ; one that differs in ignored columns only does not."""
    for pair in difference.rows:
        change = _row_change(table, difference, pair, ignored)
        if change is not None:
            yield change
    if difference.more:
        yield MoreChanges(table=table, count=difference.more)


def table_change(name: str, before: TableState | None, after: TableState | None) -> TableChange:
    """Return the change of a table that is new or gone, with how many rows it has."""
    kind = ChangeKind.ADDED if before is None else ChangeKind.REMOVED
    state = after or before
    rows = 0 if state is None else state.rows
    return TableChange(table=name, kind=kind, differs=(counted(rows, "row"),))


def definition_change(before: TableShape, after: TableShape) -> TableChange | None:
    """Return how a table is defined otherwise, line by line; None where it is not."""
    if before.definition == after.definition:
        return None
    was, now = (_clauses(shape.definition) for shape in (before, after))
    gone = [f"without {clause}" for clause in was if clause not in now]
    come = [f"with {clause}" for clause in now if clause not in was]
    differs = (*gone, *come) or ("other order of its columns",)
    return TableChange(table=after.name, kind=ChangeKind.CHANGED, differs=differs)


def file_changes(golden: Fingerprint, found: Fingerprint) -> Iterator[FileChange]:
    """Yield the entries of the stateful folders that differ, by path."""
    yield from _between(golden.files, found.files)


def scratch_changes(golden: Fingerprint, found: Fingerprint) -> Iterator[FileChange]:
    """Yield the entries of the folders in memory that differ, by path: locks, caches, sessions."""
    yield from _between(golden.scratch, found.scratch)


def _between(golden: Iterable[FileState], found: Iterable[FileState]) -> Iterator[FileChange]:
    before = {entry.path: entry for entry in golden}
    after = {entry.path: entry for entry in found}
    for path in sorted({*before, *after}):
        was, now = before.get(path), after.get(path)
        if was is None:
            yield FileChange(path=path, kind=ChangeKind.ADDED)
        elif now is None:
            yield FileChange(path=path, kind=ChangeKind.REMOVED)
        elif was != now:
            differs = tuple(_file_differs(was, now))
            yield FileChange(path=path, kind=ChangeKind.CHANGED, differs=differs)


def other_changes(golden: Fingerprint, found: Fingerprint) -> Iterator[OtherChange]:
    """Yield what else of a fingerprint differs, as the fingerprint itself says it."""
    rest = replace(found, tables=golden.tables, files=golden.files, scratch=golden.scratch)
    for line in rest.differences(golden):
        yield OtherChange(what=line)


def _row_change(
    table: str, difference: TableDifference, pair: RowPair, ignored: Collection[str]
) -> RowChange | None:
    if pair.before is None or pair.after is None:
        kind = ChangeKind.ADDED if pair.before is None else ChangeKind.REMOVED
        changed: tuple[str, ...] = ()
    else:
        kind = ChangeKind.CHANGED
        changed = tuple(
            name
            for name, was, now in zip(difference.columns, pair.before, pair.after, strict=True)
            if was != now and name not in ignored
        )
        if not changed:
            return None
    before = _cells(difference, pair.before, ignored)
    after = _cells(difference, pair.after, ignored)
    row = after or before or {}
    return RowChange(
        table=table,
        kind=kind,
        key={name: row.get(name) for name in difference.key},
        before=before,
        after=after,
        changed=changed,
    )


def _cells(
    difference: TableDifference, values: Values | None, ignored: Collection[str]
) -> Cells | None:
    if values is None:
        return None
    return {
        name: kept(name, value)
        for name, value in zip(difference.columns, values, strict=True)
        if name not in ignored
    }


def _clauses(definition: str) -> list[str]:
    """Return the lines of a definition: its columns, its keys, its options."""
    return [line.strip().rstrip(",") for line in definition.splitlines()[1:]]


def _file_differs(was: FileState, now: FileState) -> Iterator[str]:
    if now.kind != was.kind:
        yield f"type {now.kind} instead of {was.kind}"
    if now.content != was.content:
        yield "other content"
    if now.mode != was.mode:
        yield f"mode {now.mode} instead of {was.mode}"
    if now.owner != was.owner:
        yield f"owner {now.owner} instead of {was.owner}"
