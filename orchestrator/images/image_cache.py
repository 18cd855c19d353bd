"""What was read out of images, kept in the user's cache folder under the digest of its content."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import shutil
import tempfile
import time
import zlib
from pathlib import Path
from typing import Final

from arena_core.errors import ImageError
from arena_core.user_cache import user_cache

_KEPT_FILES: Final = 24
_ABANDONED_S: Final = 3600.0
_LEVEL: Final = 6  # 2 % larger than the smallest, in a third of the time


def cache_folder() -> Path:
    """Return the folder, which need not be there yet."""
    return user_cache() / "golden"


def digest_of(file: Path) -> str:
    """Return the SHA-256 of a file's content, as hex."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def packed(file: Path) -> bytes:
    """Return a file's content compressed, the same for the same content."""
    into = io.BytesIO()
    with (
        file.open("rb") as content,
        gzip.GzipFile(fileobj=into, mode="wb", compresslevel=_LEVEL, mtime=0) as out,
    ):
        shutil.copyfileobj(content, out)
    return into.getvalue()


def find_kept(digest: str) -> Path | None:
    """Return the file with this content, None where it is not there or not what its name says."""
    file = cache_folder() / digest
    try:
        if digest_of(file) != digest:
            return None
        os.utime(file)
    except OSError:
        return None
    return file


def keep(digest: str, compressed: bytes) -> Path:
    """Write a file's content where `find_kept` finds it.

    It appears there whole or not at all, whoever else writes the same at the same time.

    Raises:
        ImageError: it has another digest, or the cache folder cannot be written.
    """
    folder = cache_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, suffix=".part")
        part = Path(name)
        try:
            with os.fdopen(handle, "wb") as out, gzip.open(io.BytesIO(compressed)) as content:
                shutil.copyfileobj(content, out)
            found = digest_of(part)
            if found != digest:
                message = f"what the image carries has the digest {found}, not {digest}"
                raise ImageError(message, hint="arena build --force")
            part.replace(folder / digest)
        finally:
            part.unlink(missing_ok=True)
        _tidy(folder)
    except (OSError, EOFError, zlib.error) as cause:
        raise _unusable(cause) from cause
    return folder / digest


def _tidy(folder: Path) -> None:
    """Remove what was used longest ago beyond a number of files, and what a killed process left."""
    used: list[tuple[float, Path]] = []
    for file in folder.iterdir():
        try:
            changed = file.stat().st_mtime
        except FileNotFoundError:
            continue  # another process tidies too
        if file.suffix != ".part":
            used.append((changed, file))
        elif changed < time.time() - _ABANDONED_S:
            file.unlink(missing_ok=True)
    for _, file in sorted(used)[:-_KEPT_FILES]:
        file.unlink(missing_ok=True)


def _unusable(cause: Exception) -> ImageError:
    message = f"what an image carries cannot be kept in {cache_folder()}: {cause}"
    return ImageError(message, hint="set XDG_CACHE_HOME to a folder that can be written")
