"""What an episode changed in a replica: one record a change, and how it is said in a sentence."""

from __future__ import annotations

import hashlib
import json
import re
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Annotated, Final, Literal, assert_never

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from evaluators.values.text import shown

Cells = dict[str, str | None]

REDACTED: Final = "(redacted)"
_SECRET: Final = re.compile(r"passw|secret|token|session|api_?key|credential", re.IGNORECASE)
_NUMBER: Final = re.compile(r"[+-]?\d+(?:\.\d+)?")
_KEPT_LENGTH: Final = 4000
_SAID_CELLS: Final = 8


class ChangeKind(StrEnum):
    """What happened to a row, a file or a table."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class IgnoredChanges(_Record):
    """What is not looked at.

    Attributes:
        tables: names, `*` for any letters.
        columns: columns left out, by table; a row in which only these changed did not change.
    """

    tables: tuple[str, ...] = ()
    columns: dict[str, tuple[str, ...]] = Field(default_factory=dict)

    def has_table(self, name: str) -> bool:
        """Whether a table is not looked at."""
        return any(fnmatchcase(name, pattern) for pattern in self.tables)


class RowChange(_Record):
    """One row that was added, removed or changed.

    A value is the database's text: `12.50`, `2026-01-05 10:00:00`, `0x00ff` for bytes; null is SQL
    NULL. Volatile columns are left out; secrets are `(redacted)`.

    Attributes:
        key: the primary key's columns; empty where the table has none.
        before, after: the whole row; None where there was, or is, no such row.
        changed: the columns that differ, of a changed row.
    """

    of: Literal["row"] = "row"
    table: str
    kind: ChangeKind
    key: Cells = Field(default_factory=dict)
    before: Cells | None = None
    after: Cells | None = None
    changed: tuple[str, ...] = ()


class FileChange(_Record):
    """One entry of a stateful folder that was added, removed or changed.

    `differs` says how, of a changed one: `other content`, `mode 600 instead of 644`.
    """

    of: Literal["file"] = "file"
    path: str
    kind: ChangeKind
    differs: tuple[str, ...] = ()


class TableChange(_Record):
    """A table that was added, removed, or defined anew; `differs` says how it is defined now."""

    of: Literal["table"] = "table"
    table: str
    kind: ChangeKind
    differs: tuple[str, ...] = ()


class MoreChanges(_Record):
    """So many more rows of a table changed than were read."""

    of: Literal["more"] = "more"
    table: str
    count: int


class OtherChange(_Record):
    """A change of what is neither row nor file: a view, a probe of the manifest."""

    of: Literal["other"] = "other"
    what: str


Change = Annotated[
    RowChange | FileChange | TableChange | MoreChanges | OtherChange, Field(discriminator="of")
]

_CHANGE: Final[TypeAdapter[Change]] = TypeAdapter(Change)


def change_as_text(change: Change) -> str:
    """Return the canonical JSON of a change: equal changes give equal text."""
    document = change.model_dump(mode="json", exclude_defaults=True)
    return json.dumps(
        {"of": change.of, **document}, sort_keys=True, ensure_ascii=False, separators=(",", ":")
    )


def read_change(text: str) -> Change | None:
    """Read what `change_as_text` wrote; None for any other text."""
    try:
        return _CHANGE.validate_json(text)
    except ValidationError:
        return None


def is_secret(column: str) -> bool:
    """Whether a column's name says that its values must not be kept."""
    return _SECRET.search(column) is not None


def kept(column: str, value: str | None) -> str | None:
    """Return a column's value as evidence may hold it: no secret, and no text without end."""
    if value is None:
        return None
    if is_secret(column):
        return REDACTED
    if len(value) <= _KEPT_LENGTH:
        return value
    digest = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{value[:_KEPT_LENGTH]}… ({len(value)} characters, SHA-256 {digest})"


def said(change: Change) -> str:
    """Say a change in one line: `table product, row id=17: title 'Kettle' -> 'Kettel'`."""
    match change:
        case RowChange():
            return f"table {change.table}, {row_name(change)}{_row_said(change)}"
        case FileChange():
            return f"file {_printable(change.path)}{_whole_said(change.kind, change.differs)}"
        case TableChange():
            return f"table {change.table}{_whole_said(change.kind, change.differs)}"
        case MoreChanges():
            rows = "row differs" if change.count == 1 else "rows differ"
            return f"table {change.table}: {change.count} more {rows}"
        case OtherChange():
            return change.what
        case _:
            assert_never(change)


def row_name(change: RowChange) -> str:
    """Return what a row is called: by its primary key, or as one row of many."""
    if not change.key:
        return "a row"
    named = ", ".join(f"{name}={_bare(value)}" for name, value in change.key.items())
    return f"row {named}"


def cells_said(change: RowChange) -> tuple[str, ...]:
    """Say the columns of a row change, one text each: before -> after, or the row's values."""
    before, after = change.before or {}, change.after or {}
    if change.kind is ChangeKind.CHANGED:
        return tuple(
            _change_said(name, before.get(name), after.get(name)) for name in change.changed
        )
    row = after if change.kind is ChangeKind.ADDED else before
    return tuple(
        f"{name} {_quoted(value)}" for name, value in row.items() if name not in change.key
    )


def said_cells(change: RowChange) -> str:
    """Say the columns of a row change in a few words: the first ones, then how many more."""
    cells = cells_said(change)
    more = len(cells) - _SAID_CELLS
    return ", ".join(cells[:_SAID_CELLS]) + (f" and {more} more columns" if more > 0 else "")


def _row_said(change: RowChange) -> str:
    listed = said_cells(change)
    if change.kind is ChangeKind.CHANGED:
        return f": {listed}"
    return f" {change.kind}: {listed}" if listed else f" {change.kind}"


def _change_said(name: str, before: str | None, after: str | None) -> str:
    if before == after == REDACTED:
        return f"{name} {REDACTED}"
    return f"{name} {_quoted(before)} -> {_quoted(after)}"


def _whole_said(kind: ChangeKind, differs: tuple[str, ...]) -> str:
    listed = f": {', '.join(differs)}" if differs else ""
    return listed if kind is ChangeKind.CHANGED else f" {kind}{listed}"


def _quoted(value: str | None) -> str:
    """Show a value: numbers bare, text in quotes and short, NULL as SQL writes it."""
    if value is None or value == REDACTED or _NUMBER.fullmatch(value):
        return _bare(value)
    return shown(value)


def _bare(value: str | None) -> str:
    return "NULL" if value is None else shown(value)[1:-1]


def _printable(path: str) -> str:
    return path if path.isprintable() else repr(path)
