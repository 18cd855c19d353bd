"""The files of a published task set: read within bounds, unchanged, each entry with its place."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from arena_core.errors import TaskError
from sites.documents import SHOWN_FAULTS
from sites.faults import kind_of, mistakes

LARGEST_FILE: Final = 64 * 1024 * 1024
_DEEPEST: Final = 60
_LINES: Final = ".jsonl"

Model = TypeVar("Model", bound=BaseModel)
Record = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Entry:
    """One object of a published file.

    Attributes:
        record: the object, unchanged.
        path, file_sha256: of the file that it stands in.
        at: its place there: `[12]`, `line 3`; empty where the whole file is the object.
    """

    record: dict[str, JsonValue]
    path: Path
    file_sha256: str
    at: str

    @property
    def place(self) -> str:
        """File and place, as messages name them."""
        return f"{self.path}: {self.at}" if self.at else str(self.path)

    def fault(self, message: str, *, field: str) -> TaskError:
        """Return the error of one field of the entry, as one line."""
        return TaskError(f"{self.place}{'.' if self.at else ': '}{field}: {message}")

    def read_as(self, model: type[Model]) -> Model:
        """Return the entry as a model.

        Raises:
            TaskError: one line with file, place, field and what is allowed.
        """
        try:
            return model.model_validate(self.record)
        except ValidationError as cause:
            told = [
                str(self.fault(one.message, field=".".join(map(str, one.at)) or "entry"))
                for one in mistakes(cause, self.record)[:SHOWN_FAULTS]
            ]
            raise TaskError("; ".join(told)) from cause


def read_entries(path: Path) -> tuple[Entry, ...]:
    """Read the objects of one published file: a JSON list, one JSON object, or JSON Lines.

    Raises:
        TaskError: it cannot be read, is too large, no JSON, or holds something else; one line.
    """
    data = _bytes_of(path)
    digest = sha256(data).hexdigest()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as cause:
        message = f"{path}: is not UTF-8 text (byte {cause.start})"
        raise TaskError(message) from cause
    found = tuple(_objects(path, text))
    if not found:
        message = f"{path}: holds no task"
        raise TaskError(message)
    return tuple(Entry(record, path, digest, at) for at, record in found)


def _bytes_of(path: Path) -> bytes:
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            message = f"{path}: is no file"
            raise TaskError(message, hint="name the published JSON file itself")
        if about.st_size > LARGEST_FILE:
            message = f"{path}: has {about.st_size / 1e6:,.0f} MB; a published task set has at"
            message += f" most {LARGEST_FILE / 1e6:,.0f} MB"
            raise TaskError(message)
        return path.read_bytes()
    except OSError as cause:
        message = f"{path}: cannot be read: {cause.strerror}"
        raise TaskError(message) from cause


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
    message = f"{where}: {wanted}, is {kind_of(found)}"
    raise TaskError(message)


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
        message = f"{path}{at_line}: not valid JSON: {' '.join(reason.split())}"
        raise TaskError(message) from cause
    return found


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        message = f"the name {twice!r} stands twice in one object"
        raise ValueError(message)
    return found


def _refused(constant: str) -> object:
    message = f"{constant} is no number that JSON knows"
    raise ValueError(message)


def _refuse_unwritable(found: object) -> None:
    """Refuse what no suite could hold unchanged: halves of characters, numbers without end.

    Raises:
        ValueError: saying what is there.
    """
    waiting: list[tuple[object, int]] = [(found, 0)]
    while waiting:
        one, depth = waiting.pop()
        if depth > _DEEPEST:
            message = f"nested more than {_DEEPEST} deep"
            raise ValueError(message)
        if isinstance(one, str):
            if not one.isascii():
                one.encode()  # UnicodeEncodeError is a ValueError: half of a character
        elif isinstance(one, float) and one in {float("inf"), float("-inf")}:
            message = "holds a number that is too large"
            raise ValueError(message)
        elif isinstance(one, dict):
            waiting.extend((part, depth + 1) for pair in one.items() for part in pair)
        elif isinstance(one, list):
            waiting.extend((part, depth + 1) for part in one)
