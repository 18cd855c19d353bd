"""Digests of evidence: written down as it is saved, so that what changes it later shows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from arena_core.errors import StoreError


def digest_of_files(files: Iterable[tuple[str, bytes]]) -> str:
    """Return SHA-256 over names and contents of files, whatever their order."""
    return _whole((name, hashlib.sha256(content).hexdigest()) for name, content in files)


def digest_of_folder(path: Path) -> str:
    """Return the digest of the files in a folder, as `digest_of_files` of them.

    Raises:
        StoreError: one cannot be read.
    """
    try:
        found = sorted(one for one in path.rglob("*") if not one.is_dir() or one.is_symlink())
        return _whole((one.relative_to(path).as_posix(), _digest_of_file(one)) for one in found)
    except OSError as cause:
        message = f"{path}: cannot be read: {cause.strerror}"
        raise StoreError(message) from cause


def _whole(files: Iterable[tuple[str, str]]) -> str:
    lines = sorted(f"{digest}  {name}\n" for name, digest in files)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _digest_of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
