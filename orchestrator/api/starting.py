"""Chooses sites and starts them: builds what was never built, waits until they serve, logs in."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from arena_core.errors import SiteGoneError, UnknownNameError, UsageError
from arena_core.names import offered
from arena_core.task_group import task_group
from arena_core.work_events import WorkLine
from orchestrator.api.opened import OnArenaEvent, SitesStarting, require_at_least
from orchestrator.runs.events import ProgressNote
from orchestrator.sandbox.command_lock import command_lock
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.episode_info import write_episode_info
from orchestrator.sandbox.golden import is_sealed
from orchestrator.sandbox.images.build import build_images
from orchestrator.sandbox.inventory import running_replicas
from orchestrator.sandbox.memory import memory_of
from orchestrator.sandbox.pool.pool_context import PoolEvent, ReadyReplica, label_of
from orchestrator.sandbox.pool.slot_pool import UP, SlotPool
from sites.accounts import Role
from sites.manifest import Site
from sites.registry import SiteRegistry

ALL: Final = "all"
DEMO: Final = "demo"
_PORTS: Final = range(1, 65536)


def choose_sites(
    registry: SiteRegistry, names: Sequence[str], suite: str | None, *, otherwise: str | None
) -> tuple[Site, ...]:
    """Return the sites that are meant, those of a suite in the order of their names.

    Args:
        registry: the known sites.
        names: as given on the command line; `all` stands alone.
        suite: the suite whose sites are meant, where one was named.
        otherwise: the suite that counts where nothing was given; None for all sites.

    Raises:
        UsageError: `all` beside names, or a suite beside names.
        UnknownNameError: no such site or suite; names those there are.
        TaskError: the suite cannot be read.
    """
    if ALL in names and len(set(names)) > 1:
        others = " ".join(name for name in names if name != ALL)
        message = f"'all' and names together ({others}): which are meant?"
        raise UsageError(message, hint="say either `all` or the sites' names")
    if names and suite is not None:
        message = f"sites ({' '.join(names)}) and the suite {suite} together: which are meant?"
        raise UsageError(message, hint="give either the sites' names or a suite")
    if ALL in names:
        return registry.select(())
    if names:
        return _named(registry, names)
    wanted = suite or otherwise
    return registry.select(()) if wanted is None else registry.select(_sites_of(wanted))


def _named(registry: SiteRegistry, names: Sequence[str]) -> tuple[Site, ...]:
    from tasks.loader import suite_names

    for name in names:
        if name not in registry.sites and name in suite_names():
            message = f"unknown site '{name}': it is a suite"
            hint = f"--suite {name}, in Python suite='{name}'"
            raise UnknownNameError(message, hint=hint)
    return registry.select(names)


def _sites_of(suite: str) -> tuple[str, ...]:
    from tasks.loader import load_suite

    return tuple(sorted({name for task in load_suite(suite).tasks for name in task.sites}))


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
    """What is to be started; see `arena.sites.up`."""

    sites: Sequence[Site]
    slots: int
    memory_bytes: int | None
    ports: Mapping[str, int]

    def __post_init__(self) -> None:
        require_at_least(1, slots=self.slots)
        names = [site.name for site in self.sites]
        for name, port in self.ports.items():
            if name not in names:
                message = f"port {port}: no site '{name}' is started; {offered(name, names)}"
                raise UsageError(message)
            if port not in _PORTS:
                raise UsageError(f"site '{name}': {port} is no port")
            if port + self.slots - 1 not in _PORTS:
                raise UsageError(f"site '{name}': there are no {self.slots} ports from {port} on")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the sites."""
        return tuple(site.name for site in self.sites)

    @property
    def replicas(self) -> int:
        """How many there will be: sites that hold no state are shared by all slots."""
        return sum(self.slots if site.stateful else 1 for site in self.sites)


async def start_sites(
    engine: Engine, registry: SiteRegistry, start: Start, on_event: OnArenaEvent
) -> tuple[RunningSite, ...]:
    """Start sites side by side, and leave them running; errors are those of `arena.sites.up`."""
    await _build_missing(engine, registry, start.sites, on_event)
    clock = _Clock(on_event)
    on_event(SitesStarting(replicas=start.replicas))
    async with (
        command_lock(UP, lambda text: on_event(ProgressNote(text))),
        SlotPool.open(
            engine,
            registry,
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
            group.create_task(_tell(engine, registry, on_event))
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


async def _tell(engine: Engine, registry: SiteRegistry, on_event: OnArenaEvent) -> None:
    """Let start pages list all that is up, what an earlier command started too."""
    try:
        await write_episode_info(engine, await running_replicas(engine, registry))
    except SiteGoneError as gone:
        on_event(ProgressNote(f"the start page lacks the list of what is up: {gone.message}"))


async def _build_missing(
    engine: Engine, registry: SiteRegistry, sites: Sequence[Site], on_event: OnArenaEvent
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
    await build_images(
        engine,
        registry,
        missing,
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
