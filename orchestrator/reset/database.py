"""A read-only connection to a replica's database server, whatever its engine.

A database in a file has no connection: `sqlite` reads a copy of it.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, assert_never

from orchestrator.reset.query_result import DatabaseReader, no_server
from sites.manifest import DatabaseEngine, FileDatabase

if TYPE_CHECKING:
    from orchestrator.engine.containers import Endpoint
    from sites.manifest import Site


def reading(site: Site, endpoint: Endpoint) -> AbstractContextManager[DatabaseReader]:
    """Open a connection, and close it at the end of the block; blocking.

    Each engine's client is loaded where a site needs it.

    Raises:
        DatabaseError: the site has no server, it cannot be opened, or a statement failed.
    """
    if site.database is None or isinstance(site.database, FileDatabase):
        raise no_server(site)
    match site.database.engine:
        case DatabaseEngine.MARIADB:
            from orchestrator.reset import mariadb  # noqa: PLC0415

            return mariadb.opened(site, endpoint)
        case DatabaseEngine.POSTGRESQL:
            from orchestrator.reset import postgresql  # noqa: PLC0415

            return postgresql.opened(site, endpoint)
        case _:
            assert_never(site.database.engine)
