"""A suite as it is written: one file, or a folder of files, and where each task stands."""

from __future__ import annotations

import base64
import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import GenericAlias
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from arena_core.errors import TaskError
from arena_core.names import offered
from arena_core.plugins import ExtensionPoint, Group, subclassing
from arena_core.regular_files import read_regular
from evaluators.fields import Slug
from evaluators.lint import Location
from sites.documents import SHOWN_FAULTS, Document, document_of, open_document, validated
from sites.faults import Mistake, mistakes
from tasks.cases import Case
from tasks.needs import Tier
from tasks.schema import Split, Suite
from tasks.sealed import ENDING, unsealed
from tasks.templates import PlaceholderError, RowsOfSite, Template

FOLDER: Final = "files"
_MOST_BYTES: Final = 4_000_000
DEFAULT_SEEDS: Final = (0,)


HEAD = "suite.yaml"
# By the version that a folder was written with these were called otherwise.
_TASK_NAMES = {"parts": "expected_divergence"}
_MATCH_NAMES = {"parts": "substring"}


def with_files(task: object, beside: Path) -> object:
    """Return a task as it is written with its files in place of their names."""
    if not isinstance(task, Mapping):
        return task
    folder, whole = beside.parent / FOLDER, dict(task)
    if isinstance(task.get("files"), list):
        whole["files"] = [_read(name, folder) for name in task["files"]]
    whole["given"] = _with_files(task.get("given"), folder)
    contents = task.get("contents")
    if isinstance(contents, Mapping):
        contents = {name: _with_files(steps, folder) for name, steps in contents.items()}
    whole["contents"] = contents
    return {name: value for name, value in whole.items() if name in task}


def _with_files(given: object, folder: Path) -> object:
    if not isinstance(given, Mapping):
        return given
    return {
        site: [_with_file(step, folder) for step in steps] if isinstance(steps, list) else steps
        for site, steps in given.items()
    }


def _with_file(step: object, folder: Path) -> object:
    """Return a step of `given` with the file that it names in place of the name."""
    file = step.get("file") if isinstance(step, Mapping) else None
    if not isinstance(step, Mapping) or not isinstance(file, Mapping) or "from" not in file:
        return step
    return {**step, "file": {**file, "from": _read(file["from"], folder)}}


def _read(name: object, folder: Path) -> object:
    if not isinstance(name, str):
        return name
    if name != Path(name).name or name in {"", ".", ".."}:
        raise ValueError(f"'{name}' must be a file's name, without any folder")
    path = folder / name
    if not path.exists():
        raise ValueError(f"there is no file '{name}' in {folder}")
    try:
        content = read_regular(path, most=_MOST_BYTES)
    except OSError as cause:
        raise ValueError(f"the file '{name}' cannot be read: {cause.strerror}") from cause
    return {"name": name, "content": base64.b64encode(content).decode("ascii")}


class Importer(BaseModel, ABC):
    """One entry under the importer's key, and the tasks that it stands for.

    A subclass is registered in the group `arena.importers` under the key: `wob = "…:MiniWobPages"`
    reads each entry of `wob: [{pages: …}]`. Its fields are what an entry may say.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    @abstractmethod
    def tasks(self, seeds: tuple[int, ...] | None = None) -> Iterator[Mapping[str, object]]:
        """Yield the tasks as they would be written out in the file.

        Args:
            seeds: what follows the suite's name (`miniwob@4711`), in place of those written.
        """


IMPORTERS: Final[ExtensionPoint[type[Importer]]] = ExtensionPoint(
    Group.IMPORTERS, "importer", subclassing(Importer)
)


_Steps = dict[str, list[object]]  # by site


class _Part(BaseModel):
    """A file inside a suite's folder.

    Attributes:
        split: of all its tasks that name none themselves; what the file of the suite says holds for
            the other files of its folder too.
        tier: as `split`.
        given: done before what a task's own `given` says, on the sites that the task visits; what
            the file of the suite says comes first.
        contents: as `given`, by the name of an arm's content.
        labels: what controls are called, by the name of an arm's table; what a task says of a label
            comes before what its suite says.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    tasks: tuple[object, ...] = ()
    templates: tuple[Template, ...] = ()
    cases: tuple[Case, ...] = ()
    split: Split | None = None
    tier: Tier | None = None
    given: _Steps = Field(default_factory=dict)
    contents: dict[str, _Steps] = Field(default_factory=dict)
    labels: dict[str, dict[str, str]] = Field(default_factory=dict)


