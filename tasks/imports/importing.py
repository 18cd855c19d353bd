"""A published task set becomes a suite: each task with its original, in the order of the files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from arena_core.errors import TaskError, UsageError
from sites.faults import mistakes
from tasks.imports.formats import FORMATS, TaskFormat, Translation
from tasks.imports.published import Entry, read_entries
from tasks.imports.site_map import Installed, read_site_map
from tasks.schema import Task

_VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSuite:
    """A published task set as a suite.

    Attributes:
        format_name: of the published set.
        document: the suite as a file would have it.
        tasks: the same, validated.
        new_sites: live origin of each site that tasks name and that is not installed here.
        sources: path and SHA-256 of each published file.
    """

    format_name: str
    name: str
    document: Mapping[str, object]
    tasks: tuple[Task, ...]
    new_sites: Mapping[str, str]
    sources: tuple[tuple[Path, str], ...]

    @property
    def untranslated(self) -> tuple[tuple[str, str], ...]:
        """Task and reason of everything that Arena's own checks do not say."""
        return tuple(
            (task.id, line)
            for task in self.tasks
            if task.original is not None
            for line in task.original.untranslated
        )


def import_suite(
    format_name: str,
    files: Sequence[Path],
    map_file: Path | None = None,
    *,
    installed: Installed | None = None,
    name: str | None = None,
) -> ImportedSuite:
    """Read the files of a published task set and translate each task.

    Args:
        format_name: of an installed format: `webarena`.
        files: of the set, in order.
        map_file: which sites here stand for those of the set; the format's own choice if None.
        installed: the sites that are known here.
        name: of the suite; the format's where omitted.

    Raises:
        UnknownNameError: no such format; names what there is.
        UsageError: no file is named.
        TaskError: a file or the map is wrong: one line with file, place and field.
    """
    found = FORMATS.load(format_name)
    if not files:
        message = f"{format_name}: names no file to import"
        raise UsageError(message)
    sites = read_site_map(map_file, installed or Installed())
    entries = [entry for path in files for entry in read_entries(path)]
    documents: list[dict[str, object]] = []
    tasks: list[Task] = []
    new_sites: dict[str, str] = {}
    for translation in _unique(found.translate(entries, sites)):
        document = _document(found, translation)
        documents.append(document)
        new_sites.update(translation.new_sites)
        tasks.append(_validated(translation.entry, document))
    if not tasks:
        message = f"{', '.join(map(str, files))}: no task of the format '{format_name}'"
        raise TaskError(message)
    suite = name or format_name
    return ImportedSuite(
        format_name=found.name,
        name=suite,
        document={"suite": suite, "version": _VERSION, "title": found.title, "tasks": documents},
        tasks=tuple(tasks),
        new_sites=new_sites,
        sources=tuple(dict.fromkeys((entry.path, entry.file_sha256) for entry in entries)),
    )


def _unique(translations: Iterator[Translation]) -> Iterator[Translation]:
    seen: dict[object, Entry] = {}
    for one in translations:
        key = one.task["id"]
        if key in seen:
            message = f"{one.entry.place}: two tasks have the id '{one.published_id}':"
            message += f" the other is at {seen[key].place}"
            raise TaskError(message)
        seen[key] = one.entry
        yield one


def _document(found: TaskFormat, one: Translation) -> dict[str, object]:
    original: dict[str, object] = {
        "format": found.name,
        "id": one.published_id,
        "file_sha256": one.entry.file_sha256,
    }
    if one.revision is not None:
        original["revision"] = one.revision
    if one.template is not None:
        original["template"] = one.template
    if one.bases:
        original["bases"] = dict(one.bases)
    if one.untranslated:
        original["untranslated"] = list(one.untranslated)
    original["record"] = one.entry.record if one.record is None else one.record
    return {**one.task, "original": original}


def _validated(entry: Entry, document: Mapping[str, object]) -> Task:
    try:
        return Task.model_validate(document)
    except ValidationError as cause:
        told = "; ".join(str(one) for one in mistakes(cause, document)[:1])
        message = f"{entry.place}: cannot be a task: {told}"
        raise TaskError(message) from cause
