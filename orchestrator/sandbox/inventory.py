"""What runs already: the replicas of `arena up`, and every container of Arena."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from arena_core.errors import ArenaError, ImageError, SiteGoneError
from arena_core.task_group import task_group
from orchestrator.sandbox.engine.containers import Container, ContainerKind, Endpoint, Labels
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.memory import Cost, Costs, memory_of
from orchestrator.sandbox.pool.placement import SealedState
from orchestrator.sandbox.pool.slot_pool import UP
from orchestrator.sandbox.reset.replica import SHARED, Placement, Replica, as_replica, await_health
from sites.manifest import Site
from sites.registry import SiteRegistry

_GLANCE_S = 5.0
_RUNNING = "running"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerStatus:
    """One container of Arena, as it stands.

    Attributes:
        kind: replica, staged or sealing.
        owner: a run id, or `up`.
        health: `healthy`, or why it is not; empty where that was not asked.
        endpoint: its HTTP port; None unless it runs.
        memory_bytes: None unless it runs.
        cost: what one more replica of the same image is reckoned to take; None for other kinds.
    """

    site: str
    kind: str
    owner: str
    slot: str
    container: Container
    health: str
    endpoint: Endpoint | None
    memory_bytes: int | None
    cost: Cost | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedReplica:
    """A replica of `arena up` whose container does not run.

    Attributes:
        placement: of another in its place, on the same port.
    """

    container: Container
    placement: Placement


async def running_or_ended(
    engine: Engine, registry: SiteRegistry, names: Collection[str] = (), slot: int | None = None
) -> tuple[tuple[Replica, ...], tuple[EndedReplica, ...]]:
    """Return the replicas of `arena up` that run and those that do not, by site and slot.

    Arguments are those of `running_replicas`.
    """
    found = await _of_up(engine, registry, names, slot)
    _require([one for one in found if one.labels[Labels.SITE] in set(names)], names, slot)
    running = {_place_of(one) for one in found if one.state == _RUNNING}
    replicas, ended = [], {}
    for container in sorted(found, key=_place_of):
        site = registry.site(container.labels[Labels.SITE])
        if container.state == _RUNNING:
            replicas.append(await _as_running(engine, site, container))
        elif _place_of(container) not in running:
            ended[_place_of(container)] = await _as_ended(engine, site, container)
    return tuple(replicas), tuple(ended.values())


async def running_replicas(
    engine: Engine, registry: SiteRegistry, names: Collection[str] = (), slot: int | None = None
) -> tuple[Replica, ...]:
    """Return the running replicas of `arena up`, by site and slot.

    Args:
        names: of the sites; all that run where none is named.
        slot: only this one's; sites that all slots share belong to each. None for every slot.
    """
    found = await _of_up(engine, registry, names, slot)
    meant = set(names) or {container.labels[Labels.SITE] for container in found}
    _require(found, meant, slot, running=True)
    running = sorted((one for one in found if one.state == _RUNNING), key=_place_of)
    return tuple(
        [
            await _as_running(engine, registry.site(container.labels[Labels.SITE]), container)
            for container in running
        ]
    )


async def running_replica(
    engine: Engine, registry: SiteRegistry, name: str, slot: int = 0
) -> Replica:
    """Return one site's running replica in a slot; errors are those of `running_replicas`."""
    return (await running_replicas(engine, registry, (name,), slot))[0]


async def remove_some(
    engine: Engine, owner: str, names: Collection[str] = (), slot: int | None = None
) -> tuple[str, ...]:
    """Remove an owner's containers of some sites, or what one slot has for itself, or both.

    Returns:
        The names of the containers.
    """
    labels = {Labels.OWNER: owner, **({} if slot is None else {Labels.SLOT: str(slot)})}
    found = [
        one
        for one in await engine.containers(labels)
        if not names or one.labels.get(Labels.SITE) in names
    ]
    async with task_group() as group:
        for container in found:
            group.create_task(engine.remove(container.id))
    return tuple(container.name for container in found)


async def containers_of(
    engine: Engine, site: Site, slot: int | None = None
) -> tuple[Container, ...]:
    """Return a site's containers: running ones first, those of `arena up` before others.

    Args:
        slot: only this one's of `arena up`; None for all of all owners.
    """
    labels = {Labels.SITE: site.name, **({} if slot is None else {Labels.OWNER: UP})}
    found = [one for one in await engine.containers(labels) if _is_of(one, slot)]
    return tuple(
        sorted(
            found,
            key=lambda container: (
                container.state != _RUNNING,
                container.labels.get(Labels.OWNER) != UP,
                _place_of(container),
            ),
        )
    )


