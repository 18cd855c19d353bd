"""The rows that a replica has now: hashed and read to compare, or packed with an image or state."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from arena_core.errors import DatabaseError, SiteError, SiteGoneError, StateError
from orchestrator.sandbox.delta.golden_rows import BATCH, SCHEMA
from orchestrator.sandbox.delta.shapes import ColumnShape, TableShape, read_shapes
from orchestrator.sandbox.reset.database import mariadb_connection
from orchestrator.sandbox.reset.snapshot import quoted
from orchestrator.sandbox.reset.sqlite import (
    HASH_LENGTH,
    DatabaseCopy,
    SqliteTable,
    copy_database,
    opened,
    read_tables,
)
from orchestrator.sandbox.reset.taking import take_marked_state
from sites.manifest import DatabaseEngine, FileDatabase

if TYPE_CHECKING:
    from orchestrator.sandbox.delta.comparison import Differing
    from orchestrator.sandbox.delta.golden_rows import Cells
    from orchestrator.sandbox.engine.containers import Container, Endpoint
    from orchestrator.sandbox.engine.engine import Engine
    from orchestrator.sandbox.reset.database import Connection
    from orchestrator.sandbox.reset.state import TakenState
    from orchestrator.sandbox.reset.watch import Mark, Watch
    from sites.manifest import FingerprintProbes, Site


class MariadbRows:
    """What one connection sees, in one snapshot; see `PresentRows`."""

    def __init__(self, connection: Connection, probes: FingerprintProbes) -> None:
        with connection.cursor() as cursor:
            cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
        self._connection = connection
        self._probes = probes

    def shapes(self, names: Iterable[str] | None) -> tuple[TableShape, ...]:
        return read_shapes(self._connection, self._probes, names)

    def entries(self, shape: TableShape) -> Iterator[str]:
        for (entry,) in _select(self._connection, shape, shape.entry_sql):
            yield str(entry)

    def values(self, shape: TableShape) -> Iterator[Cells]:
        values = ", ".join(column.text_sql for column in shape.columns)
        yield from _select(self._connection, shape, values)

    def fetched(self, shape: TableShape, wanted: Sequence[Differing]) -> Mapping[str, Cells]:
        if not wanted:
            return {}
        values = ", ".join((shape.entry_sql, *(column.text_sql for column in shape.columns)))
        where = _where(self._connection, shape, wanted)
        rows = _select(self._connection, shape, values, where)
        found = {str(entry): tuple(cells) for entry, *cells in rows}
        lost = next((one for one in wanted if one.after not in found), None)
        if lost is not None:
            name = lost.key or lost.after
            raise DatabaseError(f"table {shape.name}: row {name} differs but cannot be found")
        return found


def _where(connection: Connection, shape: TableShape, wanted: Sequence[Differing]) -> str:
    """Return the condition that finds rows: by key where that is sure, or else by hash."""
    column = shape.lookup
    if column is None:
        hashes = {one.after[:HASH_LENGTH] for one in wanted if one.after is not None}
        return f" WHERE {shape.hash_sql} IN ({', '.join(map(connection.escape, hashes))})"
    keys = ", ".join(_literal(connection, column, one.key) for one in wanted)
    return f" WHERE {quoted(column.name)} IN ({keys})"


def _literal(connection: Connection, column: ColumnShape, text: str) -> str:
    """Write a key's value; a number without quotes, so that the index is used."""
    is_whole = column.kind.endswith("int") and text.removeprefix("-").isdecimal()
    return text if is_whole else str(connection.escape(text))


def _select(
    connection: Connection, shape: TableShape, values: str, where: str = ""
) -> tuple[tuple[str | None, ...], ...]:
    with connection.cursor() as cursor:
        # Names come quoted from the database's own catalogue, values escaped.
        cursor.execute(f"SELECT {values} FROM {quoted(shape.name)}{where}")  # noqa: S608
        return cursor.fetchall()


