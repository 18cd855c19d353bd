"""The rows that an image is sealed with, written to a file that travels inside it."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Final, cast

from arena_core.errors import SiteError, SiteGoneError
from orchestrator.delta.golden_rows import SCHEMA
from orchestrator.delta.sqlite_rows import SqliteRows
from orchestrator.reset.sqlite import DatabaseCopy, copy_database, opened
from orchestrator.reset.tables import quoted
from sites.manifest import DatabaseEngine, FileDatabase

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.delta.shapes import TableShape
    from orchestrator.engine.containers import Container, Endpoint
    from orchestrator.engine.engine import Engine
    from orchestrator.reset.mariadb import Connection
    from sites.manifest import Site

DEADLINE_S: Final = 300.0
_BATCH: Final = 2000


async def pack_rows(engine: Engine, site: Site, container: Container, into: Path) -> bool:
    """Write the rows of every table of a running replica that is state into a file.

    Args:
        engine: the engine that runs it.
        site: its manifest says what is volatile.
        container: read in one snapshot.
        into: a path where no file is.

    Returns:
        Whether there are rows at all: the site has a database whose tables are read.

    Raises:
        DatabaseError: a table could not be read.
        SiteGoneError: the container publishes no database port.
        SiteError: it took longer than five minutes.
    """
    database = site.database
    if database is None or database.engine is DatabaseEngine.POSTGRESQL:
        return False
    try:
        async with asyncio.timeout(DEADLINE_S):
            if isinstance(database, FileDatabase):
                copy = await copy_database(engine, site, database, container.id)
                await asyncio.to_thread(_pack_copy, site, copy, into)
            else:
                endpoint = _published(site, container, database.port)
                await asyncio.to_thread(_pack, site, endpoint, into)
    except TimeoutError as cause:
        message = f"site '{site.name}': reading its rows took longer than {DEADLINE_S:.0f} s"
        raise SiteError(message) from cause
    return True


def _published(site: Site, container: Container, port: int) -> Endpoint:
    endpoint = container.ports.get(port)
    if endpoint is None:
        message = f"site '{site.name}': container {container.name} publishes no database port"
        raise SiteGoneError(message)
    return endpoint


def _pack(site: Site, endpoint: Endpoint, into: Path) -> None:
    from orchestrator.delta.shapes import read_shapes  # noqa: PLC0415  loads the database's client
    from orchestrator.reset.mariadb import connected  # noqa: PLC0415

    with connected(site, endpoint) as connection:
        with connection.cursor() as cursor:
            cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
        shapes = read_shapes(connection, site.fingerprint)
        _write(into, ((shape, _rows(connection, shape)) for shape in shapes))


def _pack_copy(site: Site, copy: DatabaseCopy, into: Path) -> None:
    with opened(site, copy) as connection:
        rows = SqliteRows(connection, site.fingerprint)
        shapes = rows.shapes(rows.names)
        _write(into, ((shape, map(_as_row, rows.rows(shape))) for shape in shapes))


def _write(into: Path, tables: Iterable[tuple[TableShape, Iterable[tuple[str, str]]]]) -> None:
    with closing(sqlite3.connect(into)) as packed:
        packed.executescript(SCHEMA)
        last = 0
        for shape, rows in tables:
            first = last + 1
            packed.executemany("INSERT INTO row (entry, cells) VALUES (?, ?)", rows)
            last = cast("int", packed.execute("SELECT IFNULL(MAX(id), 0) FROM row").fetchone()[0])
            packed.execute(
                "INSERT INTO shape VALUES (?, ?, ?, ?, ?, ?)", (*_described(shape), first, last)
            )
        packed.commit()


def _as_row(row: tuple[str, Sequence[str | None]]) -> tuple[str, str]:
    entry, cells = row
    return entry, json.dumps(cells, ensure_ascii=False, separators=(",", ":"))


def _described(shape: TableShape) -> tuple[str, str, str, str]:
    columns = json.dumps([[column.name, column.kind] for column in shape.columns])
    return shape.name, columns, json.dumps(shape.key), shape.definition


def _rows(connection: Connection, shape: TableShape) -> Iterator[tuple[str, str]]:
    """Yield entry and cells of each row, in batches, so that no table must fit into memory."""
    from pymysql.cursors import SSCursor  # noqa: PLC0415

    columns = "".join(f", {column.text_sql}" for column in shape.columns)
    order = ", ".join(quoted(name) for name in shape.key) or "1"
    with connection.cursor(SSCursor) as cursor:
        cursor.execute(
            f"SELECT {shape.entry_sql}{columns} FROM {quoted(shape.name)} ORDER BY {order}"  # noqa: S608
        )  # names come quoted from the database's own catalogue
        while batch := cursor.fetchmany(_BATCH):
            for entry, *values in batch:
                yield _as_row((entry, values))
