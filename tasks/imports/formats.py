"""A format of published task sets: a extension point, filled by entry point."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Final, Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel, JsonValue, ValidationError

from arena_core.errors import TaskError
from arena_core.plugins import ExtensionPoint, Group, filling
from sites.documents import SHOWN_FAULTS
from sites.faults import kind_of, mistakes
from tasks.imports.site_map import SiteMap

LARGEST_FILE: Final = 64 * 1024 * 1024
_DEEPEST: Final = 60
_LINES: Final = ".jsonl"

Model = TypeVar("Model", bound=BaseModel)
Record = Mapping[str, JsonValue]


UNTRANSLATED: Final = "untranslated"


@dataclass(frozen=True, slots=True)
class Entry:
    """One object of a published file.

    Attributes:
        record: the object, unchanged but for its errata.
        path, file_sha256: of the file that it stands in.
        at: its place there: `[12]`, `line 3`; empty where the whole file is the object.
        published: the object as the file has it, where errata changed it.
        errata: what they changed, one line each.
    """

    record: dict[str, JsonValue]
    path: Path
    file_sha256: str
    at: str
    published: dict[str, JsonValue] | None = None
    errata: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """File and place, as messages name them."""
        return f"{self.path}: {self.at}" if self.at else str(self.path)

    def fault(self, message: str, *, field: str) -> TaskError:
        """Return the error of one field of the entry, as one line."""
        return TaskError(f"{self.place}{'.' if self.at else ': '}{field}: {message}")

    def read_as(self, model: type[Model]) -> Model:
        try:
            return model.model_validate(self.record)
        except ValidationError as cause:
            said = [
                str(self.fault(one.message, field=".".join(map(str, one.at)) or "entry"))
                for one in mistakes(cause, self.record)[:SHOWN_FAULTS]
            ]
            raise TaskError("; ".join(said)) from cause


def read_entries(path: Path) -> tuple[Entry, ...]:
    """Read the objects of one published file: a JSON list, one JSON object, or JSON Lines."""
    data = _bytes_of(path)
    digest = sha256(data).hexdigest()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as cause:
        raise TaskError(f"{path}: is not UTF-8 text (byte {cause.start})") from cause
    found = tuple(_objects(path, text))
    if not found:
        raise TaskError(f"{path}: holds no task")
    return tuple(Entry(record, path, digest, at) for at, record in found)


def _bytes_of(path: Path) -> bytes:
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise TaskError(f"{path}: is no file", hint="name the published JSON file itself")
        if about.st_size > LARGEST_FILE:
            message = f"{path}: has {about.st_size / 1e6:,.0f} MB; a published task set has at"
            message += f" most {LARGEST_FILE / 1e6:,.0f} MB"
            raise TaskError(message)
        return path.read_bytes()
    except OSError as cause:
        raise TaskError(f"{path}: cannot be read: {cause.strerror}") from cause


def _objects(path: Path, text: str) -> Iterator[tuple[str, dict[str, JsonValue]]]:
    if path.suffix == _LINES:
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip():
                at = f"line {number}"
                yield at, _object(path, at, _parsed(path, line, number))
        return
    content = _parsed(path, text)
    if isinstance(content, list):
        for number, one in enumerate(content):
            at = f"[{number}]"
            yield at, _object(path, at, one)
    else:
        yield "", _object(path, "", content)


def _object(path: Path, at: str, found: object) -> dict[str, JsonValue]:
    if isinstance(found, dict):
        return found
    where = f"{path}: {at}" if at else str(path)
    wanted = "must be an object" if at else "must hold a list of objects, or one object"
    raise TaskError(f"{where}: {wanted}, is {kind_of(found)}")


def _parsed(path: Path, text: str, line: int | None = None) -> object:
    try:
        found = json.loads(text, object_pairs_hook=_once, parse_constant=_refused)
        _refuse_unwritable(found)
    except json.JSONDecodeError as cause:
        at = line or cause.lineno
        message = f"{path}:{at}: not valid JSON: {cause.msg} (column {cause.colno})"
        raise TaskError(message) from cause
    except (ValueError, RecursionError) as cause:
        at_line = f":{line}" if line else ""
        reason = "nested too deep" if isinstance(cause, RecursionError) else str(cause)
        raise TaskError(f"{path}{at_line}: not valid JSON: {' '.join(reason.split())}") from cause
    return found


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {twice!r} stands twice in one object")
    return found


def _refused(constant: str) -> object:
    raise ValueError(f"{constant} is no number that JSON knows")


def _refuse_unwritable(found: object) -> None:
    """Refuse what no suite could hold unchanged: halves of characters, numbers without end."""
    waiting: list[tuple[object, int]] = [(found, 0)]
    while waiting:
        one, depth = waiting.pop()
        if depth > _DEEPEST:
            raise ValueError(f"nested more than {_DEEPEST} deep")
        if isinstance(one, str):
            if not one.isascii():
                one.encode()  # UnicodeEncodeError is a ValueError: half of a character
        elif isinstance(one, float) and one in {float("inf"), float("-inf")}:
            raise ValueError("holds a number that is too large")
        elif isinstance(one, dict):
            waiting.extend((part, depth + 1) for pair in one.items() for part in pair)
        elif isinstance(one, list):
            waiting.extend((part, depth + 1) for part in one)


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """What one published task becomes.

    Attributes:
        entry: where it was read.
        published_id: the task's own id, as text.
        task: as a suite would have it written out; `original` is added to it.
        untranslated: what of the published task its checks do not say, and why, one line each. A
            task with such a line never counts as a success of Arena's own score.
        new_sites: live origin of each site that the task names and that is not installed here.
        bases, template, revision: as in `OriginalTask`.
        record: what scorers score by, where the task is made of several entries; the entry's own
            record where omitted.
    """

    entry: Entry
    published_id: str
    task: Mapping[str, object]
    untranslated: tuple[str, ...] = ()
    new_sites: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    bases: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    template: str | None = None
    revision: str | None = None
    record: Mapping[str, object] | None = None


@runtime_checkable
class TaskFormat(Protocol):
    """Reads one format of published task sets.

    Attributes:
        name: as `arena tasks import` takes it; `OriginalTask.format` of what it imports.
        title: of the suites that it makes.
    """

    name: str
    title: str

    def translate(self, entries: Sequence[Entry], sites: SiteMap) -> Iterator[Translation]:
        """Yield what the entries become, in their order.

        Args:
            entries: of all files, in their order.
            sites: which site here stands for a site or host of the published set.
        """


FORMATS: Final[ExtensionPoint[TaskFormat]] = ExtensionPoint(
    Group.FORMATS, "format of published task sets", filling(TaskFormat)
)


Written = dict[str, object]


@dataclass(frozen=True, slots=True)
class Untranslated:
    """What of a published task no check of Arena's says.

    Attributes:
        what: the field of the published task.
        why: the reason, without the field.
    """

    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.what}: {self.why}"


def end_check(name: str, locate: Written, match: Written, **more: object) -> Written:
    return {"name": name, "when": "end", "locate": locate, "match": match, **more}


def either(name: str, ways: Sequence[Written], **more: object) -> Written:
    """Return an end check that any of several ways meets, each with `locate` and `match`."""
    first, *others = ways
    check = {"name": name, "when": "end", **first, **more}
    return {**check, "any_of": others} if others else check


def written_out(parts: Iterable[Written | Untranslated]) -> Iterator[Written]:
    """Yield checks, with one that nobody can look at for each part that is not translated."""
    number = 0
    for part in parts:
        if isinstance(part, Untranslated):
            number += 1
            yield end_check(
                f"{UNTRANSLATED}-{number}",
                {"by": UNTRANSLATED, "what": part.what, "why": part.why},
                {"how": "exact", "value": "translated"},
            )
        else:
            yield part
