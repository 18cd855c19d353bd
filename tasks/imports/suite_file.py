"""An imported suite as a YAML file."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, Final

import yaml
from pydantic import TypeAdapter, ValidationError

from arena_core.errors import UsageError
from evaluators.fields import Slug
from sites.faults import mistakes
from tasks.imports.importing import ImportedSuite

_MARK: Final = "# Imported by `arena tasks import"
_FASTEST: Final[Any] = yaml.CSafeDumper if yaml.__with_libyaml__ else yaml.SafeDumper


class _Dumper(_FASTEST):  # type: ignore[misc]  # which of the two is known when it runs
    """Writes out what stands twice: anchors help no reader."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - PyYAML's interface
        """Return that nothing is an alias."""
        return True


def suite_name(path: Path) -> str:
    """Return the name of the suite that a file holds: the file's own.

    Raises:
        UsageError: it is no file of a suite, or its name is none of a suite.
    """
    if path.suffix not in {".yaml", ".yml"}:
        message = f"--out: {path} must end in .yaml: it becomes a suite"
        raise UsageError(message)
    try:
        return TypeAdapter[str](Slug).validate_python(path.stem)
    except ValidationError as cause:
        message = f"--out: {path} names the suite '{path.stem}': {mistakes(cause, path.stem)[0]}"
        raise UsageError(message, hint="name it like webarena.yaml") from cause


def suite_text(imported: ImportedSuite) -> str:
    """Return a suite as YAML, its provenance in a comment above it."""
    made = f"{_MARK} {imported.format_name}`: edit the map or the published file, and import again."
    sources = [f"# {path.name}: SHA-256 {digest}" for path, digest in imported.sources]
    body = yaml.dump(
        imported.document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100
    )
    return "\n".join([made, *sources, body])


def write_suite(text: str, path: Path) -> None:
    """Write a suite's file whole; one that an import wrote before is replaced.

    Raises:
        UsageError: another file is there, or nothing can be written there.
    """
    try:
        if path.exists() and not _is_import(path):
            message = f"--out: {path} is there, and no import wrote it"
            raise UsageError(message, hint="name another file, or move that one away")
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except OSError as cause:
        message = f"--out: {path} cannot be written: {cause.strerror}"
        raise UsageError(message) from cause


def _is_import(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_MARK)) == _MARK.encode()
