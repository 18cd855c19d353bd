"""The golden state that a sealed image carries: its digest as a label, its parts as a file."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Final

from orchestrator.engine.containers import ContainerSpec, ImageInfo, Kind, Labels
from orchestrator.engine.engine import Engine
from sites.errors import ImageError

PATH: Final = "/etc/arena/golden.json"


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
    """Read the golden state out of a sealed image (about 60 ms: a container that never starts).

    Raises:
        ImageError: the image is not sealed.
    """
    if not is_sealed(image):
        message = f"image {image.tag} is not sealed: it carries no golden state"
        raise ImageError(message, hint="arena build")
    container = await engine.create(unstarted(image.id))
    try:
        document = await engine.copy_out(container.id, PATH)
    finally:
        await engine.remove(container.id)
    return Golden(digest=image.labels[Labels.GOLDEN], document=document)


def unstarted(image: str) -> ContainerSpec:
    """Return the spec of a container that is only there to copy files in or out."""
    return ContainerSpec(
        name=f"arena-sealing-{secrets.token_hex(4)}",
        image=image,
        labels={Labels.KIND: Kind.SEALING, Labels.OWNER: "build"},
        ports=(),
        memory_mb=16,
        cpus=1.0,
        pids=8,
    )