class SqliteRows:
    """What an open copy holds; see `PresentRows`."""

    def __init__(self, connection: sqlite3.Connection, probes: FingerprintProbes) -> None:
        self._connection = connection
        self._tables = {table.name: table for table in read_tables(connection, probes)}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tables)

    def shapes(self, names: Iterable[str]) -> tuple[TableShape, ...]:
        wanted = frozenset(names)
        return tuple(
            _shape(table) for name, table in sorted(self._tables.items()) if name in wanted
        )

    def rows(self, shape: TableShape) -> Iterator[tuple[str, Cells]]:
        """Yield entry and values of each row; of a shape with fewer columns, these alone."""
        table = self._tables[shape.name]
        columns = tuple((column.name, column.kind) for column in shape.columns)
        yield from replace(table, columns=columns, key=shape.key).rows(self._connection)

    def entries(self, shape: TableShape) -> Iterator[str]:
        return (entry for entry, _ in self.rows(shape))

    def values(self, shape: TableShape) -> Iterator[Cells]:
        return (cells for _, cells in self.rows(shape))

    def fetched(self, shape: TableShape, wanted: Sequence[Differing]) -> Mapping[str, Cells]:
        entries = frozenset(one.after for one in wanted)
        return {entry: cells for entry, cells in self.rows(shape) if entry in entries}


def _shape(table: SqliteTable) -> TableShape:
    return TableShape(
        name=table.name,
        columns=tuple(ColumnShape(name, kind) for name, kind in table.columns),
        key=table.key,
        definition=table.definition,
    )


_PACKING_S: Final = 300.0


async def pack_rows(
    engine: Engine,
    site: Site,
    container: Container,
    into: Path,
    names: frozenset[str] | None = None,
) -> bool:
    """Write the rows of every table of a running replica that is state into a file.

    Args:
        container: read in one snapshot.
        into: a path where no file is.
        names: of the tables; all where omitted.

    Returns:
        Whether there are rows at all: the site has a database whose tables are read.
    """
    database = site.database
    if database is None or database.engine is DatabaseEngine.POSTGRESQL:
        return False
    try:
        async with asyncio.timeout(_PACKING_S):
            if isinstance(database, FileDatabase):
                copy = await copy_database(engine, site, database, container.id)
                await asyncio.to_thread(_pack_copy, site, copy, into, names)
            else:
                endpoint = _published(site, container, database.port)
                await asyncio.to_thread(_pack, site, endpoint, into, names)
    except TimeoutError as cause:
        message = f"site '{site.name}': reading its rows took longer than {_PACKING_S:.0f} s"
        raise SiteError(message) from cause
    return True


async def take_state_with_rows(engine: Engine, watch: Watch) -> TakenState:
    """Take a replica's state, with the rows in which it differs from golden."""
    taken, mark = await take_marked_state(engine, watch)
    replica = watch.replica
    golden = await replica.placement.golden.parts()
    before = {table.name: table for table in golden.tables}
    changed = frozenset(
        table.name for table in taken.fingerprint.tables if before.get(table.name) != table
    )
    if not changed:
        return taken
    with tempfile.TemporaryDirectory(prefix="arena-rows-") as folder:
        path = Path(folder) / "rows"
        await pack_rows(engine, replica.site, replica.container, path, changed)
        rows = path.read_bytes()
    if not await _still_is(watch, taken, mark):
        raise StateError(f"site '{replica.site.name}' was written to while its rows were read")
    return replace(taken, rows=rows)


async def _still_is(watch: Watch, taken: TakenState, mark: Mark) -> bool:
    """Whether a replica is in a state yet; read anew only where something moved since."""
    now = await watch.mark()
    if now is not None and now.moved_since(mark) is None:
        return True
    return not (await watch.prove()).differences(taken.fingerprint)


def _published(site: Site, container: Container, port: int) -> Endpoint:
    endpoint = container.ports.get(port)
    if endpoint is None:
        message = f"site '{site.name}': container {container.name} publishes no database port"
        raise SiteGoneError(message)
    return endpoint


def _pack(site: Site, endpoint: Endpoint, into: Path, names: frozenset[str] | None) -> None:
    with mariadb_connection(site, endpoint) as connection:
        shapes = MariadbRows(connection, site.fingerprint).shapes(names)
        _write(into, ((shape, _rows(connection, shape)) for shape in shapes))


def _pack_copy(site: Site, copy: DatabaseCopy, into: Path, names: frozenset[str] | None) -> None:
    with opened(site, copy) as connection:
        rows = SqliteRows(connection, site.fingerprint)
        shapes = rows.shapes(rows.names if names is None else names)
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
        while batch := cursor.fetchmany(BATCH):
            for entry, *values in batch:
                yield _as_row((entry, values))
