"""The fingerprint of a running replica: tables through its read-only account, files inside it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from orchestrator.reset.files import read_files
from orchestrator.reset.state import FileState, Fingerprint, TableState
from orchestrator.together import together
from sites.errors import SiteError, SiteGoneError

if TYPE_CHECKING:
    from orchestrator.engine.containers import Container
    from orchestrator.engine.engine import Engine
    from sites.manifest import Site

__all__ = ["FileState", "Fingerprint", "TableState", "take_fingerprint"]

DEADLINE_S = 120.0


async def take_fingerprint(engine: Engine, site: Site, container: Container) -> Fingerprint:
    """Return the state of a running replica; tables and files are read at the same time.

    Raises:
        DatabaseError: a table could not be read.
        SiteError: a folder could not be read, or it took longer than two minutes.
        SiteGoneError: the container publishes no database port.
    """
    try:
        async with asyncio.timeout(DEADLINE_S), together() as group:
            files = group.create_task(read_files(engine, site, container.id))
            tables = group.create_task(_tables(site, container))
    except TimeoutError as cause:
        message = f"site '{site.name}': its fingerprint took longer than {DEADLINE_S:.0f} s"
        raise SiteError(message) from cause
    return Fingerprint(tables=tables.result(), files=files.result())


async def _tables(site: Site, container: Container) -> tuple[TableState, ...]:
    if site.database is None:
        return ()
    endpoint = container.ports.get(site.database.port)
    if endpoint is None:
        message = f"site '{site.name}': container {container.name} publishes no database port"
        raise SiteGoneError(message)
    from orchestrator.reset.tables import read_tables  # noqa: PLC0415  loads the database's client

    return await asyncio.to_thread(read_tables, site, endpoint)
