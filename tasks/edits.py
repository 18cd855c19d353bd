"""Changes of single values in suites' files, everything else left as it is written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from arena_core.errors import TaskError
from evaluators.lint import Location
from sites.documents import Document, open_document
from tasks.sources import HEAD, Origin, SuiteSource

# A value of its own in each world is written as a mapping.
Value = str | int | Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueChange:
    """One value that a task is to have in place of another.

    Attributes:
        at: where in the task: `("reference", 0, "name")`.
    """

    at: Location
    old: str
    new: Value

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.at))}: {self.old!r} → {_written(self.new)}"


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A suite's file as it is and as it is to be."""

    path: Path
    old: str
    new: str


def is_written_out(source: SuiteSource, number: int) -> bool:
    """Whether a task stands in a file as it is, and is no instance of a template or importer."""
    return bool(source.origins) and source.origins[number].at[0] == "tasks"


def edits_of(
    source: SuiteSource, changes: Mapping[int, Sequence[ValueChange]]
) -> tuple[FileEdit, ...]:
    """Return the files with changes of tasks, by their number in the suite.

    The revision of each changed task goes up by one, and so does the suite's version.

    Raises:
        TaskError: something to be changed does not stand where it should.
    """
    wanted: dict[Path, list[_Splice]] = {}
    documents: dict[Path, Document] = {}
    for number, its in changes.items():
        origin = source.origins[number]
        documents[origin.document.path] = origin.document
        splices = wanted.setdefault(origin.document.path, [])
        splices += [_splice(origin, change) for change in its]
        splices.append(_revised(origin, source.suite.tasks[number].revision + 1))
    head = _head(source, documents)
    version = _Splice.of(_node(head, ("version",)), str(source.suite.version + 1))
    wanted.setdefault(head.path, []).append(version)
    return tuple(_edited(path, splices) for path, splices in wanted.items())


def _head(source: SuiteSource, documents: dict[Path, Document]) -> Document:
    """Return the file that names the suite and its version."""
    for document in documents.values():
        if "suite" in document.content:
            return document
    beside = source.origins[0].document.path.parent / HEAD
    return open_document(beside, TaskError)


@dataclass(frozen=True, slots=True)
class _Splice:
    """Text in place of what stands between two places, each a line and a column from 0."""

    start: tuple[int, int]
    end: tuple[int, int]
    text: str

    @classmethod
    def of(cls, node: yaml.Node, text: str) -> _Splice:
        first, last = node.start_mark, node.end_mark
        return cls((first.line, first.column), (last.line, last.column), text)


def _splice(origin: Origin, change: ValueChange) -> _Splice:
    node = _node(origin.document, (*origin.at, *change.at))
    if not isinstance(node, yaml.ScalarNode) or " ".join(node.value.split()) != " ".join(
        change.old.split()
    ):
        line = node.start_mark.line + 1
        message = f"{origin.document.path}:{line}: does not say {change.old!r}, as was expected"
        raise TaskError(message, hint="change it by hand")
    return _Splice.of(node, _written(change.new))


def _revised(origin: Origin, revision: int) -> _Splice:
    """Return what gives a task its revision, after its id where it has none yet."""
    task = _node(origin.document, origin.at)
    if not isinstance(task, yaml.MappingNode):
        raise TaskError(f"{origin.document.path}: a task is no mapping")
    for key, value in task.value:
        if key.value == "revision":
            return _Splice.of(value, str(revision))
    key, value = next(pair for pair in task.value if pair[0].value == "id")
    end = (value.end_mark.line, value.end_mark.column)
    between = ", " if task.flow_style else "\n" + " " * key.start_mark.column
    colon = '"revision": ' if key.style == '"' else "revision: "
    return _Splice(end, end, f"{between}{colon}{revision}")


def _edited(path: Path, splices: Iterable[_Splice]) -> FileEdit:
    old = path.read_bytes().decode()  # its line ends stay as they are
    starts = [0]
    for line in old.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    new = old
    for one in sorted(splices, key=lambda splice: splice.start, reverse=True):
        first, last = (starts[line] + column for line, column in (one.start, one.end))
        new = new[:first] + one.text + new[last:]
    return FileEdit(path, old, new)


def _node(document: Document, location: Location) -> yaml.Node:
    node: yaml.Node = document.root
    for part in location:
        found: yaml.Node | None = None
        if isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            found = node.value[part] if part < len(node.value) else None
        elif isinstance(node, yaml.MappingNode):
            found = next((value for key, value in node.value if key.value == part), None)
        if found is None:
            where = ".".join(map(str, location))
            raise TaskError(f"{document.path}: {where}: stands nowhere in the file")
        node = found
    return node


def _written(value: Value) -> str:
    """Return a value as YAML, texts in quotes: nothing in them is taken for anything else."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_written(one)}" for key, one in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)
