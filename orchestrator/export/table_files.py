"""Runs as files of rows: CSV, Parquet, JSON Lines."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from arena_core.errors import StoreError
from arena_core.extras import extra
from orchestrator.analysis.run_report.extension_points import Written
from orchestrator.analysis.run_report.run_report import RunReport
from orchestrator.analysis.run_report.tables import (
    EPISODES,
    TABLES,
    USD_DIGITS,
    USD_PLACES,
    Column,
    Kind,
    Row,
    Table,
    Value,
    rows_of,
)

AddRows = Callable[[Sequence[Row]], None]

_GROUP: Final = 50_000  # rows that are held before they are written


class TableFiles(ABC):
    """A folder with a file for each table."""

    suffix = ""
    is_folder = True

    def export(self, runs: Sequence[RunReport], path: Path) -> Written:
        """Write a file for each table."""
        try:
            path.mkdir()
            with ExitStack() as stack:
                add = {
                    table.name: stack.enter_context(self.open_table(table, path))
                    for table in TABLES
                }
                episodes = 0
                for found in rows_of(runs):
                    episodes += len(found[EPISODES.name])
                    for name, rows in found.items():
                        add[name](rows)
        except OSError as cause:
            message = f"{path}: the tables cannot be written: {cause.strerror or cause}"
            raise StoreError(message) from cause
        return Written(episodes=episodes)

    @abstractmethod
    def open_table(self, table: Table, folder: Path) -> AbstractContextManager[AddRows]:
        """Open the file of a table; it is whole when the block ends."""


class CsvFiles(TableFiles):
    """Writes RFC 4180 with LF between the lines: text in quotes, and empty where there is no value.

    So an empty text (`""`) and none are told apart. A NUL, which few readers take, becomes `␀`.
    """

    @contextmanager
    def open_table(self, table: Table, folder: Path) -> Iterator[AddRows]:
        path = folder / f"{table.name}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            file.write(",".join(column.name for column in table.columns) + "\n")
            yield lambda rows: file.writelines(map(_csv_line, rows))


def _csv_line(row: Row) -> str:
    return ",".join(map(_csv_field, row)) + "\n"


def _csv_field(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace('"', '""').replace("\0", "␀") + '"'
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%S.") + f"{value.microsecond // 1000:03}Z"
    return f"{value:f}" if isinstance(value, Decimal) else repr(value)


CSV: Final = CsvFiles()


class Parquet(TableFiles):
    """Writes typed columns with their meaning and unit as metadata of each field."""

    @contextmanager
    def open_table(self, table: Table, folder: Path) -> Iterator[AddRows]:
        arrow, parquet = extra("pyarrow", "parquet"), extra("pyarrow.parquet", "parquet")
        schema = arrow.schema([_arrow_field(arrow, one) for one in table.columns])
        path, held = folder / f"{table.name}.parquet", list[Row]()

        def flush() -> None:
            columns = zip(*held, strict=True)
            arrays = [arrow.array(one, to.type) for one, to in zip(columns, schema, strict=True)]
            file.write_table(arrow.Table.from_arrays(arrays, schema=schema))
            held.clear()

        def add(rows: Sequence[Row]) -> None:
            held.extend(rows)
            if len(held) >= _GROUP:
                flush()

        with parquet.ParquetWriter(path, schema, compression="zstd") as file:
            yield add
            if held:
                flush()


def _arrow_field(arrow: Any, column: Column) -> Any:
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


class JsonLines:
    """Writes the documents of `arena score --json`, with the run's id and agent in each."""

    suffix = "jsonl"
    is_folder = False

    def export(self, runs: Sequence[RunReport], path: Path) -> Written:
        """Write one line an episode, run by run in the order of their reports."""
        lines = [line for report in runs for line in _json_lines(report)]
        try:
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        except OSError as cause:
            raise StoreError(f"{path}: the export cannot be written: {cause.strerror}") from cause
        return Written(episodes=len(lines))


def _json_lines(report: RunReport) -> list[str]:
    lock = report.lock
    return [
        json.dumps(
            {"run": lock.run, "suite": lock.suite, "agent": lock.agent.name, **one.document()},
            ensure_ascii=False,
        )
        for one in report.episodes
    ]


JSON_LINES: Final = JsonLines()
