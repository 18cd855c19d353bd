"""A run's folder as bytes, and back: what comes from another machine may write nowhere else."""

from __future__ import annotations

import io
import shutil
import tarfile
from pathlib import Path, PurePosixPath
from typing import Final

from arena_core.errors import StoreError
from arena_core.regular_files import MEGABYTE, open_regular

MOST_BYTES: Final = 2048 * MEGABYTE
_MOST_FILES: Final = 1_000_000
_DEEPEST: Final = 5  # runs/NAME/evidence/EPISODE/FILE of a study
_SMALLER: Final = "cut the run into more shards"


def pack(folder: Path, most: int = MOST_BYTES) -> bytes:
    """Return the regular files of a folder as one tar.

    Raises:
        StoreError: they are more than `most` bytes, or one cannot be read.
    """
    packed = io.BytesIO()
    try:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for path in sorted(one for one in folder.rglob("*") if one.is_file()):
                entry = tarfile.TarInfo(path.relative_to(folder).as_posix())
                with open_regular(path, most=most) as file:
                    entry.size = path.stat().st_size
                    if packed.tell() + entry.size > most:
                        raise _too_large(str(folder), most)
                    tar.addfile(entry, file)
    except OSError as cause:
        raise StoreError(f"{folder}: cannot be packed: {cause.strerror or cause}") from cause
    return packed.getvalue()


def unpack(packed: bytes, into: Path, most: int = MOST_BYTES) -> None:
    """Write what `pack` returned into a new folder, which is there whole or not at all.

    Raises:
        StoreError: it is no such tar, holds anything but regular files inside the folder, or a file
            twice, is too large, or `into` is there already or cannot be written.
    """
    if len(packed) > most:
        raise _too_large(str(into), most)
    aside = into.with_name(f".{into.name}.partial")
    shutil.rmtree(aside, ignore_errors=True)
    try:
        with tarfile.open(fileobj=io.BytesIO(packed), mode="r:") as tar:
            _write(tar, aside, len(packed))
            if packed[tar.offset :].strip(b"\0"):
                raise tarfile.ReadError("something lies behind its end")
        aside.rename(into)
    except (tarfile.TarError, EOFError, ValueError) as cause:
        raise StoreError(f"{into}: what came is no packed run: {cause}") from cause
    except OSError as cause:
        raise StoreError(f"{into}: cannot be written: {cause.strerror or cause}") from cause
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _write(tar: tarfile.TarFile, aside: Path, most: int) -> None:
    aside.mkdir(parents=True)
    left, files = most, 0
    for entry in tar:
        left, files = left - entry.size, files + 1
        target = aside / _inside(entry)
        if left < 0 or files > _MOST_FILES:
            raise StoreError(f"{entry.name!a}: what came is larger than it says")
        target.parent.mkdir(parents=True, exist_ok=True)
        content = tar.extractfile(entry)
        with target.open("xb") as file:  # a name that comes twice is refused
            if content is not None:
                shutil.copyfileobj(content, file)
        if target.stat().st_size != entry.size:
            raise StoreError(f"{entry.name!a}: what came ends in the middle of it")


def _inside(entry: tarfile.TarInfo) -> PurePosixPath:
    """Return where a file belongs below the folder; nothing else is written."""
    path = PurePosixPath(entry.name)
    is_plain = entry.isreg() and not entry.issparse()
    is_inside = bool(path.parts) and not path.is_absolute() and ".." not in path.parts
    if not (is_plain and is_inside and len(path.parts) <= _DEEPEST and path.name):
        message = f"{entry.name!a}: what came holds what belongs in no run's folder"
        raise StoreError(message, hint="a node of the cluster sent it: nothing of it was kept")
    return path


def _too_large(what: str, most: int) -> StoreError:
    message = f"{what}: has more than {most // MEGABYTE} MB, which is not sent as one piece"
    return StoreError(message, hint=_SMALLER)
