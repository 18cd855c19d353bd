"""A run as a table for spreadsheets: one finished episode a row."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Final

from arena_core.errors import StoreError
from orchestrator import RunReport

_COLUMNS: Final = ("world", "task", "repeat", "outcome", "because", "steps", "completion")


class CsvExport:
    """Writes outcomes as Arena calls them: what is unscored says so, and is no zero."""

    suffix = "csv"

    def export(self, report: RunReport, path: Path) -> None:
        """Write the table.

        Raises:
            StoreError: the file cannot be written.
        """
        rows = [
            trial.document()
            for row in report.rows
            for trials in row.trials.values()
            for trial in trials
        ]
        try:
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, _COLUMNS, extrasaction="ignore")
                writer.writeheader()
                writer.writerows(rows)
        except OSError as cause:
            message = f"{path}: the table cannot be written: {cause.strerror}"
            raise StoreError(message) from cause


CSV: Final = CsvExport()
