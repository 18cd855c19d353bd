"""From what was changed to the check that asks for exactly that."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from arena_core.errors import UsageError
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
    is_secret,
    said,
)

if TYPE_CHECKING:
    from orchestrator.sandbox.delta.delta import Delta, NextId
    from sites.manifest import Clock


_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?")
_EPOCH: Final = re.compile(r"\d{10}(\.\d+|\d{3})?")
_MILLISECONDS: Final = 13
_SLACK: Final = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class Moments:
    """The time in which a replica was changed, by every clock that may have dated the change.

    Attributes:
        spans: first and last moment, in UTC: by the machine's clock, and by the site's own where
            that stands elsewhere.
        zones: in which a time without a zone may be written.
        days: whether a date alone may be that of the change: not where the site's clock begins at
            the same day each time.
    """

    spans: tuple[tuple[datetime, datetime], ...]
    zones: tuple[tzinfo, ...]
    days: bool

    @classmethod
    def between(cls, since: datetime, until: datetime, clock: Clock) -> Moments:
        """Return the moments from the start of a replica until now, given by the machine.

        Where its clock was set back meanwhile, `until` is before `since`.
        """
        first, last = sorted((since, until))
        spans = [(first - _SLACK, last + _SLACK)]
        if clock.begins is not None:
            spans.append((clock.begins - _SLACK, clock.begins + (last - first) + _SLACK))
        zones = dict.fromkeys((UTC, ZoneInfo(clock.zone)))
        return cls(tuple(spans), tuple(zones), days=clock.begins is None)

    def holds(self, value: str) -> bool:
        """Whether a value is such a moment: date and time, seconds of Unix, or a date alone."""
        if _DATE.fullmatch(value):
            return self.days and self._has_day(value)
        return any(
            first <= moment <= last for moment in self._read(value) for first, last in self.spans
        )

    def _read(self, value: str) -> tuple[datetime, ...]:
        if _EPOCH.fullmatch(value):
            seconds = float(value) / (1000 if len(value) == _MILLISECONDS else 1)
            return (datetime.fromtimestamp(seconds, UTC),)
        if not _TIME.fullmatch(value):
            return ()
        try:
            read = datetime.fromisoformat(value)
        except ValueError:
            return ()
        if read.tzinfo is not None:
            return (read,)
        return tuple(read.replace(tzinfo=zone) for zone in self.zones)

    def _has_day(self, value: str) -> bool:
        try:
            day = date.fromisoformat(value)
        except ValueError:
            return False
        return any(
            first.astimezone(zone).date() <= day <= last.astimezone(zone).date()
            for first, last in self.spans
            for zone in self.zones
        )


NAME: Final = "exactly-these-changes"
_REFERENCE: Final = re.compile(
    r"FOREIGN KEY \(([^,()]+)\) REFERENCES ([^\s(]+) \(([^,()]+)\)", re.IGNORECASE
)
_QUOTES: Final = "`\"'[] "

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ByItself:
    """What changes in a replica although nobody changes anything.

    Attributes:
        ignored: tables in which rows come and go, and columns that change.
        files: paths of files.
    """

    ignored: IgnoredChanges = field(default_factory=IgnoredChanges)
    files: tuple[str, ...] = ()

    @classmethod
    def of(cls, changes: Iterable[Change]) -> ByItself:
        """Read it from the changes of a replica that was only looked at."""
        tables: set[str] = set()
        columns: dict[str, set[str]] = {}
        files: list[str] = []
        for change in changes:
            match change:
                case RowChange(kind=ChangeKind.CHANGED):
                    columns.setdefault(change.table, set()).update(change.changed)
                case RowChange() | TableChange() | MoreChanges():
                    tables.add(change.table)
                case FileChange():
                    files.append(glob.escape(change.path))
                case OtherChange():
                    pass
        kept = {table: tuple(sorted(columns[table])) for table in sorted(columns.keys() - tables)}
        return cls(IgnoredChanges(tables=tuple(sorted(tables)), columns=kept), tuple(files))


def check_of(
    delta: Delta, by_itself: ByItself, moments: Moments, definitions: Mapping[str, str]
) -> Document:
    """Return the check, as a task writes it, that is met by these changes and no others.

    Left out of the columns that it asks for, as they are others the next time: moments of the
    change, ids that the database gave to rows that were added, references to these, and secrets,
    which are kept nowhere. Of a changed row they may change along (`also`).

    Args:
        delta: what was changed, without what `by_itself` ignores.
        by_itself: what the check does not look at.
        moments: the time in which the replica was changed.
        definitions: of the tables, as they were sealed.
    """
    changes = [one for one in delta.changes if not _is_file_of(one, by_itself.files)]
    beyond = [one for one in changes if not isinstance(one, RowChange | FileChange)]
    if beyond:
        message = (
            f"site '{delta.site}': no check can ask for this change: {said(beyond[0])}"
            f"{f' (and {len(beyond) - 1} more)' if len(beyond) > 1 else ''}"
        )
        hint = f"arena reset {delta.site}; then change rows and files only, at most 200 of a table"
        raise UsageError(message, hint=hint)
    writing = _Writing(moments, _given_ids(delta, definitions))
    wanted = [writing.expected(one) for one in changes]
    locate: Document = {"by": "db_delta", "site": delta.site}
    ignored = by_itself.ignored.model_dump(mode="json", exclude_defaults=True)
    if ignored:
        locate["ignore"] = ignored
    match: Document = {"how": "delta", "changes": _counted(wanted)}
    if by_itself.files:
        match["allow"] = {"files": list(by_itself.files)}
    where: Document = {"name": NAME, "when": "end", "worlds": ["offline"]}
    return {**where, "locate": locate, "match": match}


@dataclass(frozen=True, slots=True)
class _GivenIds:
    """Ids that the database gave since golden, by table and column, references included."""

    next_ids: Mapping[str, NextId]
    keys: Mapping[str, str]
    references: Mapping[str, Mapping[str, str]]

    def holds(self, table: str, column: str, value: str) -> bool:
        """Whether a value of a column is such an id."""
        target = self.references.get(table, {}).get(column)
        if target is None and self.keys.get(table) == column:
            target = table
        moved = self.next_ids.get(target or "")
        if moved is None or not value.isdecimal():
            return False
        return (moved.before or 0) <= int(value) < (moved.after or 0)


def _given_ids(delta: Delta, definitions: Mapping[str, str]) -> _GivenIds:
    keys = {
        one.table: next(iter(one.key))
        for one in delta.changes
        if isinstance(one, RowChange) and len(one.key) == 1
    }
    references = {table: dict(_references(text)) for table, text in definitions.items()}
    return _GivenIds({one.table: one for one in delta.next_ids}, keys, references)


def _references(definition: str) -> Iterator[tuple[str, str]]:
    for column, table, _ in _REFERENCE.findall(definition):
        yield column.strip(_QUOTES), table.strip(_QUOTES)


@dataclass(frozen=True, slots=True)
class _Writing:
    moments: Moments
    given: _GivenIds

    def expected(self, change: Change) -> Document:
        match change:
            case RowChange(kind=ChangeKind.ADDED):
                columns = self._stable(change.table, change.after or {})
            case RowChange(kind=ChangeKind.REMOVED):
                columns = _open(change.key) or self._stable(change.table, change.before or {})
            case RowChange():
                return self._changed(change)
            case FileChange():
                return {"file": glob.escape(change.path), "kind": change.kind.value}
            case _:
                raise AssertionError(f"{change.of} is no change that a check can ask for")
        named = {"columns": dict(columns)} if columns else {}
        return {"table": change.table, "kind": change.kind.value, **named}

    def _changed(self, change: RowChange) -> Document:
        after = change.after or {}
        cells = {name: after.get(name) for name in change.changed}
        stable = self._stable(change.table, cells)
        also = [name for name in change.changed if name not in stable]
        document: Document = {"table": change.table, "kind": change.kind.value}
        document["columns"] = {**_open(change.key), **stable}
        return {**document, **({"also": also} if also else {})}

    def _stable(self, table: str, cells: Cells) -> Cells:
        return {
            name: value
            for name, value in cells.items()
            if not is_secret(name)
            and (value is None or not self.moments.holds(value))
            and (value is None or not self.given.holds(table, name, value))
        }


def _open(cells: Cells) -> Cells:
    return {name: value for name, value in cells.items() if not is_secret(name)}


def _is_file_of(change: Change, patterns: Iterable[str]) -> bool:
    return isinstance(change, FileChange) and glob.escape(change.path) in patterns


def _counted(wanted: list[Document]) -> list[Document]:
    once: list[Document] = []
    for one in wanted:
        if one not in once:
            once.append(one)
    counts = [wanted.count(one) for one in once]
    return [
        {**one, "count": count} if count > 1 else one
        for one, count in zip(once, counts, strict=True)
    ]
