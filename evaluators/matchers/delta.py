"""`how: delta`: an episode changed exactly what it should have: no less, and no more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import ClassVar, Final, Literal, Self, assert_never

from pydantic import Field, model_validator

from arena_core.worlds import World
from evaluators.changes import (
    Cells,
    Change,
    ChangeKind,
    FileChange,
    MoreChanges,
    OtherChange,
    RowChange,
    TableChange,
    is_secret,
    read_change,
    row_name,
    said,
)
from evaluators.fields import Expected
from evaluators.matchers.base import Form, Matched, Matcher
from evaluators.values.pairing import pair_up
from evaluators.values.text import is_equal, shown
from sites.fields import Strict

# What a `db_delta` locator yields: changes as `evaluators.changes.change_as_text` writes them.
CHANGES: Final = "changes"

_SAID = 3

ExpectedCell = Expected | None


class ExpectedChange(Strict):
    """One change that must have happened.

    Attributes:
        table: of the row; or else `file`: path of an entry of a stateful folder, `*` for any
            letters, slashes too.
        kind: what happened to it.
        columns: the columns that matter: of an added or changed row after, of a removed row before.
            Compared as `exact` compares; null is SQL NULL.
        before: of a changed row, columns before.
        also: of a changed row, columns (`*` for any letters) that may have changed along; any other
            that is named nowhere must be as it was.
        count: how many such changes there must be, each of its own.
    """

    table: str | None = None
    file: str | None = None
    kind: ChangeKind
    columns: dict[str, ExpectedCell] = Field(default_factory=dict)
    before: dict[str, ExpectedCell] = Field(default_factory=dict)
    also: tuple[str, ...] = ()
    count: int = Field(default=1, ge=1, le=1000)

    @model_validator(mode="after")
    def _names_one_thing(self) -> Self:
        if (self.table is None) == (self.file is None):
            raise ValueError("a change names either a `table` or a `file`")
        if self.file is not None and (self.columns or self.before or self.also):
            raise ValueError("a file has no columns: say only `file`, `kind` and `count`")
        return self

    @model_validator(mode="after")
    def _columns_fit_kind(self) -> Self:
        if self.kind is not ChangeKind.CHANGED and (self.before or self.also):
            raise ValueError(f"`before` and `also` are for `kind: changed`, not {self.kind}")
        is_row = self.table is not None and self.kind is ChangeKind.CHANGED
        if is_row and not (self.columns or self.before or self.also):
            message = (
                "a changed row names the columns that change: in `columns`, `before` or `also`"
            )
            raise ValueError(message)
        secret = next((name for name in (*self.columns, *self.before) if is_secret(name)), None)
        if secret is not None:
            message = f"column '{secret}' is named like a secret: its values are kept nowhere"
            raise ValueError(message)
        return self


class AllowedChanges(Strict):
    """What may change freely, any number of times.

    Attributes:
        tables, files: by name or path; `*` stands for any letters.
        changes: rows and files that an application writes by itself, written as those expected.
    """

    tables: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    changes: tuple[ExpectedChange, ...] = Field(default=(), exclude_if=lambda value: not value)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedChanges:
    """What an episode changed, held against what it should have.

    A change stands with its text; it is None where the text is no change.

    Attributes:
        wanted: the changes that are expected ones.
        lacking: the expected changes that are without one, each with how many of it lack.
        unexpected: the changes that are neither expected nor allowed.
        left: all changes that are no expected ones.
    """

    wanted: tuple[tuple[str, Change | None], ...]
    lacking: tuple[tuple[ExpectedChange, str], ...]
    unexpected: tuple[tuple[str, Change | None], ...]
    left: tuple[Change | None, ...]


class DeltaMatcher(Matcher):
    """Met where exactly these changes were made, apart from what may change freely.

    Each expected change needs a change of its own; the empty list asks that nothing changed.

    Attributes:
        literal: columns are compared letter by letter, not as `exact` compares: case, white space
            and trade mark signs count.
    """

    compares: ClassVar[str] = CHANGES
    is_computable: ClassVar[bool] = False

    how: Literal["delta"] = "delta"
    changes: tuple[ExpectedChange, ...]
    allow: AllowedChanges = AllowedChanges()
    literal: bool = Field(default=False, exclude_if=lambda value: not value)

    def match(self, values: Sequence[str], world: World, form: Form = str) -> Matched:  # noqa: ARG002 - changes are the same in each world, and have one form
        """Compare changes, as `change_as_text` writes them, with those that are expected.

        Met where every expected change is paired with a change of its own, and every change that is
        left is allowed. A text that is no change is unexpected.
        """
        compared = self.compared(values)
        missing = [
            f"{lacking}{_near(one, compared.left, literal=self.literal)}"
            for one, lacking in compared.lacking
        ]
        unexpected = [_said(*one) for one in compared.unexpected]
        expected = _expected_said(self)
        if not missing and not unexpected:
            done = [_said(*one) for one in compared.wanted]
            reason = f"changed as wanted: {_listed(done)}" if done else "nothing changed, as wanted"
            return Matched(met=True, reason=reason, expected=expected)
        faults = [f"missing: {_listed(missing)}"] if missing else []
        faults += [f"not expected: {_listed(unexpected)}"] if unexpected else []
        return Matched(met=False, reason="; ".join(faults), expected=expected)

    def compared(self, values: Sequence[str]) -> ComparedChanges:
        """Hold changes, as `change_as_text` writes them, against those expected and allowed."""
        found = [(value, read_change(value)) for value in values]
        changes = [change for _, change in found]
        wanted = [one for one in self.changes for _ in range(one.count)]
        fits = [
            [n for n, change in enumerate(changes) if _fits(one, change, literal=self.literal)]
            for one in wanted
        ]
        bound = [
            n
            for n, change in enumerate(changes)
            if not _is_allowed(self.allow, change, literal=self.literal)
        ]
        paired = pair_up(fits, first=bound)
        return ComparedChanges(
            wanted=tuple(found[n] for n in sorted(paired)),
            lacking=tuple(_without(self.changes, wanted, set(paired.values()))),
            unexpected=tuple(found[n] for n in bound if n not in paired),
            left=tuple(change for n, change in enumerate(changes) if n not in paired),
        )

    @property
    def asks_for_nothing(self) -> bool:
        return not self.changes


def _fits(wanted: ExpectedChange, change: Change | None, *, literal: bool) -> bool:
    match change:
        case RowChange():
            return _is_kin(wanted, change) and not any(_misfits(wanted, change, literal=literal))
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


def _misfits(wanted: ExpectedChange, change: RowChange, *, literal: bool) -> Iterator[str]:
    """Yield why a row of the right table and kind is not the one: columns that matter come first.

    Of a changed row no column may have changed that is named nowhere.
    """
    match wanted.kind:
        case ChangeKind.ADDED:
            yield from _other_cells(wanted.columns, change.after or {}, literal=literal)
        case ChangeKind.REMOVED:
            yield from _other_cells(wanted.columns, change.before or {}, literal=literal)
        case ChangeKind.CHANGED:
            yield from _other_cells(wanted.columns, change.after or {}, literal=literal)
            yield from _other_cells(wanted.before, change.before or {}, " before", literal=literal)
            for column in change.changed:
                named = column in wanted.columns or column in wanted.before
                if not named and not _is_like(column, wanted.also):
                    yield f"{column} changed too"
        case _:
            assert_never(wanted.kind)


def _other_cells(
    wanted: Mapping[str, ExpectedCell], row: Cells, when: str = "", *, literal: bool
) -> Iterator[str]:
    for column, cell in wanted.items():
        if column not in row:
            yield f"there is no column '{column}'"
        elif not _cell_is(row[column], cell, literal=literal):
            yield f"{column}{when} is {_cell_said(row[column])}"


def _cell_is(value: str | None, wanted: ExpectedCell, *, literal: bool) -> bool:
    if value is None or wanted is None:
        return value is wanted
    if literal and isinstance(wanted, str):
        return value == wanted
    return is_equal(value, wanted)


def _near(wanted: ExpectedChange, left: Iterable[Change | None], *, literal: bool) -> str:
    """Say which row that is left comes nearest, and what is other about it."""
    rows = [one for one in left if isinstance(one, RowChange) and _is_kin(wanted, one)]
    if not rows:
        return ""
    misfits, row = min(
        ((tuple(_misfits(wanted, row, literal=literal)), row) for row in rows),
        key=lambda pair: len(pair[0]),
    )
    return f", nearest {row_name(row)}: {', '.join(misfits[:_SAID])}" if misfits else ""


def _is_kin(wanted: ExpectedChange, change: RowChange) -> bool:
    return wanted.table == change.table and wanted.kind is change.kind


def _is_allowed(allow: AllowedChanges, change: Change | None, *, literal: bool) -> bool:
    if any(_fits(one, change, literal=literal) for one in allow.changes):
        return True
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


def _expected_said(asked: DeltaMatcher) -> str:
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
