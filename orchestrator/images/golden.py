"""The golden state that a sealed image carries: its digest as a label, its parts as a file."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena_core.errors import ImageError
from orchestrator.engine.containers import ContainerKind, ContainerSpec, ImageInfo, Labels
from orchestrator.engine.engine import Engine
from orchestrator.images.image_cache import find_kept, keep

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
    """Whether an image carries a golden state."""
    return Labels.GOLDEN in image.labels


async def golden_of(engine: Engine, image: ImageInfo) -> Golden:
    """Read the golden state out of a sealed image; the next time it is at hand.

    Raises:
        ImageError: the image is not sealed.
    """
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
    """Return the file of rows that an image was sealed with; read out of it once a machine.

    Raises:
        ImageError: the image carries no rows, or others than its label says.
    """
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