class _Head(_Part):
    """A suite of one file, or the file that names the suite of its folder."""

    suite: Slug
    version: int = Field(ge=1)
    title: str


Content = TypeVar("Content", bound=_Part)
Prepare = Callable[[object], object]


@dataclass(frozen=True, slots=True)
class DrawnFrom:
    """What a replica said of the instances that a seed draws.

    Attributes:
        passed_over: by the id of an instance, how many of the values drawn for it are left out.
        rows: by the id of a template, what its `rows` found.
    """

    passed_over: Mapping[str, int] = field(default_factory=dict)
    rows: Mapping[str, Sequence[str]] = field(default_factory=dict)


NOT_ASKED: Final = DrawnFrom()


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a task is written: the file, and the field's path in it.

    Attributes:
        instance: the id of the template's instance that it is; None for a task written out.
    """

    document: Document
    at: Location
    instance: str | None = None


@dataclass(frozen=True, slots=True)
class SuiteSource:
    """A suite, and the origin of each of its tasks in their order.

    Attributes:
        origins: empty for a suite that no file holds.
    """

    suite: Suite
    origins: tuple[Origin, ...] = ()

    @property
    def importers(self) -> tuple[str, ...]:
        """The keys of the importers that made tasks of it."""
        keys = dict.fromkeys(str(origin.at[0]) for origin in self.origins)
        return tuple(key for key in keys if key not in _Part.model_fields)

    def where(self, task: int, location: Location) -> str:
        """Return file and line of a field of a task; the field's path where no file is known."""
        if not self.origins:
            return ".".join(str(part) for part in ("tasks", task, *location))
        origin = self.origins[task]
        return f"{origin.document.path}:{origin.document.line((*origin.at, *location))}"


def read_source(
    path: Path,
    seeds: tuple[int, ...] | None = None,
    prepare: Prepare | None = None,
    drawn: DrawnFrom = NOT_ASKED,
) -> SuiteSource:
    """Read a suite from a file, from a folder, or from one file inside a suite's folder.

    Args:
        seeds: of what is drawn or generated, in place of those written.
        prepare: changes each task as it is written; what is `{computed}` is left to it.
    """
    head, parts = _files(path)
    written = [
        (origin, _set_up(_with_defaults(task, content, head), shared))
        for part, content in parts
        for shared in [[head] if content is head else [head, content]]
        for origin, task in _written(part, content, seeds, drawn, computes=prepare is not None)
    ]
    if not written:
        raise TaskError(f"{path}: holds no task")
    if seeds is not None and not any(_is_seeded(*part) for part in parts):
        message = f"{path}: no seed changes its tasks: no template has `draw` or `instances`"
        raise TaskError(f"{message}, and no case `manners`")
    if prepare is not None:
        written = [(origin, prepare(task)) for origin, task in written]
    return _assembled(head, written)


def rows_of_templates(path: Path) -> dict[str, RowsOfSite]:
    """Return, by the id of a template, the rows that it draws from; a path as in `read_source`."""
    _, parts = _files(path)
    return {
        one.id: one.rows
        for _, content in parts
        for one in content.templates
        if one.rows is not None
    }


def _files(path: Path) -> tuple[_Head, list[tuple[Document, _Part]]]:
    """Return what names a suite, and all its files with what they hold."""
    document = _opened(path / HEAD if path.is_dir() else path)
    parts = [document]
    beside = path.parent / HEAD
    if path.is_dir():
        files = sorted(one for one in path.glob("*.yaml") if one.name != HEAD)
        parts += [open_document(one, TaskError) for one in files]
    elif "suite" not in document.content and path.name != HEAD and beside.is_file():
        document = open_document(beside, TaskError)
    head = _content(document, _Head)
    return head, [(one, head if one is document else _content(one, _Part)) for one in parts]


def _opened(path: Path) -> Document:
    if path.suffix == ENDING:
        return document_of(unsealed(path), path, TaskError)
    return open_document(path, TaskError)


