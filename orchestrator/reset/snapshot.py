"""The state of a whole database, read over two connections at the same time."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, assert_never

from orchestrator.reset.database import reading
from orchestrator.reset.mariadb import Connection, connected, rows_of
from orchestrator.reset.objects import read_objects
from orchestrator.reset.probes import ask_database
from orchestrator.reset.sqlite import DatabaseCopy, SqliteReader, opened
from orchestrator.reset.sqlite_tables import read_objects as read_sqlite_objects
from orchestrator.reset.sqlite_tables import read_tables
from orchestrator.reset.state import ObjectState, ProbeState, TableState
from orchestrator.reset.tables import TablePlan, definitions, plans, table_state
from sites.manifest import DatabaseEngine

if TYPE_CHECKING:
    from orchestrator.engine.containers import Endpoint
    from sites.manifest import ServerDatabase, Site


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a fingerprint holds of a database."""

    tables: tuple[TableState, ...] = ()
    objects: tuple[ObjectState, ...] = ()
    probes: tuple[ProbeState, ...] = ()


def read_snapshot(site: Site, database: ServerDatabase, endpoint: Endpoint) -> Snapshot:
    """Return the state of a database; blocking: of MariaDB all, of PostgreSQL what probes ask for.

    Raises:
        DatabaseError: naming the table that could not be read.
    """
    match database.engine:
        case DatabaseEngine.MARIADB:
            return _whole(site, endpoint)
        case DatabaseEngine.POSTGRESQL:
            with reading(site, endpoint) as reader:
                asked = ask_database(lambda sql: reader.read(sql).rows, site.fingerprint.probes)
            return Snapshot(probes=asked)
        case _:
            assert_never(database.engine)


def read_copy(site: Site, copy: DatabaseCopy) -> Snapshot:
    """Return the whole state of a SQLite database; blocking.

    Raises:
        DatabaseError: it cannot be read.
    """
    with opened(site, copy) as connection:
        tables = read_tables(connection, site.fingerprint)
        reader = SqliteReader(site, connection)
        return Snapshot(
            tables=tuple(table.state(connection) for table in tables),
            objects=read_sqlite_objects(connection),
            probes=ask_database(lambda sql: reader.read(sql).rows, site.fingerprint.probes),
        )


def _whole(site: Site, endpoint: Endpoint) -> Snapshot:
    """Return the state of every table that is not volatile, of objects and probes; blocking.

    The work is the database's: two connections keep two cores of it busy. Each sees its tables as
    of one moment; the two moments are a millisecond apart, so whoever must know that nothing was
    written between them compares the counters of before and after (`Watch.prove`).

    Raises:
        DatabaseError: naming the table that could not be read.
    """
    with (
        connected(site, endpoint) as first,
        connected(site, endpoint) as second,
        ThreadPoolExecutor(2, thread_name_prefix="arena-snapshot") as threads,
    ):
        for connection in (first, second):
            connection.query("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
        aside = threads.submit(_aside, second, site)
        work: SimpleQueue[TablePlan] = SimpleQueue()
        for plan in plans(first, site.fingerprint):
            work.put(plan)
        defined, objects, probes = aside.result()
        reading = [threads.submit(_read, one, work, defined) for one in (first, second)]
        tables = [table for done in reading for table in done.result()]
    return Snapshot(tuple(sorted(tables, key=lambda table: table.name)), objects, probes)


def _aside(
    connection: Connection, site: Site
) -> tuple[Mapping[str, str], tuple[ObjectState, ...], tuple[ProbeState, ...]]:
    """Read everything but the contents of the tables."""
    defined = definitions(connection)
    objects = read_objects(connection)
    return defined, objects, ask_database(partial(rows_of, connection), site.fingerprint.probes)


def _read(
    connection: Connection, work: SimpleQueue[TablePlan], defined: Mapping[str, str]
) -> list[TableState]:
    """Read table after table until none is left."""
    done: list[TableState] = []
    while True:
        try:
            plan = work.get_nowait()
        except Empty:
            return done
        done.append(table_state(connection, plan, defined.get(plan.name, "")))
