"""What runs already: the replicas of `arena up`, and every container of Arena."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from orchestrator.engine.containers import Container, Kind, Labels
from orchestrator.engine.endpoints import Endpoint
from orchestrator.engine.engine import Engine
from orchestrator.fleet.memory import memory_of
from orchestrator.fleet.placements import SealedState
from orchestrator.fleet.pool import UP
from orchestrator.reset.replica import SHARED, Placement, Replica, as_replica, await_health
from orchestrator.together import together
from sites.atlas import Atlas
from sites.errors import ArenaError, ImageError, SiteGoneError
from sites.manifest import Site

_GLANCE_S = 5.0
_RUNNING = "running"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One container of Arena, as it stands.

    Attributes:
        kind: replica, staged or sealing.
        owner: a run id, or `up`.
        health: `healthy`, or why it is not; empty where that was not asked.
        endpoint: its HTTP port; None unless it runs.
        memory_bytes: None unless it runs.
    """

    site: str
    kind: str
    owner: str
    slot: str
    container: Container
    health: str
    endpoint: Endpoint | None
    memory_bytes: int | None


async def standing_replicas(
    engine: Engine, atlas: Atlas, names: Collection[str] = ()
) -> tuple[Replica, ...]:
    """Return the running replicas of `arena up`.

    Args:
        engine: where they run.
        atlas: the known sites.
        names: of the sites; all that run where none is named.

    Raises:
        SiteGoneError: a named site is not up, or the container of any is dead; with the command
            that starts it.
        UnknownNameError: no such site.
    """
    wanted = {site.name for site in atlas.select(names)}
    found = [
        container
        for container in await engine.containers({Labels.KIND: Kind.REPLICA, Labels.OWNER: UP})
        if container.labels.get(Labels.SITE) in wanted
    ]
    running = [container for container in found if container.state == _RUNNING]
    meant = set(names) or {container.labels[Labels.SITE] for container in found}
    missing = sorted(meant - {container.labels[Labels.SITE] for container in running})
    if missing:
        state = next((one.state for one in found if one.labels[Labels.SITE] == missing[0]), None)
        message = f"site '{missing[0]}' is not up" + (
            f": its container is {state}" if state else ""
        )
        raise SiteGoneError(message, hint=f"arena up {' '.join(missing)}")
    return tuple(
        [
            await _as_standing(engine, atlas.site(container.labels[Labels.SITE]), container)
            for container in running
        ]
    )


async def standing_replica(engine: Engine, atlas: Atlas, name: str) -> Replica:
    """Return the running replica of one site; errors are those of `standing_replicas`."""
    return (await standing_replicas(engine, atlas, (name,)))[0]


async def containers_of(engine: Engine, site: Site) -> tuple[Container, ...]:
    """Return a site's containers: running ones first, those of `arena up` before others."""
    found = await engine.containers({Labels.SITE: site.name})
    return tuple(
        sorted(
            found,
            key=lambda container: (
                container.state != _RUNNING,
                container.labels.get(Labels.OWNER) != UP,
            ),
        )
    )


async def survey(engine: Engine, atlas: Atlas, names: Collection[str] = ()) -> tuple[Standing, ...]:
    """Look at every container of Arena: does it run, does its site serve, how large is it.

    Args:
        engine: where they run.
        atlas: the known sites.
        names: only these sites; everything where none is named.
    """
    wanted = {site.name for site in atlas.select(names)} if names else None
    found = await engine.containers({Labels.OWNER: None})
    async with together() as group:
        looks = [
            group.create_task(_look(engine, atlas, container))
            for container in found
            if wanted is None or container.labels.get(Labels.SITE) in wanted
        ]
    return tuple(look.result() for look in looks)


async def _as_standing(engine: Engine, site: Site, container: Container) -> Replica:
    image = await engine.image(container.image_id)
    if image is None:
        message = f"site '{site.name}': the image of {container.name} is gone"
        raise ImageError(message, hint="arena down; arena up")
    slot = container.labels.get(Labels.SLOT, SHARED)
    port = container.ports.get(site.port)
    placement = Placement(
        site=site,
        image_id=image.id,
        golden=SealedState(engine, image),
        owner=container.labels[Labels.OWNER],
        slot=None if slot == SHARED else int(slot),
        port=port.port if port else None,  # a person's bookmarks outlive a reset
    )
    return as_replica(placement, container)


async def _look(engine: Engine, atlas: Atlas, container: Container) -> Standing:
    labels = container.labels
    site = atlas.sites.get(labels.get(Labels.SITE, ""))
    runs = container.state == _RUNNING
    kind = labels.get(Labels.KIND, "")
    return Standing(
        site=labels.get(Labels.SITE, ""),
        kind=kind,
        owner=labels.get(Labels.OWNER, ""),
        slot=labels.get(Labels.SLOT, ""),
        container=container,
        health=await _health(engine, site, container) if runs and kind == Kind.REPLICA else "",
        endpoint=container.ports.get(site.port) if site and kind == Kind.REPLICA else None,
        memory_bytes=await _memory(engine, container) if runs else None,
    )


async def _health(engine: Engine, site: Site | None, container: Container) -> str:
    if site is None:
        return "no manifest"
    try:
        replica = await _as_standing(engine, site, container)
        await await_health(engine, replica, timeout_s=_GLANCE_S)
    except ArenaError as failure:
        return failure.message.splitlines()[0]
    return "healthy"


async def _memory(engine: Engine, container: Container) -> int | None:
    try:
        return await memory_of(engine, container.id)
    except ArenaError:
        return None  # it ended between the two questions