def _content(document: Document, model: type[Content]) -> Content:
    """Return what a file holds; the key of an importer holds a list of its entries."""
    fields: dict[str, Any] = {
        key: (GenericAlias(tuple, (IMPORTERS.load(key), ...)), ())
        for key in _importer_keys(document)
    }
    if not fields:
        return validated(document, model, TaskError)
    return validated(document, create_model(model.__name__, __base__=model, **fields), TaskError)


def _importer_keys(document: Document) -> tuple[str, ...]:
    """Return the keys of a file that are importers'; only these are imported."""
    others = [key for key in document.content if key not in _Head.model_fields]
    return tuple(key for key in others if key in IMPORTERS.names()) if others else ()


def _is_seeded(part: Document, content: _Part) -> bool:
    is_drawn = [one.is_drawn for one in content.templates]
    is_drawn += [one.is_drawn for one in content.cases]
    return bool(_importer_keys(part)) or any(is_drawn)


def _imported(
    part: Document, key: str, number: int, entry: Importer, seeds: tuple[int, ...] | None
) -> Iterator[Mapping[str, object]]:
    try:
        yield from entry.tasks(seeds)
    except (ValueError, OSError) as cause:
        line = part.line((key, number))
        message = f"{part.path}:{line}: {key}.{number}: {' '.join(str(cause).split())}"
        raise TaskError(message) from cause


def _written(
    part: Document,
    content: _Part,
    seeds: tuple[int, ...] | None,
    drawn: DrawnFrom,
    *,
    computes: bool,
) -> Iterator[tuple[Origin, object]]:
    """Yield every task of a file as it is written, instances of templates and pages filled in."""
    for number, task in enumerate(content.tasks):
        yield Origin(part, ("tasks", number)), task
    for number, template in enumerate(content.templates):
        at = ("templates", number)
        _require_twin(part, content, number)
        try:
            asked = template.with_rows(drawn.rows.get(template.id))
            instances = asked.written(seeds or DEFAULT_SEEDS, drawn.passed_over, computes=computes)
            for instance in instances:
                yield Origin(part, (*at, "task"), str(instance["id"])), instance
        except PlaceholderError as cause:
            message = f"{part.path}:{part.line(at)}: templates.{number}: {cause}"
            raise TaskError(message) from cause
    yield from _arms(part, content, seeds)
    for key in _importer_keys(part):
        for number, entry in enumerate(getattr(content, key)):
            for task in _imported(part, key, number, entry, seeds):
                yield Origin(part, (key, number), str(task.get("id"))), task


def _require_twin(part: Document, content: _Part, number: int) -> None:
    """Refuse a twin of no other template here: its instances would count as those of none."""
    template = content.templates[number]
    others = {one.id for one in content.templates} - {template.id}
    if template.twin_of is not None and template.twin_of not in others:
        line = part.line(("templates", number, "twin_of"))
        said = offered(template.twin_of, sorted(others), intro="others of this file")
        message = f"no other template of this file is called '{template.twin_of}'"
        raise TaskError(f"{part.path}:{line}: templates.{number}.twin_of: {message}", hint=said)


def _arms(
    part: Document, content: _Part, seeds: tuple[int, ...] | None
) -> Iterator[tuple[Origin, object]]:
    """Yield the arms of a file's cases."""
    for number, case in enumerate(content.cases):
        at = ("cases", number)
        try:
            for arm in case.written(seeds):
                yield Origin(part, (*at, "task"), str(arm["id"])), arm
        except PlaceholderError as cause:
            message = f"{part.path}:{part.line(at)}: cases.{number}: {cause}"
            raise TaskError(message) from cause


def _with_defaults(task: object, part: _Part, head: _Part) -> object:
    """Return a task with the split and the tier of its file, where it names none itself."""
    if not isinstance(task, Mapping):
        return task
    said = {"split": part.split or head.split, "tier": part.tier or head.tier}
    return {**{name: one for name, one in said.items() if one is not None}, **task}


