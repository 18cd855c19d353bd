"""Runs as Parquet: a folder with a file for each table."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, Self

from arena_core.errors import StoreError
from orchestrator.exports.columns import USD_DIGITS, USD_PLACES, Column, Kind, Row, Table
from orchestrator.exports.extras import extra
from orchestrator.exports.tables import EPISODES, TABLES, rows_of
from orchestrator.report.run_report import RunReport
from orchestrator.report.seams import Written

_GROUP: Final = 50_000  # rows that are held before they are written


class Parquet:
    """Writes typed columns with their meaning and unit as metadata of each field."""

    suffix = ""
    is_folder = True

    def export(self, runs: Sequence[RunReport], path: Path) -> Written:
        """Write a file for each table.

        Raises:
            PrerequisiteError: pyarrow is not installed.
            StoreError: they cannot be written, or evidence cannot be read.
        """
        arrow, parquet = (extra(name, "parquet") for name in ("pyarrow", "pyarrow.parquet"))
        try:
            path.mkdir()
            with ExitStack() as stack:
                writers = {
                    table.name: stack.enter_context(_Writer(arrow, parquet, table, path))
                    for table in TABLES
                }
                episodes = 0
                for found in rows_of(runs):
                    episodes += len(found[EPISODES.name])
                    for name, rows in found.items():
                        writers[name].add(rows)
        except OSError as cause:
            message = f"{path}: the tables cannot be written: {cause}"
            raise StoreError(message) from cause
        return Written(episodes=episodes)


class _Writer:
    """Writes the rows of one table, many at a time."""

    def __init__(self, arrow: Any, parquet: Any, table: Table, folder: Path) -> None:
        self._arrow = arrow
        self._schema = arrow.schema([_field(arrow, one) for one in table.columns])
        self._file = parquet.ParquetWriter(
            folder / f"{table.name}.parquet", self._schema, compression="zstd"
        )
        self._rows: list[Row] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._flush()
        finally:
            self._file.close()

    def add(self, rows: Sequence[Row]) -> None:
        """Add rows."""
        self._rows += rows
        if len(self._rows) >= _GROUP:
            self._flush()

    def _flush(self) -> None:
        if not self._rows:
            return
        arrays = [
            self._arrow.array(values, field.type)
            for values, field in zip(zip(*self._rows, strict=True), self._schema, strict=True)
        ]
        self._file.write_table(self._arrow.Table.from_arrays(arrays, schema=self._schema))
        self._rows.clear()


def _field(arrow: Any, column: Column) -> Any:
    types = {
        Kind.TEXT: arrow.string(),
        Kind.INTEGER: arrow.int64(),
        Kind.NUMBER: arrow.float64(),
        Kind.USD: arrow.decimal128(USD_DIGITS, USD_PLACES),
        Kind.FLAG: arrow.bool_(),
        Kind.TIME: arrow.timestamp("ms", tz="UTC"),
    }
    said = {"meaning": column.meaning} | ({"unit": column.unit} if column.unit else {})
    return arrow.field(column.name, types[column.kind], metadata=said)


PARQUET: Final = Parquet()
