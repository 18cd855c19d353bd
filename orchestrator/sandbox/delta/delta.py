"""What was changed in a running replica since it was golden, or since the start of an episode."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from arena_core.errors import DatabaseError, ImageError, SiteError
from arena_core.names import counted
from evaluators.changes import (
    Cells,
    Change,
    ChangeKind,
    FileChange,
    IgnoredChanges,
    MoreChanges,
    OtherChange,
    RowChange,
    TableChange,
    kept,
)
from orchestrator.sandbox.delta.comparison import PresentRows, differing_rows
from orchestrator.sandbox.delta.golden_rows import GoldenRows, GoldenTable
from orchestrator.sandbox.delta.present_rows import MariadbRows, SqliteRows
from orchestrator.sandbox.golden import golden_rows
from orchestrator.sandbox.reset.database import mariadb_connection
from orchestrator.sandbox.reset.fingerprint import take_fingerprint
from orchestrator.sandbox.reset.sqlite import DatabaseCopy, copy_database, opened
from sites.manifest import FileDatabase

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.sandbox.delta.comparison import RowPair, TableDifference
    from orchestrator.sandbox.delta.golden_rows import Cells as Values
    from orchestrator.sandbox.delta.shapes import TableShape
    from orchestrator.sandbox.engine.containers import Endpoint
    from orchestrator.sandbox.engine.engine import Engine
    from orchestrator.sandbox.reset.replica import Replica
    from orchestrator.sandbox.reset.state import FileState, Fingerprint, TableState, TakenState
    from sites.manifest import Site


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


ROWS_A_TABLE: Final = 200
DEADLINE_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class NextId:
    """The next id that a table would give, where it moved; None where it gives none."""

    table: str
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True)
class Delta:
    """Everything that differs from golden, or from a start.

    Attributes:
        changes: tables and their rows by name and key, then files by path, then what else differs.
        next_ids: of the tables whose counters moved.
        scratch: files in memory, by path; what a site keeps there passes, and no check asks for it.
        start: the name of the state that it is compared with; None for golden, or one without name.
    """

    site: str
    changes: tuple[Change, ...] = ()
    next_ids: tuple[NextId, ...] = ()
    scratch: tuple[FileChange, ...] = ()
    start: str | None = None

    @property
    def is_empty(self) -> bool:
        return not self.changes and not self.next_ids and not self.scratch


async def delta_of(
    engine: Engine,
    replica: Replica,
    fingerprint: Fingerprint | None = None,
    *,
    ignored: IgnoredChanges | None = None,
    start: TakenState | None = None,
    limit: int = ROWS_A_TABLE,
) -> Delta:
    """Compare a running replica with golden or a start, row by row and file by file.

    Only tables whose fingerprint differs are read. Values of secrets are left out.

    Args:
        fingerprint: its state, where that was just taken.
        ignored: what not to look at.
        start: the state that it is compared with; the golden state of its image where omitted.
        limit: how many rows of each table are listed; of more, only their number.
    """
    site = replica.site
    without = ignored or IgnoredChanges()
    before = start or replica.placement.golden
    try:
        async with asyncio.timeout(DEADLINE_S):
            found = fingerprint or await take_fingerprint(engine, site, replica.container)
            if found.own_digest == (start.fingerprint.own_digest if start else before.digest):
                return Delta(site.name)
            golden = await before.parts()
            states = _table_pairs(golden.tables, found.tables, without)
            rows: tuple[Change, ...] = ()
            if states:
                own = None if start is None else start.rows
                sealed = _Sealed(await _golden_rows(engine, replica), own)
                read = await _reading(engine, replica)
                rows = await asyncio.to_thread(_rows, read, sealed, states, without, limit)
    except TimeoutError as cause:
        what = "its start" if start else "golden"
        message = (
            f"site '{site.name}': comparing it with {what} took longer than {DEADLINE_S:.0f} s"
        )
        raise SiteError(message) from cause
    return Delta(
        site=site.name,
        changes=(*rows, *file_changes(golden, found), *other_changes(golden, found)),
        next_ids=tuple(_next_ids(states)),
        scratch=tuple(scratch_changes(golden, found)),
    )


_Reading = Callable[[], AbstractContextManager[PresentRows]]
StatePair = tuple["TableState | None", "TableState | None"]


def _table_pairs(
    golden: Sequence[TableState], found: Sequence[TableState], without: IgnoredChanges
) -> dict[str, StatePair]:
    before = {table.name: table for table in golden}
    after = {table.name: table for table in found}
    return {
        name: (before.get(name), after.get(name))
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name) and not without.has_table(name)
    }


async def _golden_rows(engine: Engine, replica: Replica) -> Path:
    image = await engine.image(replica.placement.image_id)
    if image is None:
        message = f"site '{replica.site.name}': the image of {replica.container.name} is gone"
        raise ImageError(message, hint="arena down; arena up")
    return await golden_rows(engine, image)


async def _reading(engine: Engine, replica: Replica) -> _Reading:
    site, endpoint = replica.site, replica.database
    if isinstance(site.database, FileDatabase):
        copy = await copy_database(engine, site, site.database, replica.container.id)
        return lambda: _sqlite_rows(site, copy)
    if endpoint is None:
        raise DatabaseError(f"site '{site.name}' has no database whose rows are read")
    return lambda: _mariadb_rows(site, endpoint)


@contextmanager
def _sqlite_rows(site: Site, copy: DatabaseCopy) -> Iterator[PresentRows]:
    with opened(site, copy) as connection:
        yield SqliteRows(connection, site.fingerprint)


@contextmanager
def _mariadb_rows(site: Site, endpoint: Endpoint) -> Iterator[PresentRows]:
    with mariadb_connection(site, endpoint) as connection:
        yield MariadbRows(connection, site.fingerprint)


@dataclass(frozen=True, slots=True)
class _Sealed:
    """Where the rows of before are: all of golden, and a start's own in place of some tables.

    Attributes:
        start: the tables of a start in which it differs from golden; None for golden itself.
    """

    golden: Path
    start: bytes | None = None

    @contextmanager
    def opened(self) -> Iterator[Mapping[str, tuple[GoldenRows, GoldenTable]]]:
        """Open both, and yield each table with the rows that it is in."""
        with ExitStack() as stack:
            sources = [stack.enter_context(GoldenRows.opened(self.golden))]
            if self.start is not None:
                sources.append(stack.enter_context(GoldenRows.of_start(self.start)))
            yield {
                name: (source, table)
                for source in sources
                for name, table in source.tables().items()
            }


def _rows(
    reading: _Reading,
    sealed: _Sealed,
    states: Mapping[str, StatePair],
    without: IgnoredChanges,
    limit: int,
) -> tuple[Change, ...]:
    with sealed.opened() as tables, reading() as present:
        now = {shape.name: shape for shape in present.shapes(states)}
        changes: list[Change] = []
        for name, state in states.items():
            if state[0] is None or name not in tables or name not in now:
                changes.append(table_change(name, *state))
                continue
            (golden, table), shape = tables[name], now[name]
            definition = definition_change(table.shape, shape)
            changes.extend([definition] if definition else [])
            if not _has_same_rows(*state):
                difference = differing_rows(present, golden, table, shape, limit)
                changes.extend(row_changes(name, difference, without.columns.get(name, ())))
        return tuple(changes)


def _has_same_rows(before: TableState | None, after: TableState | None) -> bool:
    """Whether a table's fingerprint shows the same rows, written with the same columns."""
    if before is None or after is None:
        return False
    return (before.rows, before.content, before.definition) == (
        after.rows,
        after.content,
        after.definition,
    )


def _next_ids(states: Mapping[str, StatePair]) -> Iterator[NextId]:
    for name, (before, after) in states.items():
        if before and after and before.auto_increment != after.auto_increment:
            yield NextId(name, before.auto_increment, after.auto_increment)
