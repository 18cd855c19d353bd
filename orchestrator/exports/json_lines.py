"""Runs as JSON Lines: one finished episode a line, with its score and every verdict."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from arena_core.errors import StoreError
from orchestrator.report.run_report import RunReport
from orchestrator.report.seams import Written


class JsonLines:
    """Writes the documents of `arena score --json`, with the run's id and agent in each."""

    suffix = "jsonl"
    is_folder = False

    def export(self, runs: Sequence[RunReport], path: Path) -> Written:
        """Write one line an episode, run by run in the order of their reports.

        Raises:
            StoreError: the file cannot be written.
        """
        lines = [line for report in runs for line in _lines(report)]
        try:
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        except OSError as cause:
            message = f"{path}: the export cannot be written: {cause.strerror}"
            raise StoreError(message) from cause
        return Written(episodes=len(lines))


def _lines(report: RunReport) -> list[str]:
    lock = report.lock
    return [
        json.dumps(
            {"run": lock.run, "suite": lock.suite, "agent": lock.agent.name, **one.document()},
            ensure_ascii=False,
        )
        for one in report.trials
    ]


JSON_LINES: Final = JsonLines()
