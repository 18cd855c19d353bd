"""The golden state that a sealed image carries: its digest as a label, its parts as a file."""

from __future__ import annotations

import asyncio
import fcntl
import gzip
import hashlib
import io
import os
import secrets
import shutil
import tempfile
import time
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena_core.errors import ImageError
from arena_core.user_cache import user_cache
from orchestrator.sandbox.engine.containers import ContainerKind, ContainerSpec, ImageInfo, Labels
from orchestrator.sandbox.engine.engine import Engine

_KEPT_FILES: Final = 24
_ABANDONED_S: Final = 3600.0
_LEVEL: Final = 6  # 2 % larger than the smallest, in a third of the time


def cache_folder() -> Path:
    return user_cache() / "golden"


def digest_of(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def packed(file: Path) -> bytes:
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
    """
    folder = cache_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, suffix=".part")
        part = Path(name)
        try:
            with os.fdopen(handle, "wb") as out, gzip.open(io.BytesIO(compressed)) as content:
                fcntl.flock(out, fcntl.LOCK_EX)  # as long as it is held, nobody tidies it away
                shutil.copyfileobj(content, out)
                out.flush()
                found = digest_of(part)
                if found != digest:
                    message = f"what the image carries has the digest {found}, not {digest}"
                    raise ImageError(message, hint="arena build --force")
                part.replace(folder / digest)
        finally:
            part.unlink(missing_ok=True)
        _tidy(folder, digest)
    except (OSError, EOFError, zlib.error) as cause:
        raise _unusable(cause) from cause
    return folder / digest


def _tidy(folder: Path, kept: str) -> None:
    """Remove what was used longest ago beyond a number of files, and what a killed process left.

    What was just kept stays, whatever the clock said when the others were used.
    """
    used: list[tuple[float, Path]] = []
    for file in folder.iterdir():
        try:
            changed = file.stat().st_mtime
        except FileNotFoundError:
            continue  # another process tidies too
        if file.suffix != ".part":
            used.append((changed, file))
        elif changed < time.time() - _ABANDONED_S and not _is_held(file):
            file.unlink(missing_ok=True)
    newest_last = sorted(used, key=lambda one: (one[1].name == kept, *one))
    for _, file in newest_last[:-_KEPT_FILES]:
        file.unlink(missing_ok=True)


def _is_held(part: Path) -> bool:
    """Whether a process writes it still: its date would not say so, where the clock was set."""
    try:
        with part.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
    return False


def _unusable(cause: Exception) -> ImageError:
    why = getattr(cause, "strerror", None) or cause
    message = f"what an image carries cannot be kept in {cache_folder()}: {why}"
    return ImageError(message, hint="set XDG_CACHE_HOME to a folder that can be written")


PATH: Final = "/etc/arena/golden.json"
ROWS_PATH: Final = "/etc/arena/golden-rows.gz"
ROWS_LABEL: Final = "arena.rows"  # the SHA-256 of the file of rows, unpacked


@dataclass(frozen=True, slots=True)
class Golden:
    """The state that containers of a sealed image start with.

    Attributes:
        digest: one hex digest over the whole state.
        document: the parts, as JSON, so that differences can be named; the image does not care
            what they are.
    """

    digest: str
    document: bytes


def is_sealed(image: ImageInfo) -> bool:
    return Labels.GOLDEN in image.labels


async def golden_of(engine: Engine, image: ImageInfo) -> Golden:
    """Read the golden state out of a sealed image; the next time it is at hand."""
    if not is_sealed(image):
        message = f"image {image.tag} is not sealed: it carries no golden state"
        raise ImageError(message, hint="arena build")
    digest = image.labels[Labels.GOLDEN]
    known = await asyncio.to_thread(find_kept, digest)
    if known is not None:
        return Golden(digest=digest, document=await asyncio.to_thread(known.read_bytes))
    document = await _read_out(engine, image, PATH)
    if hashlib.sha256(document).hexdigest() == digest:
        with suppress(ImageError):  # what cannot be kept is read out again
            await asyncio.to_thread(keep, digest, gzip.compress(document))
    return Golden(digest=digest, document=document)


async def golden_rows(engine: Engine, image: ImageInfo) -> Path:
    """Return the file of rows that an image was sealed with; read out of it once a machine."""
    digest = image.labels.get(ROWS_LABEL)
    if digest is None:
        message = f"image {image.tag} was sealed without its rows: what changed cannot be listed"
        raise ImageError(message, hint="arena build")
    known = await asyncio.to_thread(find_kept, digest)
    if known is not None:
        return known
    return await asyncio.to_thread(keep, digest, await _read_out(engine, image, ROWS_PATH))


async def _read_out(engine: Engine, image: ImageInfo, path: str) -> bytes:
    """Read one file of an image through a container that never starts."""
    container = await engine.create(unstarted(image.id))
    try:
        return await engine.copy_out(container.id, path)
    finally:
        await engine.remove(container.id)


def unstarted(image: str) -> ContainerSpec:
    """Return the spec of a container that is only there to copy files in or out."""
    return ContainerSpec(
        name=f"arena-sealing-{secrets.token_hex(4)}",
        image=image,
        labels={Labels.KIND: ContainerKind.SEALING, Labels.OWNER: "build"},
        ports=(),
        memory_mb=16,
        cpus=1.0,
        pids=8,
    )
