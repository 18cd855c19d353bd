"""The fingerprint of a running replica: database, files and probes, read at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from orchestrator.reset.files import read_files
from orchestrator.reset.probes import ask_pages
from orchestrator.reset.state import FileState, Fingerprint, ProbeState, TableState
from orchestrator.reset.supervision import Supervision
from orchestrator.together import together
from sites.errors import SiteError, SiteGoneError

if TYPE_CHECKING:
    from orchestrator.engine.containers import Container
    from orchestrator.engine.endpoints import Endpoint
    from orchestrator.engine.engine import Engine
    from orchestrator.reset.snapshot import Snapshot
    from sites.manifest import Site

__all__ = ["FileState", "Fingerprint", "TableState", "take_fingerprint"]

DEADLINE_S = 120.0


async def take_fingerprint(
    engine: Engine,
    site: Site,
    container: Container,
    *,
    supervision: Supervision | None = None,
) -> Fingerprint:
    """Return the state of a running replica.

    Args:
        engine: the engine that runs it.
        site: its manifest.
        container: where it runs.
        supervision: a connection to its supervisor, where one is open already.

    Raises:
        DatabaseError: a table could not be read.
        SiteError: a folder or a probe could not be read, or it took longer than two minutes.
        SiteGoneError: the container does not publish the ports of its manifest.
    """
    try:
        async with asyncio.timeout(DEADLINE_S), together() as group:
            files = group.create_task(_files(engine, site, container, supervision))
            pages = group.create_task(_pages(site, container))
            database = group.create_task(_database(site, container))
    except TimeoutError as cause:
        message = f"site '{site.name}': its fingerprint took longer than {DEADLINE_S:.0f} s"
        raise SiteError(message) from cause
    found = database.result()
    return Fingerprint(
        tables=found.tables if found else (),
        files=files.result(),
        objects=found.objects if found else (),
        probes=(*(found.probes if found else ()), *pages.result()),
    )


async def _files(
    engine: Engine, site: Site, container: Container, supervision: Supervision | None
) -> tuple[FileState, ...]:
    folders = site.fingerprint.files
    if not folders:
        return ()
    if site.state is None:
        return await read_files(engine, site, container.id)
    if supervision is not None:
        return await supervision.files(folders)
    endpoint = _published(site, container, site.state.port)
    async with _opened(endpoint, site.state.folder) as opened:
        return await opened.files(folders)


@asynccontextmanager
async def _opened(endpoint: Endpoint, folder: str) -> AsyncIterator[Supervision]:
    supervision = await Supervision.open(endpoint, folder)
    try:
        yield supervision
    finally:
        await supervision.close()


async def _pages(site: Site, container: Container) -> tuple[ProbeState, ...]:
    if all(probe.page is None for probe in site.fingerprint.probes):
        return ()
    return await asyncio.to_thread(ask_pages, site, _published(site, container, site.port))


async def _database(site: Site, container: Container) -> Snapshot | None:
    if site.database is None:
        return None
    endpoint = _published(site, container, site.database.port)
    from orchestrator.reset.snapshot import read_snapshot  # noqa: PLC0415  loads the client

    return await asyncio.to_thread(read_snapshot, site, site.database, endpoint)


def _published(site: Site, container: Container, port: int) -> Endpoint:
    endpoint = container.ports.get(port)
    if endpoint is None:
        message = f"site '{site.name}': container {container.name} publishes no port {port}"
        raise SiteGoneError(message)
    return endpoint
