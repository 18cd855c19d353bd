"""Runs as CSV: a folder with a file for each table."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Final, TextIO

from arena_core.errors import StoreError
from orchestrator.exports.columns import Row, Value
from orchestrator.exports.tables import EPISODES, TABLES, rows_of
from orchestrator.report.run_report import RunReport
from orchestrator.report.seams import Written


class CsvFiles:
    """Writes RFC 4180 with LF between the lines: text in quotes, and empty where there is no value.

    So an empty text (`""`) and none are told apart. A NUL, which few readers take, becomes `␀`.
    """

    suffix = ""
    is_folder = True

    def export(self, runs: Sequence[RunReport], path: Path) -> Written:
        """Write a file for each table.

        Raises:
            StoreError: they cannot be written, or evidence cannot be read.
        """
        try:
            with ExitStack() as stack:
                path.mkdir()
                files = {
                    table.name: stack.enter_context(_opened(path / f"{table.name}.csv"))
                    for table in TABLES
                }
                for table in TABLES:
                    names = ",".join(column.name for column in table.columns)
                    files[table.name].write(f"{names}\n")
                episodes = 0
                for found in rows_of(runs):
                    episodes += len(found[EPISODES.name])
                    for name, rows in found.items():
                        files[name].writelines(map(_line, rows))
        except OSError as cause:
            message = f"{path}: the tables cannot be written: {cause.strerror}"
            raise StoreError(message) from cause
        return Written(episodes=episodes)


def _opened(path: Path) -> TextIO:
    return path.open("w", encoding="utf-8", newline="")


def _line(row: Row) -> str:
    return ",".join(map(_field, row)) + "\n"


def _field(value: Value) -> str:
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