async def survey(
    engine: Engine, registry: SiteRegistry, names: Collection[str] = ()
) -> tuple[ContainerStatus, ...]:
    """Look at every container of Arena: does it run, does its site serve, how large is it.

    Args:
        names: only these sites; everything where none is named.
    """
    wanted = {site.name for site in registry.select(names)} if names else None
    found = await engine.containers({Labels.OWNER: None})
    costs = Costs.load()
    async with task_group() as group:
        looks = [
            group.create_task(_look(engine, registry, container, costs))
            for container in sorted(found, key=_place_of)
            if wanted is None or container.labels.get(Labels.SITE) in wanted
        ]
    return tuple(look.result() for look in looks)


def _is_of(container: Container, slot: int | None) -> bool:
    return slot is None or container.labels.get(Labels.SLOT) in {str(slot), SHARED}


def _place_of(container: Container) -> tuple[str, int]:
    """Sort by site and slot, the tenth after the ninth."""
    slot = container.labels.get(Labels.SLOT, "")
    return container.labels.get(Labels.SITE, ""), int(slot) if slot.isdecimal() else -1


async def _of_up(
    engine: Engine, registry: SiteRegistry, names: Collection[str], slot: int | None
) -> list[Container]:
    wanted = {site.name for site in registry.select(names)}
    return [
        container
        for container in await engine.containers(
            {Labels.KIND: ContainerKind.REPLICA, Labels.OWNER: UP}
        )
        if container.labels.get(Labels.SITE) in wanted and _is_of(container, slot)
    ]


def _require(
    found: Sequence[Container], meant: Collection[str], slot: int | None, *, running: bool = False
) -> None:
    """Raise SiteGoneError where a site has no container among these, or none that runs."""
    there = {one.labels[Labels.SITE] for one in found if not running or one.state == _RUNNING}
    missing = sorted(set(meant) - there)
    if not missing:
        return
    state = next((one.state for one in found if one.labels[Labels.SITE] == missing[0]), None)
    where = f" in slot {slot}" if slot else ""
    message = f"site '{missing[0]}' is not up{where}" + (
        f": its container is {state}" if state else ""
    )
    more = f" --slots {slot + 1}" if slot else ""
    raise SiteGoneError(message, hint=f"arena up {' '.join(missing)}{more}")


async def _as_running(engine: Engine, site: Site, container: Container) -> Replica:
    port = container.ports.get(site.port)
    return as_replica(
        await _placement(engine, site, container, port.port if port else None), container
    )


async def _as_ended(engine: Engine, site: Site, listed: Container) -> EndedReplica:
    """Look at a container that does not run: what it was asked to publish is known all the same."""
    container = await engine.container(listed.id) or listed
    published = container.ports.get(site.port)
    port = published.port if published else container.fixed.get(site.port)
    placement = await _placement(engine, site, container, port)
    return EndedReplica(container=container, placement=placement)


async def _placement(
    engine: Engine, site: Site, container: Container, port: int | None
) -> Placement:
    """Return what it takes to start the same again; a person's bookmarks outlive a reset."""
    image = await engine.image(container.image_id)
    if image is None:
        message = f"site '{site.name}': the image of {container.name} is gone"
        raise ImageError(message, hint="arena down; arena up")
    slot = container.labels.get(Labels.SLOT, SHARED)
    return Placement(
        site=site,
        image_id=image.id,
        golden=SealedState(engine, image),
        owner=container.labels[Labels.OWNER],
        slot=None if slot == SHARED else int(slot),
        port=port,
    )


async def _look(
    engine: Engine, registry: SiteRegistry, container: Container, costs: Costs
) -> ContainerStatus:
    labels = container.labels
    site = registry.sites.get(labels.get(Labels.SITE, ""))
    runs = container.state == _RUNNING
    kind = labels.get(Labels.KIND, "")
    return ContainerStatus(
        site=labels.get(Labels.SITE, ""),
        kind=kind,
        owner=labels.get(Labels.OWNER, ""),
        slot=labels.get(Labels.SLOT, ""),
        container=container,
        health=await _health(engine, site, container)
        if runs and kind == ContainerKind.REPLICA
        else "",
        endpoint=container.ports.get(site.port) if site and kind == ContainerKind.REPLICA else None,
        memory_bytes=await _memory(engine, container) if runs else None,
        cost=costs.of(site, container.image_id) if site and kind == ContainerKind.REPLICA else None,
    )


async def _health(engine: Engine, site: Site | None, container: Container) -> str:
    if site is None:
        return "no manifest"
    try:
        replica = await _as_running(engine, site, container)
        await await_health(engine, replica, timeout_s=_GLANCE_S)
    except ArenaError as failure:
        return failure.message.splitlines()[0]
    return "healthy"


async def _memory(engine: Engine, container: Container) -> int | None:
    try:
        return await memory_of(engine, container.id)
    except ArenaError:
        return None  # it ended between the two questions
