"""A run as JSON Lines: one finished episode a line, with its score and every verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from arena_core.errors import StoreError
from orchestrator.report.run_report import RunReport


class JsonLines:
    """Writes the documents of `arena score --json`, with the run's id and agent in each."""

    suffix = "jsonl"

    def export(self, report: RunReport, path: Path) -> None:
        """Write one line an episode, in the order of the report.

        Raises:
            StoreError: the file cannot be written.
        """
        lock = report.lock
        lines = [
            json.dumps(
                {"run": lock.run, "suite": lock.suite, "agent": lock.agent.name, **one.document()},
                ensure_ascii=False,
            )
            for row in report.rows
            for trials in row.trials.values()
            for one in trials
        ]
        try:
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        except OSError as cause:
            message = f"{path}: the export cannot be written: {cause.strerror}"
            raise StoreError(message) from cause


JSON_LINES: Final = JsonLines()
