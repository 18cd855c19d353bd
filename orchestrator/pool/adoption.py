"""Containers of before, found again: one that still fits is kept, the others go."""

from __future__ import annotations

from collections.abc import Sequence

from arena_core.errors import SiteError
from orchestrator.engine.containers import Container
from orchestrator.engine.engine import Engine
from orchestrator.reset.replica import Placement, Replica, as_replica, await_health


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
