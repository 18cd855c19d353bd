"""A published task set becomes a suite: each task with its original, in the order of the files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml
from pydantic import TypeAdapter, ValidationError

from arena_core.errors import TaskError, UsageError
from evaluators.fields import Slug
from sites.faults import mistakes
from tasks.imports.errata import corrected, errata_of
from tasks.imports.formats import FORMATS, Entry, TaskFormat, Translation, read_entries
from tasks.imports.site_map import Installed, read_site_map
from tasks.schema import Task

_VERSION: Final = 1


_MARK: Final = "# Imported by `arena tasks import"
_FASTEST: Final[Any] = yaml.CSafeDumper if yaml.__with_libyaml__ else yaml.SafeDumper


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSuite:
    """A published task set as a suite.

    Attributes:
        format_name: of the published set.
        document: the suite as a file would have it.
        tasks: the same, validated.
        new_sites: live origin of each site that tasks name and that is not installed here.
        sources: path and SHA-256 of each published file.
        mapped: by site or host of the set, the site here that the map names for it.
    """

    format_name: str
    name: str
    document: Mapping[str, object]
    tasks: tuple[Task, ...]
    new_sites: Mapping[str, str]
    sources: tuple[tuple[Path, str], ...]
    mapped: Mapping[str, str]

    @property
    def corrected(self) -> tuple[tuple[str, str], ...]:
        """Task and correction of each gold that errata changed."""
        return tuple(
            (task.id, line)
            for task in self.tasks
            if task.original is not None
            for line in task.original.errata
        )

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
    errata: bool = False,
) -> ImportedSuite:
    """Read the files of a published task set and translate each task.

    Args:
        errata: translate the golds as they should be; the records of the tasks stay as published.
    """
    found = FORMATS.load(format_name)
    if not files:
        raise UsageError(f"{format_name}: names no file to import")
    sites = read_site_map(map_file, installed or Installed())
    entries = [entry for path in files for entry in read_entries(path)]
    if errata:
        errata_of(format_name)
        entries = [corrected(entry, format_name) for entry in entries]
    documents: list[dict[str, object]] = []
    tasks: list[Task] = []
    new_sites: dict[str, str] = {}
    for translation in _unique(found.translate(entries, sites)):
        document = _document(found, translation)
        documents.append(document)
        new_sites.update(translation.new_sites)
        tasks.append(_validated(translation.entry, document))
    if not tasks:
        raise TaskError(f"{', '.join(map(str, files))}: no task of the format '{format_name}'")
    suite = name or format_name
    return ImportedSuite(
        format_name=found.name,
        name=suite,
        document={"suite": suite, "version": _VERSION, "title": found.title, "tasks": documents},
        tasks=tuple(tasks),
        new_sites=new_sites,
        sources=tuple(dict.fromkeys((entry.path, entry.file_sha256) for entry in entries)),
        mapped={**{name: one.site for name, one in sites.sites.items()}, **sites.hosts},
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
    if one.entry.errata:
        original["errata"] = list(one.entry.errata)
    published = one.entry.record if one.entry.published is None else one.entry.published
    original["record"] = published if one.record is None else one.record
    return {**one.task, "original": original}


def _validated(entry: Entry, document: Mapping[str, object]) -> Task:
    try:
        return Task.model_validate(document)
    except ValidationError as cause:
        said = "; ".join(str(one) for one in mistakes(cause, document)[:1])
        raise TaskError(f"{entry.place}: cannot be a task: {said}") from cause


class _Dumper(_FASTEST):  # type: ignore[misc]  # which of the two is known when it runs
    """Writes out what stands twice: anchors help no reader."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - PyYAML's interface
        """Return that nothing is an alias."""
        return True


def suite_name(path: Path) -> str:
    """Return the name of the suite that a file holds: the file's own."""
    if path.suffix not in {".yaml", ".yml"}:
        raise UsageError(f"--out: {path} must end in .yaml: it becomes a suite")
    try:
        return TypeAdapter[str](Slug).validate_python(path.stem)
    except ValidationError as cause:
        message = f"--out: {path} names the suite '{path.stem}': {mistakes(cause, path.stem)[0]}"
        raise UsageError(message, hint="name it like webarena.yaml") from cause


def suite_text(imported: ImportedSuite) -> str:
    """Return a suite as YAML, its provenance in a comment above it."""
    made = f"{_MARK} {imported.format_name}`: edit the map or the published file, and import again."
    sources = [f"# {path.name}: SHA-256 {digest}" for path, digest in imported.sources]
    return "\n".join([made, *sources, suite_yaml(imported.document)])


def suite_yaml(document: object) -> str:
    """Return a suite's document as YAML, its fields in their order."""
    return str(yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100))


def write_suite(text: str, path: Path, mark: str = _MARK) -> None:
    """Write a suite's file whole; one that begins with the same mark is replaced."""
    with _place_for(path, mark) as place:
        place.write_text(text, encoding="utf-8")
        place.chmod(0o644)
        place.replace(path)


def require_writable(path: Path, mark: str) -> None:
    """Raise UsageError where `write_suite` could not write; nothing is written yet."""
    with _place_for(path, mark):
        pass


@contextmanager
def _place_for(path: Path, mark: str) -> Iterator[Path]:
    """Make a file beside another, to take its place; it is gone at the end where it did not."""
    try:
        if path.exists() and not _begins_with(mark, path):
            message = f"--out: {path} is there, and does not begin with '{mark}'"
            raise UsageError(message, hint="name another file, or move that one away")
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(handle)
        try:
            yield Path(name)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as cause:
        raise UsageError(f"--out: {path} cannot be written: {cause.strerror}") from cause


def _begins_with(mark: str, path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(mark)) == mark.encode()
