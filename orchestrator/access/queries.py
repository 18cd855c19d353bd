"""Read-only questions to a replica's database."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from arena_core.errors import DatabaseError, UsageError
from orchestrator.reset.replica import Replica
from sites.manifest import FileDatabase
from tasks.sql import reading_fault

if TYPE_CHECKING:
    from orchestrator.reset.query_result import QueryResult
    from orchestrator.reset.sqlite import DatabaseCopy
    from sites.manifest import DatabaseEngine, Site

DEADLINE_S = 60.0

Row = tuple[object, ...]


async def ask(replica: Replica, sql: str, limit: int | None = None) -> QueryResult:
    """Run one statement with the account and in a session that may only read.

    Args:
        replica: whose database.
        sql: the statement.
        limit: how many rows to read at most; None for all.

    Raises:
        DatabaseError: the site has no database, or the statement failed or took too long.
    """
    try:
        async with asyncio.timeout(DEADLINE_S):
            if isinstance(replica.site.database, FileDatabase):
                return await _ask_file(replica, replica.site.database, sql, limit)
            return await asyncio.to_thread(_ask, replica, sql, limit)
    except TimeoutError as cause:
        message = f"database of site '{replica.site.name}': no answer in {DEADLINE_S:.0f} s"
        raise DatabaseError(message) from cause


def require_one_reading(sql: str, engine: DatabaseEngine | None = None) -> None:
    """Refuse anything but one statement that reads, before a connection is made.

    The database refuses writes too; this is for the clear line.

    Args:
        sql: the text.
        engine: whose SQL it is; MariaDB's where it is not known.

    Raises:
        UsageError: it is not one SELECT, SHOW, DESCRIBE or EXPLAIN, or does more than read.
    """
    fault = reading_fault(sql, engine)
    if fault is not None:
        message = f"{fault}: the account is read-only"
        raise UsageError(message)


async def _ask_file(
    replica: Replica, database: FileDatabase, sql: str, limit: int | None
) -> QueryResult:
    """Ask a copy of the file: the container has no port to ask."""
    from orchestrator.engine.engine import Engine  # noqa: PLC0415  only such a site needs it
    from orchestrator.reset.sqlite import copy_database  # noqa: PLC0415

    async with await Engine.connect() as engine:
        copy = await copy_database(engine, replica.site, database, replica.container.id)
    return await asyncio.to_thread(_ask_copy, replica.site, copy, sql, limit)


def _ask_copy(site: Site, copy: DatabaseCopy, sql: str, limit: int | None) -> QueryResult:
    from orchestrator.reset.sqlite import SqliteReader, opened  # noqa: PLC0415

    with opened(site, copy) as connection:
        return SqliteReader(site, connection).read(sql, limit)


def _ask(replica: Replica, sql: str, limit: int | None) -> QueryResult:
    from orchestrator.reset.database import reading  # noqa: PLC0415  loads the database's client

    if replica.database is None:
        message = f"site '{replica.site.name}' has no database"
        raise DatabaseError(message)
    with reading(replica.site, replica.database) as reader:
        return reader.read(sql, limit)
