"""How a pool comes by a replica: by its sealed image, from what ran before, on a kept port."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from arena_core.errors import ImageError, PortTakenError, SiteError
from orchestrator.sandbox.engine.containers import LOOPBACK, Container, ImageInfo, Labels
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.golden import golden_of, is_sealed
from orchestrator.sandbox.images.recipes import command_for
from orchestrator.sandbox.reset.replica import (
    Placement,
    Replica,
    as_replica,
    await_health,
    start_replica,
)
from orchestrator.sandbox.reset.state import Fingerprint
from sites.manifest import Site


@dataclass(frozen=True, slots=True)
class SealedState:
    """The golden state of an image: the digest is at hand, the parts are read when asked for."""

    engine: Engine
    image: ImageInfo

    @property
    def digest(self) -> str:
        return self.image.labels[Labels.GOLDEN]

    async def parts(self) -> Fingerprint:
        golden = await golden_of(self.engine, self.image)
        return Fingerprint.from_json(golden.document)


async def place(
    engine: Engine, site: Site, *, owner: str, slot: int | None, port: int | None = None
) -> Placement:
    image = await engine.image(site.image.tag)
    if image is None or not is_sealed(image):
        what = "there is no image" if image is None else "never sealed as golden: image"
        message = f"site '{site.name}': {what} {site.image.tag}"
        raise ImageError(message, hint=command_for(site.image, site.name))
    return Placement(
        site=site,
        image_id=image.id,
        golden=SealedState(engine, image),
        owner=owner,
        slot=slot,
        port=port,
    )


async def adopt(engine: Engine, placement: Placement, found: Sequence[Container]) -> Replica | None:
    """Return the one replica found that is of this image and serves; remove the others."""
    kept: Replica | None = None
    for container in found:
        if kept is None:
            kept = await _fitting(engine, placement, container)
            if kept is not None:
                continue
        await engine.remove(container.id)
    return kept


async def _fitting(engine: Engine, placement: Placement, container: Container) -> Replica | None:
    if container.state != "running" or container.image_id != placement.image_id:
        return None
    try:
        replica = as_replica(placement, container)
        if placement.port not in {None, replica.endpoint.port}:
            return None
        await await_health(engine, replica)
        await engine.shut(container)  # who restarted it by hand took its packet filter away
    except SiteError:
        return None  # it is replaced, and the new one says what is wrong if anything is
    return replica


_TRIES: Final = 3


async def start_on_kept_port(engine: Engine, placement: Placement) -> Replica:
    """Start a replica on the port of its placement, or else on a free one, by its number.

    A port that the engine chooses is forgotten when the container ends; this one is not.
    """
    if placement.port is not None:
        return await start_replica(engine, placement)
    for _ in range(_TRIES - 1):
        try:
            return await start_replica(engine, replace(placement, port=_free_port()))
        except PortTakenError:
            continue  # somebody was quicker; or the engine runs on another machine
    return await start_replica(engine, replace(placement, port=_free_port()))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])
