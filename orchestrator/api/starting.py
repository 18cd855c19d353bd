"""Starts sites for `Arena.up`: builds what was never built, waits until they serve, logs in."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from arena_core.errors import SiteGoneError, UsageError
from arena_core.task_group import task_group
from orchestrator.access.episode_info import write_episode_info
from orchestrator.api.arguments import require_at_least
from orchestrator.api.events import OnArenaEvent, SitesStarting
from orchestrator.capacity.memory import memory_of
from orchestrator.delta.packing import pack_rows
from orchestrator.engine.engine import Engine
from orchestrator.images import building
from orchestrator.images.golden import is_sealed
from orchestrator.operations.command_lock import command_lock
from orchestrator.operations.inventory import running_replicas
from orchestrator.pool.events import PoolEvent
from orchestrator.pool.pool_context import ReadyReplica, label_of
from orchestrator.pool.slot_pool import UP, SlotPool
from orchestrator.reset.fingerprint import take_fingerprint
from orchestrator.runner.events import ProgressNote
from orchestrator.work_events import WorkLine
from sites.accounts import Role
from sites.atlas import Atlas
from sites.manifest import Site

_PORTS: Final = range(1, 65536)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningSite:
    """A replica that serves, with every role logged in.

    Attributes:
        slot: index; None where all slots share the replica.
        url: for a person's own browser, on 127.0.0.1.
        origin: under which agents know the site.
        database: where its database is; None where it has none.
        container: name of the container.
        golden: fingerprint of the state that its image was sealed with.
        memory_bytes: that it takes now.
        seconds: until it was ready.
    """

    site: Site
    slot: int | None
    url: str
    origin: str
    database: str | None
    container: str
    golden: str
    memory_bytes: int
    seconds: float

    @property
    def accounts(self) -> Mapping[str, Role]:
        """The roles with user name and password, by name."""
        return self.site.roles


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What is to be started; see `Arena.up`."""

    sites: Sequence[Site]
    slots: int
    memory_bytes: int | None
    ports: Mapping[str, int]

    def __post_init__(self) -> None:
        require_at_least(1, slots=self.slots)
        names = [site.name for site in self.sites]
        for name, port in self.ports.items():
            if name not in names:
                message = f"port {port}: no site '{name}' is started; there are: {' '.join(names)}"
                raise UsageError(message)
            if port not in _PORTS:
                message = f"site '{name}': {port} is no port"
                raise UsageError(message)
            if port + self.slots - 1 not in _PORTS:
                message = f"site '{name}': there are no {self.slots} ports from {port} on"
                raise UsageError(message)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the sites."""
        return tuple(site.name for site in self.sites)

    @property
    def replicas(self) -> int:
        """How many there will be: sites that hold no state are shared by all slots."""
        return sum(self.slots if site.stateful else 1 for site in self.sites)


async def start_sites(
    engine: Engine, atlas: Atlas, start: Start, on_event: OnArenaEvent
) -> tuple[RunningSite, ...]:
    """Start sites side by side, and leave them running; errors are those of `Arena.up`."""
    await _build_missing(engine, atlas, start.sites, on_event)
    clock = _Clock(on_event)
    on_event(SitesStarting(replicas=start.replicas))
    async with (
        command_lock(UP, lambda text: on_event(ProgressNote(text))),
        SlotPool.open(
            engine,
            atlas,
            start.names,
            UP,
            workers=start.slots,
            spares=0,
            memory_bytes=start.memory_bytes,
            on_event=clock.on_event,
            ports=start.ports,
            keep=True,
        ) as slot_pool,
    ):
        on_event(ProgressNote(f"to start: {slot_pool.capacity.summary('slot')}"))
        occupants = await slot_pool.up()
        if engine.not_shut:
            text = f"containers could open connections: {engine.not_shut}; arena doctor"
            on_event(ProgressNote(text))
        async with task_group() as group:
            memory = [
                group.create_task(memory_of(engine, occupant.replica.container.id))
                for occupant in occupants
            ]
            group.create_task(_tell(engine, atlas, on_event))
    return tuple(
        _running(occupant, used.result(), clock)
        for occupant, used in zip(occupants, memory, strict=True)
    )


@dataclass(slots=True)
class _Clock:
    """Passes events on, and knows how long each replica took so far."""

    passed_on: OnArenaEvent
    began: float = field(default_factory=time.monotonic)
    seconds: dict[str, float] = field(default_factory=dict)

    def on_event(self, event: PoolEvent) -> None:
        """Note when it came."""
        self.seconds[event.replica] = time.monotonic() - self.began
        self.passed_on(event)


async def _tell(engine: Engine, atlas: Atlas, on_event: OnArenaEvent) -> None:
    """Let start pages list all that is up, what an earlier command started too."""
    try:
        await write_episode_info(engine, await running_replicas(engine, atlas))
    except SiteGoneError as gone:
        on_event(ProgressNote(f"the start page lacks the list of what is up: {gone.message}"))


async def _build_missing(
    engine: Engine, atlas: Atlas, sites: Sequence[Site], on_event: OnArenaEvent
) -> None:
    """Build what was never built, so that `arena up` is one command in a fresh installation."""
    missing = []
    for site in sites:
        image = await engine.image(site.image.tag)
        if image is None or not is_sealed(image):
            missing.append(site)
    if not missing:
        return
    on_event(ProgressNote(f"building first, once: {', '.join(site.name for site in missing)}"))
    await building.build(
        engine,
        atlas,
        missing,
        take=take_fingerprint,
        take_rows=pack_rows,
        on_line=lambda line: on_event(WorkLine(line)),
        on_work=on_event,
    )


def _running(occupant: ReadyReplica, memory_bytes: int, clock: _Clock) -> RunningSite:
    replica = occupant.replica
    site, slot = replica.site, replica.placement.slot
    return RunningSite(
        site=site,
        slot=slot,
        url=f"http://{replica.endpoint}/",
        origin=f"http://{site.host}",
        database=str(replica.database) if replica.database else None,
        container=replica.container.name,
        golden=replica.golden,
        memory_bytes=memory_bytes,
        seconds=clock.seconds.get(label_of(site.name, slot), 0.0),
    )
