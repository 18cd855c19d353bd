"""What writes a run for people (a report) and runs for other programs (an exporter)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

from arena_core.errors import UsageError
from arena_core.plugins import Group, Seam, filling
from orchestrator.report.export_options import options_of
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


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Something that an export does not hold, and why.

    Attributes:
        run: the run's folder.
        what: name of the episode's evidence folder, or what else was left out.
    """

    run: Path
    what: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What an exporter wrote.

    Attributes:
        episodes: how many it wrote; one of which only a part is there counts.
        left_out: the finished episodes that it did not write.
        notes: what else a person should know, one line each.
    """

    episodes: int
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()


@runtime_checkable
class Exporter(Protocol):
    """Writes runs for other programs: what is registered in the group `arena.exporters`.

    `unscored` stays unscored in every format, and never becomes a zero. The parameters of `export`
    that can only be given by name are options: `arena export FORM RUN --option name=value`, read
    as the types that they are annotated with.

    The texts of reports are without secrets, `[redacted]` in their place. An exporter with
    `searches_secrets = True` is given them as they are, and keeps secrets out of what it writes.
    """

    @property
    def suffix(self) -> str:
        """The end of the file's name, without its dot: `jsonl`; empty for a folder."""

    @property
    def is_folder(self) -> bool:
        """Whether it writes a folder, and not one file."""

    @property
    def export(self) -> Callable[..., Written]:
        """Write runs: `export(runs: Sequence[RunReport], path: Path, *, options…) -> Written`.

        There is nothing at `path` yet, and its parent is there. What was written is moved to where
        the user wants it when all of it is there, so that nobody meets the half of it. The same
        runs give the same bytes, where the format allows it.

        Raises:
            StoreError: it cannot be written.
            UsageError: these runs cannot be written in this form, or an option is wrong.
            PrerequisiteError: a package is missing; names the command that installs it.
        """


class _OneRun:
    """An exporter as they were before they took several runs: `export(report, path)`."""

    is_folder = False

    def __init__(self, exporter: Any) -> None:
        self._exporter = exporter
        self.suffix: str = exporter.suffix

    def export(self, runs: Sequence[RunReport], path: Path) -> Written:
        """Write one run.

        Raises:
            UsageError: there are several.
        """
        if len(runs) != 1:
            message = f"this exporter writes one run at a time, and {len(runs)} were given"
            raise UsageError(message)
        self._exporter.export(runs[0], path)
        return Written(episodes=len(runs[0].trials))


_accept_exporter: Final = filling(Exporter)


def _accept(found: object) -> Exporter:
    is_earlier = hasattr(found, "suffix") and not hasattr(found, "is_folder")
    if is_earlier and callable(getattr(found, "export", None)) and not isinstance(found, type):
        return _OneRun(found)
    accepted: Exporter = _accept_exporter(found)
    options_of(accepted.export)
    return accepted


REPORTS: Final[Seam[ReportWriter]] = Seam(Group.REPORTS, "report", filling(ReportWriter))
EXPORTERS: Final[Seam[Exporter]] = Seam(Group.EXPORTERS, "exporter", _accept)
