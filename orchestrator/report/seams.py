"""What writes a run for people (a report) and for other programs (an exporter)."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from arena_core.plugins import Group, Seam, filling
from orchestrator.report.run_report import RunReport


@runtime_checkable
class ReportWriter(Protocol):
    """Writes a run for people: what is registered in the group `arena.reports`."""

    @property
    def suffix(self) -> str:
        """The end of the file's name, without its dot: `html`."""

    def write(self, report: RunReport, path: Path) -> None:
        """Write the report as one file.

        Raises:
            StoreError: the file cannot be written.
        """


@runtime_checkable
class Exporter(Protocol):
    """Writes a run for other programs: what is registered in the group `arena.exporters`.

    `unscored` stays unscored in every format, and never becomes a zero.
    """

    @property
    def suffix(self) -> str:
        """The end of the file's name, without its dot: `jsonl`."""

    def export(self, report: RunReport, path: Path) -> None:
        """Write the run as one file.

        Raises:
            StoreError: the file cannot be written.
        """


REPORTS: Final[Seam[ReportWriter]] = Seam(Group.REPORTS, "report", filling(ReportWriter))
EXPORTERS: Final[Seam[Exporter]] = Seam(Group.EXPORTERS, "exporter", filling(Exporter))
