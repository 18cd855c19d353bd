"""The report as one HTML file."""

from __future__ import annotations

from pathlib import Path

from orchestrator.report.reading import RunReport


def write_html(report: RunReport, path: Path) -> None:
    """Write the report."""
    path.write_text(f"<h1>{report.lock.run}</h1>", encoding="utf-8")
