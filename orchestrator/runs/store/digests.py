"""Digests of evidence: written down as it is saved, so that what changes it later shows."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from pydantic import BaseModel
from pydantic_core import from_json, to_json

from arena_core.errors import StoreError
from arena_core.regular_files import MEGABYTE, open_regular

_LARGEST: Final = 8192 * MEGABYTE
_SMALL: Final = 64 * 1024


def digest_of_files(files: Iterable[tuple[str, bytes]]) -> str:
    """Return SHA-256 over names and contents of files, whatever their order."""
    return _whole((name, hashlib.sha256(content).hexdigest()) for name, content in files)


def digest_of_json(written: bytes) -> str:
    """Return SHA-256 over a JSON document as pydantic writes it, whatever the layout of its file.

    It is that of `model_dump_json` when the document was written: names that models got or lost
    since then change nothing.
    """
    return hashlib.sha256(to_json(from_json(written))).hexdigest()


def digest_of_paths(files: Iterable[tuple[str, Path]]) -> str:
    """Return the same of files on disk, each with the name that it goes by."""
    try:
        return _whole((name, _digest_of_file(path)) for name, path in files)
    except OSError as cause:
        raise StoreError(f"{cause.filename}: cannot be read: {cause.strerror}") from cause


def digest_of_folder(path: Path) -> str:
    return _whole(digests_of_folder(path).items())


def has_digest(path: Path, digest: str) -> bool:
    """Whether the files in a folder can be read, and have a digest, see `digest_of_folder`."""
    try:
        return digest_of_folder(path) == digest
    except StoreError:
        return False


def digests_of_folder(path: Path) -> Mapping[str, str]:
    """Return SHA-256 of each file in a folder, by its name below it."""
    try:
        return dict(sorted(_digests_below(path, "")))
    except OSError as cause:
        raise StoreError(f"{cause.filename or path}: cannot be read: {cause.strerror}") from cause


def _digests_below(path: Path | str, name: str) -> Iterator[tuple[str, str]]:
    with os.scandir(path) as entries:
        for one in entries:
            if one.is_dir(follow_symlinks=False):
                yield from _digests_below(one.path, f"{name}{one.name}/")
            else:
                yield f"{name}{one.name}", _digest_of_file(one.path)


def canonical_digest(model: BaseModel) -> str:
    """Return SHA-256 over a model's content, whatever the layout of its file.

    What is empty is left out: a field that a later Arena adds, and that says nothing here, changes
    no digest.
    """
    content = _without_empty(model.model_dump(mode="json"))
    written = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(written.encode()).hexdigest()


def _without_empty(content: object) -> object:
    if isinstance(content, dict):
        kept = {name: _without_empty(value) for name, value in content.items()}
        return {name: value for name, value in kept.items() if not _is_empty(value)}
    if isinstance(content, list):
        return [_without_empty(value) for value in content]
    return content


def _is_empty(value: object) -> bool:
    return value is None or value is False or (isinstance(value, str | list | dict) and not value)


def _whole(files: Iterable[tuple[str, str]]) -> str:
    lines = sorted(f"{digest}  {name}\n" for name, digest in files)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _digest_of_file(path: Path | str) -> str:
    with open_regular(path, most=_LARGEST) as file:
        first = file.read(_SMALL)  # most files are: a buffer for large ones takes longer than they
        digest = hashlib.sha256(first)
        while len(first) == _SMALL and (more := file.read(MEGABYTE)):
            digest.update(more)
        return digest.hexdigest()