def _set_up(task: object, shared: Sequence[_Part]) -> object:
    """Return a task with what its suite does first on the sites that it visits."""
    if not isinstance(task, Mapping) or not isinstance(task.get("sites"), list):
        return task  # its own mistakes are reported
    given = _done_first(task.get("given", {}), [one.given for one in shared], task["sites"])
    contents = task.get("contents", {})
    if isinstance(contents, Mapping):
        names = dict.fromkeys([*contents, *(name for one in shared for name in one.contents)])
        for name in names:
            of_all = [one.contents.get(name, {}) for one in shared]
            steps = _done_first(contents.get(name, {}), of_all, task["sites"])
            contents = {**contents, **({name: steps} if steps else {})}
    labels = _with_labels(task.get("labels", {}), shared)
    whole = {"given": given, "contents": contents, "labels": labels}
    return {**task, **{name: steps for name, steps in whole.items() if steps}}


def _with_labels(own: object, shared: Sequence[_Part]) -> object:
    """Return the tables of a task, with what its suite says of labels that it says nothing of."""
    if not isinstance(own, Mapping):
        return own
    merged: dict[str, object] = dict(own)
    for name in dict.fromkeys(name for one in shared for name in one.labels):
        table = {old: new for one in shared for old, new in one.labels.get(name, {}).items()}
        said = own.get(name, {})
        merged[name] = {**table, **said} if isinstance(said, Mapping) else said
    return merged


def _done_first(own: object, shared: Sequence[_Steps], sites: Sequence[object]) -> object:
    """Return the steps of a task, by site, with those of its suite before them."""
    if not isinstance(own, Mapping):
        return own
    named = [site for site in sites if isinstance(site, str)]  # what is no name is reported
    before = {site: [step for one in shared for step in one.get(site, ())] for site in named}
    added = {
        site: [*steps, *own.get(site, [])]
        for site, steps in before.items()
        if steps and isinstance(own.get(site, []), list)
    }
    return {**own, **added}


def _assembled(head: _Head, written: list[tuple[Origin, object]]) -> SuiteSource:
    origins = tuple(origin for origin, _ in written)
    _refuse_twins(written)
    document = {
        "suite": head.suite,
        "version": head.version,
        "title": head.title,
        "tasks": [_whole(origin, task) for origin, task in written],
    }
    try:
        return SuiteSource(Suite.model_validate(document), origins)
    except ValidationError as cause:
        said = dict.fromkeys(_said(one, origins) for one in mistakes(cause, document))
        raise TaskError("; ".join([*said][:SHOWN_FAULTS])) from cause


def _whole(origin: Origin, task: object) -> object:
    try:
        return with_files(task, origin.document.path)
    except (ValueError, OSError) as cause:
        line = origin.document.line((*origin.at, "files"))
        raise TaskError(f"{origin.document.path}:{line}: files: {cause}") from cause


def _said(mistake: Mistake, origins: tuple[Origin, ...]) -> str:
    """Say of a mistake where it is written, and in which instance of a template it shows."""
    _, number, *field = mistake.at
    origin = origins[int(number)]
    said = origin.document.describe(mistake, (*origin.at, *field))
    return f"{said} in '{origin.instance}'" if origin.instance else said


def _refuse_twins(written: list[tuple[Origin, object]]) -> None:
    """Refuse two tasks of one id, naming the places of both."""
    seen: dict[object, Origin] = {}
    for origin, task in written:
        name = task.get("id") if isinstance(task, dict) else None
        if not isinstance(name, str):
            continue
        if name in seen:
            first, path = seen[name], origin.document.path
            there = f"{first.document.path}:{first.document.line(first.at)}"
            here = f"{path}:{origin.document.line(origin.at)}"
            raise TaskError(f"{here}: two tasks are called '{name}': the other is at {there}")
        seen[name] = origin


def in_todays_names(suite: dict[str, Any]) -> dict[str, Any]:
    """Return a stored suite with its fields called as they are now."""
    document = copy.deepcopy(suite)
    for task in _mappings(document, "tasks"):
        _rename(task, _TASK_NAMES)
        for check in (*_mappings(task, "checks"), *_mappings(task, "requires")):
            match = check.get("match")
            if isinstance(match, dict) and match.get("how") == "include":
                _rename(match, _MATCH_NAMES)
    return document


def _mappings(holder: object, name: str) -> list[dict[str, Any]]:
    listed = holder.get(name) if isinstance(holder, dict) else None
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _rename(mapping: dict[str, Any], names: dict[str, str]) -> None:
    for old, new in names.items():
        if old in mapping and new not in mapping:
            mapping[new] = mapping.pop(old)
