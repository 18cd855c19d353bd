"""The fingerprint of a running replica: database, files and probes, read at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, assert_never

from arena_core.errors import SiteError, SiteGoneError
from arena_core.task_group import task_group
from orchestrator.reset.files import read_files
from orchestrator.reset.probes import ask_pages
from orchestrator.reset.state import FileState, Fingerprint, ProbeState, TableState
from orchestrator.reset.supervision import Supervision
from sites.manifest import FileDatabase, ServerDatabase

if TYPE_CHECKING:
    from orchestrator.engine.containers import Container, Endpoint
    from orchestrator.engine.engine import Engine
    from orchestrator.reset.snapshot import Snapshot
    from sites.manifest import Site, StateFolder

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
        async with asyncio.timeout(DEADLINE_S), task_group() as group:
            files = group.create_task(_files(engine, site, container, supervision))
            scratch = group.create_task(_scratch(site, container, supervision))
            pages = group.create_task(_pages(site, container))
            database = group.create_task(_database(engine, site, container))
    except TimeoutError as cause:
        message = f"site '{site.name}': its fingerprint took longer than {DEADLINE_S:.0f} s"
        raise SiteError(message) from cause
    found = database.result()
    return Fingerprint(
        tables=found.tables if found else (),
        files=_without_database(site, files.result()),
        objects=found.objects if found else (),
        probes=(*(found.probes if found else ()), *pages.result()),
        scratch=scratch.result(),
    )


async def _files(
    engine: Engine, site: Site, container: Container, supervision: Supervision | None
) -> tuple[FileState, ...]:
    folders = site.fingerprint.files
    if not folders:
        return ()
    if site.state is None:
        return await read_files(engine, site, container.id)
    async with _opened(site, site.state, container, supervision) as opened:
        return await opened.files(folders)


async def _scratch(
    site: Site, container: Container, supervision: Supervision | None
) -> tuple[FileState, ...]:
    if site.state is None:
        return ()
    async with _opened(site, site.state, container, supervision) as opened:
        return await opened.scratch()


@asynccontextmanager
async def _opened(
    site: Site, state: StateFolder, container: Container, known: Supervision | None
) -> AsyncIterator[Supervision]:
    """Give the connection that is open, or one for as long as it is wanted."""
    if known is not None:
        yield known
        return
    supervision = await Supervision.open(_published(site, container, state.port), state.folder)
    try:
        yield supervision
    finally:
        await supervision.close()


async def _pages(site: Site, container: Container) -> tuple[ProbeState, ...]:
    if all(probe.page is None for probe in site.fingerprint.probes):
        return ()
    return await asyncio.to_thread(ask_pages, site, _published(site, container, site.port))


async def _database(engine: Engine, site: Site, container: Container) -> Snapshot | None:
    match site.database:
        case None:
            return None
        case FileDatabase() as database:
            from orchestrator.reset.snapshot import read_copy  # noqa: PLC0415  as below
            from orchestrator.reset.sqlite import copy_database  # noqa: PLC0415

            copy = await copy_database(engine, site, database, container.id)
            return await asyncio.to_thread(read_copy, site, copy)
        case ServerDatabase() as database:
            endpoint = _published(site, container, database.port)
            from orchestrator.reset.snapshot import read_snapshot  # noqa: PLC0415  loads clients

            return await asyncio.to_thread(read_snapshot, site, database, endpoint)
        case _:
            assert_never(site.database)


def _without_database(site: Site, files: tuple[FileState, ...]) -> tuple[FileState, ...]:
    """Leave out the files whose content is read as rows: bytes may differ where no row does."""
    if not isinstance(site.database, FileDatabase):
        return files
    own = frozenset(site.database.own_files)
    return tuple(entry for entry in files if entry.path not in own)


def _published(site: Site, container: Container, port: int) -> Endpoint:
    endpoint = container.ports.get(port)
    if endpoint is None:
        message = f"site '{site.name}': container {container.name} publishes no port {port}"
        raise SiteGoneError(message)
    return endpoint
