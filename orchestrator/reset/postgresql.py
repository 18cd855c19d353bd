"""Read-only connections to a replica's PostgreSQL, with every failure named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg

from arena_core.errors import DatabaseError
from orchestrator.reset.query_result import (
    CONNECT_TIMEOUT_S,
    READ_TIMEOUT_S,
    QueryResult,
    no_server,
)
from sites.manifest import ServerDatabase

if TYPE_CHECKING:
    from orchestrator.engine.containers import Endpoint
    from orchestrator.reset.query_result import Row
    from sites.manifest import Site

_OPTIONS = (
    "-c default_transaction_read_only=on -c TimeZone=UTC"
    f" -c statement_timeout={READ_TIMEOUT_S * 1000}"
)


class PostgresqlReader:
    """One connection, every statement in a transaction of its own that may only read."""

    def __init__(self, site: Site, connection: psycopg.Connection[Row]) -> None:
        self._site = site
        self._connection = connection

    def read(self, sql: str, limit: int | None = None) -> QueryResult:
        """Run one statement; see `DatabaseReader`.

        It is prepared first: the server refuses to prepare more than one statement.
        """
        try:
            with self._connection.cursor() as cursor:
                cursor.execute(sql.encode(), prepare=True)
                if cursor.description is None:
                    return QueryResult(columns=(), rows=())
                found = cursor.fetchall() if limit is None else cursor.fetchmany(limit + 1)
                columns = tuple(column.name for column in cursor.description)
        except (psycopg.Error, OSError) as cause:
            raise _database_error(self._site, "query failed", cause) from cause
        kept = tuple(found[:limit])
        return QueryResult(columns=columns, rows=kept, cut=len(kept) < len(found))


@contextmanager
def opened(site: Site, endpoint: Endpoint) -> Iterator[PostgresqlReader]:
    """Open a connection that may only read, and close it at the end of the block; blocking.

    Raises:
        DatabaseError: the site has no database, or it cannot be opened.
    """
    account = site.database
    if not isinstance(account, ServerDatabase):
        raise no_server(site)
    try:
        connection = psycopg.connect(
            host=endpoint.host,
            port=endpoint.port,
            user=account.user,
            password=account.password,
            dbname=account.name,
            connect_timeout=CONNECT_TIMEOUT_S,
            sslmode="disable",  # on loopback
            gssencmode="disable",
            options=_OPTIONS,
            autocommit=True,
        )
    except (psycopg.Error, OSError) as cause:
        raise _database_error(site, "no connection", cause) from cause
    try:
        yield PostgresqlReader(site, connection)
    finally:
        connection.close()


def _database_error(site: Site, what: str, cause: Exception) -> DatabaseError:
    detail = " ".join(str(cause).split())
    return DatabaseError(f"database of site '{site.name}': {what}: {detail}")
