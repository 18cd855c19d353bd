"""Connections to a replica's database server, MariaDB or PostgreSQL: its accounts only read.

A database in a file has no connection: `sqlite` reads a copy of it. Each client library is loaded
where a site needs it. What its accounts may not do, the user that MariaDB runs as does inside the
container.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, Self, assert_never

from arena_core.errors import DatabaseError
from sites.manifest import DatabaseEngine, ServerDatabase

if TYPE_CHECKING:
    import psycopg
    import pymysql

    from orchestrator.sandbox.engine.containers import Endpoint, Executed
    from orchestrator.sandbox.engine.engine import Engine
    from orchestrator.sandbox.reset.replica import Replica
    from sites.manifest import Site

    Connection = pymysql.connections.Connection[pymysql.cursors.Cursor]

READ_TIMEOUT_S: Final = 60
_CONNECT_TIMEOUT_S: Final = 10
_POSTGRESQL_OPTIONS: Final = (
    "-c default_transaction_read_only=on -c TimeZone=UTC"
    f" -c statement_timeout={READ_TIMEOUT_S * 1000}"
)

Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What a query gave.

    Attributes:
        cut: whether there were more rows than asked for.
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    cut: bool = False

    @classmethod
    def upto(cls, limit: int | None, columns: tuple[str, ...], rows: Sequence[Row]) -> Self:
        """Return at most so many rows, or all; to tell whether there are more, one more is read."""
        kept = tuple(rows[:limit])
        return cls(columns=columns, rows=kept, cut=len(kept) < len(rows))


class DatabaseReader(Protocol):
    """An open connection to a database of any engine, which may only read."""

    def read(self, sql: str, limit: int | None = None) -> QueryResult:
        """Run one statement; read at most so many rows, or all."""
        ...


@contextmanager
def database_reader(site: Site, endpoint: Endpoint) -> Iterator[DatabaseReader]:
    """Open a connection, and close it at the end of the block; blocking."""
    engine = _server(site).engine
    match engine:
        case DatabaseEngine.MARIADB:
            with mariadb_connection(site, endpoint) as connection:
                yield _MariadbReader(connection)
        case DatabaseEngine.POSTGRESQL:
            with _postgresql_connection(site, endpoint) as postgresql:
                yield _PostgresqlReader(site, postgresql)
        case _:
            assert_never(engine)


def connect_mariadb(
    site: Site, endpoint: Endpoint, *, answer_s: int = READ_TIMEOUT_S, autocommit: bool = False
) -> Connection:
    """Open a connection to MariaDB that may only read; blocking, so it belongs into a thread.

    One statement a call: the protocol's multi-statement flag stays off. Times are in UTC.

    Args:
        answer_s: how long an answer may take, in seconds.
        autocommit: whether every statement sees the newest rows, outside any transaction.
    """
    import pymysql  # noqa: PLC0415
    from pymysql.constants import CLIENT  # noqa: PLC0415

    account = _server(site)
    if account.engine is not DatabaseEngine.MARIADB:
        raise DatabaseError(
            f"site '{site.name}': its database is of the engine '{account.engine}'; tables, rows"
            " and counters are only read from MariaDB",
            hint="say in fingerprint.probes what its state is",
        )
    try:
        return pymysql.connect(
            host=endpoint.host,
            port=endpoint.port,
            user=account.user,
            password=account.password,
            database=account.name,
            charset="utf8mb4",
            connect_timeout=_CONNECT_TIMEOUT_S,
            read_timeout=answer_s,
            client_flag=CLIENT.FOUND_ROWS,
            ssl_disabled=True,  # on loopback; loading the system's authorities takes 20 ms
            autocommit=autocommit,
            init_command="SET SESSION time_zone = '+00:00', tx_read_only = ON",
        )
    except (pymysql.MySQLError, OSError) as cause:
        raise _mariadb_error(site, "no connection", cause) from cause


@contextmanager
def mariadb_connection(site: Site, endpoint: Endpoint) -> Iterator[Connection]:
    connection = connect_mariadb(site, endpoint)
    try:
        with mariadb_errors(site):
            yield connection
    finally:
        connection.close()


@contextmanager
def mariadb_errors(site: Site) -> Iterator[None]:
    """Turn what the client raises inside the block into `DatabaseError`."""
    import pymysql  # noqa: PLC0415

    try:
        yield
    except (pymysql.MySQLError, OSError) as cause:
        raise _mariadb_error(site, "query failed", cause) from cause


def rows_of(connection: Connection, sql: str) -> tuple[Row, ...]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


async def execute_as_owner(
    engine: Engine, replica: Replica, sql: str, *options: str, timeout_s: float
) -> Executed:
    """Run statements in a replica's container as the user that its MariaDB server runs as.

    Args:
        options: of the client `mariadb`.
    """
    database = _server(replica.site)
    socket = await asyncio.to_thread(_socket_of, replica)
    client = ("mariadb", f"--socket={socket}", "--default-character-set=utf8mb4", "--batch")
    argv = (*client, *options, database.name, "--execute", sql)
    return await engine.execute(replica.container.id, argv, timeout_s=timeout_s)


def _socket_of(replica: Replica) -> object:
    if replica.database is None:
        raise DatabaseError(f"site '{replica.site.name}': its database is not published")
    with database_reader(replica.site, replica.database) as reader:
        return reader.read("SELECT @@socket").rows[0][0]


class _MariadbReader:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def read(self, sql: str, limit: int | None = None) -> QueryResult:
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            found = cursor.fetchall() if limit is None else cursor.fetchmany(limit + 1)
            columns = tuple(str(column[0]) for column in cursor.description or ())
        return QueryResult.upto(limit, columns, found)


class _PostgresqlReader:
    """Runs every statement in a transaction of its own."""

    def __init__(self, site: Site, connection: psycopg.Connection[Row]) -> None:
        self._site = site
        self._connection = connection

    def read(self, sql: str, limit: int | None = None) -> QueryResult:
        import psycopg  # noqa: PLC0415

        try:
            with self._connection.cursor() as cursor:
                # Prepared first: the server refuses to prepare more than one statement.
                cursor.execute(sql.encode(), prepare=True)
                if cursor.description is None:
                    return QueryResult(columns=(), rows=())
                found = cursor.fetchall() if limit is None else cursor.fetchmany(limit + 1)
                columns = tuple(column.name for column in cursor.description)
        except (psycopg.Error, OSError) as cause:
            raise _postgresql_error(self._site, "query failed", cause) from cause
        return QueryResult.upto(limit, columns, found)


@contextmanager
def _postgresql_connection(site: Site, endpoint: Endpoint) -> Iterator[psycopg.Connection[Row]]:
    import psycopg  # noqa: PLC0415

    account = _server(site)
    try:
        connection = psycopg.connect(
            host=endpoint.host,
            port=endpoint.port,
            user=account.user,
            password=account.password,
            dbname=account.name,
            connect_timeout=_CONNECT_TIMEOUT_S,
            sslmode="disable",  # on loopback
            gssencmode="disable",
            options=_POSTGRESQL_OPTIONS,
            autocommit=True,
        )
    except (psycopg.Error, OSError) as cause:
        raise _postgresql_error(site, "no connection", cause) from cause
    try:
        yield connection
    finally:
        connection.close()


def _server(site: Site) -> ServerDatabase:
    if not isinstance(site.database, ServerDatabase):
        raise DatabaseError(f"site '{site.name}' has no database server in its manifest")
    return site.database


def _mariadb_error(site: Site, what: str, cause: Exception) -> DatabaseError:
    detail = str(cause.args[-1]) if cause.args else str(cause)
    return DatabaseError(f"database of site '{site.name}': {what}: {detail}")


def _postgresql_error(site: Site, what: str, cause: Exception) -> DatabaseError:
    detail = " ".join(str(cause).split())
    return DatabaseError(f"database of site '{site.name}': {what}: {detail}")
