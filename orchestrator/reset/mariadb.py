"""Read-only connections to a replica's MariaDB, with every failure named.

`opened` is one engine among others, see `database`; `connect` and `connected` are for what only
MariaDB can tell: tables with their checksums, counters, rows to compare.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pymysql
from pymysql.constants import CLIENT

from arena_core.errors import DatabaseError
from orchestrator.reset.query_result import (
    CONNECT_TIMEOUT_S,
    READ_TIMEOUT_S,
    QueryResult,
    Row,
    no_server,
)
from sites.manifest import DatabaseEngine, FileDatabase

if TYPE_CHECKING:
    from orchestrator.engine.containers import Endpoint
    from sites.manifest import Site

    Connection = pymysql.connections.Connection[pymysql.cursors.Cursor]
else:
    Connection = pymysql.connections.Connection  # generic in the type stubs only


class MariadbReader:
    """One connection that may only read."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def read(self, sql: str, limit: int | None = None) -> QueryResult:
        """Run one statement; see `DatabaseReader`."""
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            found = cursor.fetchall() if limit is None else cursor.fetchmany(limit + 1)
            columns = tuple(str(column[0]) for column in cursor.description or ())
        kept = tuple(found[:limit])
        return QueryResult(columns=columns, rows=kept, cut=len(kept) < len(found))


def connect(
    site: Site, endpoint: Endpoint, *, answer_s: int = READ_TIMEOUT_S, autocommit: bool = False
) -> Connection:
    """Open a connection to MariaDB that may only read; blocking, so it belongs into a thread.

    One statement a call: the protocol's multi-statement flag stays off. Times are in UTC.

    Args:
        site: whose database.
        endpoint: where it is reached.
        answer_s: how long an answer may take, in seconds.
        autocommit: whether every statement sees the newest rows, outside any transaction.

    Raises:
        DatabaseError: it cannot be opened, or is of another engine.
    """
    if site.database is None or isinstance(site.database, FileDatabase):
        raise no_server(site)
    account = site.database
    if account.engine is not DatabaseEngine.MARIADB:
        message = (
            f"site '{site.name}': its database is of the engine '{account.engine}'; tables, rows"
            " and counters are only read from MariaDB"
        )
        raise DatabaseError(message, hint="say in fingerprint.probes what its state is")
    try:
        return pymysql.connect(
            host=endpoint.host,
            port=endpoint.port,
            user=account.user,
            password=account.password,
            database=account.name,
            charset="utf8mb4",
            connect_timeout=CONNECT_TIMEOUT_S,
            read_timeout=answer_s,
            client_flag=CLIENT.FOUND_ROWS,
            ssl_disabled=True,  # on loopback; loading the system's authorities takes 20 ms
            autocommit=autocommit,
            init_command="SET SESSION time_zone = '+00:00', tx_read_only = ON",
        )
    except (pymysql.MySQLError, OSError) as cause:
        raise _database_error(site, "no connection", cause) from cause


@contextmanager
def connected(site: Site, endpoint: Endpoint) -> Iterator[Connection]:
    """Open a connection as `connect` does, and close it at the end of the block.

    Raises:
        DatabaseError: it cannot be opened, or a statement inside the block failed.
    """
    connection = connect(site, endpoint)
    try:
        with asking(site):
            yield connection
    finally:
        connection.close()


@contextmanager
def opened(site: Site, endpoint: Endpoint) -> Iterator[MariadbReader]:
    """Open a connection that may only read, and close it at the end of the block; blocking.

    Raises:
        DatabaseError: it cannot be opened, or a statement inside the block failed.
    """
    with connected(site, endpoint) as connection:
        yield MariadbReader(connection)


@contextmanager
def asking(site: Site) -> Iterator[None]:
    """Turn what the client raises inside the block into `DatabaseError`."""
    try:
        yield
    except (pymysql.MySQLError, OSError) as cause:
        raise _database_error(site, "query failed", cause) from cause


def rows_of(connection: Connection, sql: str) -> tuple[Row, ...]:
    """Run one statement and return all its rows."""
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


def _database_error(site: Site, what: str, cause: Exception) -> DatabaseError:
    detail = str(cause.args[-1]) if cause.args else str(cause)
    return DatabaseError(f"database of site '{site.name}': {what}: {detail}")
