"""Runs as a list of outcomes for spreadsheets: one finished episode a row."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from arena_core.errors import StoreError
from orchestrator.plugins import RunReport, Written

_COLUMNS: Final = ("run", "world", "task", "repeat", "outcome", "because", "steps", "completion")


class OutcomeList:
    """Writes outcomes as Arena calls them: what is unscored says so, and is no zero."""

    suffix = "csv"
    is_folder = False

    def export(self, runs: Sequence[RunReport], path: Path, *, only: str = "") -> Written:
        """Write the list; with `--option only=WORLD`, of one world alone.

        Raises:
            StoreError: the file cannot be written.
        """
        rows = [
            {"run": report.lock.run, **episode.document()}
            for report in runs
            for episode in report.episodes
            if only in {"", episode.key.world}
        ]
        try:
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, _COLUMNS, extrasaction="ignore")
                writer.writeheader()
                writer.writerows(rows)
        except OSError as cause:
            message = f"{path}: the table cannot be written: {cause.strerror}"
            raise StoreError(message) from cause
        return Written(episodes=len(rows))


OUTCOMES: Final = OutcomeList()
