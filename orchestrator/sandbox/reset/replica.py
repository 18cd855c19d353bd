"""A running replica of a site: how it is started, found again, and known to serve."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace

from arena_core.errors import SiteGoneError
from orchestrator.sandbox.engine.containers import (
    STATES_TOKEN,
    Container,
    ContainerKind,
    ContainerSpec,
    Endpoint,
    Labels,
    StateMount,
)
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.engine.health import HealthProbe, wait_healthy
from orchestrator.sandbox.reset.state import GoldenState
from sites.manifest import ServerDatabase, Site

_PATIENCE = 4  # times the manifest's limit, while a container makes progress
SHARED = "shared"  # the slot label of a replica that all slots share


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """All it takes to start the same replica again.

    Attributes:
        image_id: the sealed image, by content.
        owner: the run it is for, or `up`.
        slot: index; None for a replica that all slots share.
        port: the host port of its HTTP port; None for a free one.
    """

    site: Site
    image_id: str
    golden: GoldenState
    owner: str
    slot: int | None = None
    port: int | None = None

    def spec(self) -> ContainerSpec:
        """Return what the engine is asked to run; every call gives another container name."""
        slot = SHARED if self.slot is None else str(self.slot)
        spec = container_spec(
            self.site,
            name=f"arena-{self.site.name}-{self.owner}-{slot}-{secrets.token_hex(3)}",
            image=self.image_id,
            labels={
                Labels.SITE: self.site.name,
                Labels.KIND: ContainerKind.REPLICA,
                Labels.OWNER: self.owner,
                Labels.SLOT: slot,
            },
            port=self.port,
        )
        if self.site.state is None:
            return spec
        # Not in `container_spec`: what is sealed becomes an image, with its environment.
        token = {STATES_TOKEN: secrets.token_hex(16)}
        return replace(spec, environment={**spec.environment, **token})


@dataclass(frozen=True, slots=True, kw_only=True)
class Replica:
    """One container of a site's sealed image.

    Attributes:
        endpoint: where its HTTP port is published.
        database: where its database port is published; None where the site has none, or
            keeps it in a file.
        supervisor: where its supervisor's port is published; None for an image without one.
    """

    placement: Placement
    container: Container
    endpoint: Endpoint
    database: Endpoint | None
    supervisor: Endpoint | None = None

    @property
    def site(self) -> Site:
        return self.placement.site

    @property
    def golden(self) -> str:
        """The digest that its fingerprint must equal after a reset."""
        return self.placement.golden.digest


def container_spec(
    site: Site, *, name: str, image: str, labels: Mapping[str, str], port: int | None = None
) -> ContainerSpec:
    """Return what the engine is asked to run for a site, under the limits of its manifest."""
    return ContainerSpec(
        name=name,
        image=image,
        labels=labels,
        ports=site.ports,
        fixed={} if port is None else {site.port: port},
        memory_mb=site.resources.memory_mb,
        cpus=site.resources.cpus,
        pids=site.resources.pids,
        read_only=site.state is not None,
        state=StateMount(site.state.folder, site.state.memory_mb) if site.state else None,
        command=site.container.command,
        environment=site.container.environment,
        capabilities=frozenset(one.name for one in site.container.capabilities),
        shm_mb=site.container.shm_mb,
    )


async def start_replica(engine: Engine, placement: Placement) -> Replica:
    """Start a container and wait until it serves; where that fails, nothing stays behind."""
    container = await engine.run(placement.spec())
    try:
        replica = as_replica(placement, container)
        await await_health(engine, replica)
    except BaseException:
        await asyncio.shield(engine.remove(container.id))
        raise
    return replica


async def await_health(engine: Engine, replica: Replica, timeout_s: float | None = None) -> float:
    """Wait for the page that proves application and database, and return the seconds it took.

    Without `timeout_s` the limit is the site's own, and longer while the container makes progress.
    """
    site = replica.site
    limit_s = site.health.timeout_s
    probe = HealthProbe(
        endpoint=replica.endpoint,
        host=site.host,
        path=site.health.path,
        contains=site.health.contains,
        timeout_s=limit_s if timeout_s is None else timeout_s,
        most_s=_PATIENCE * limit_s if timeout_s is None else None,
    )
    return await wait_healthy(engine, replica.container, probe)


def as_replica(placement: Placement, container: Container) -> Replica:
    site, database = placement.site, placement.site.database
    missing = [port for port in site.ports if port not in container.ports]
    if missing:
        message = (
            f"site '{site.name}': container {container.name} is {container.state}"
            f" and publishes no port {missing[0]}"
        )
        raise SiteGoneError(message, hint=f"docker logs {container.name}")
    return Replica(
        placement=placement,
        container=container,
        endpoint=container.ports[site.port],
        database=container.ports[database.port] if isinstance(database, ServerDatabase) else None,
        supervisor=container.ports[site.state.port] if site.state else None,
    )
