"""The part of `Arena` that writes runs for other programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from arena_core.errors import PluginError
from orchestrator.api.opened import OpenArena
from orchestrator.work_events import WorkLine

if TYPE_CHECKING:
    from orchestrator.exports.runs_to_export import RunChoice
    from orchestrator.report.run_report import RunReport
    from orchestrator.report.seams import LeftOut
    from orchestrator.store.run_folder import RunFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """An export that was written; `open()` and `Path()` take it as the path that it is.

    Attributes:
        form: the exporter's name.
        path: the file, or the folder.
        runs: how many runs it is of.
        episodes: how many episodes it holds.
        left_out: the finished episodes that it does not hold, and why.
        notes: what else there is to know, one line each.
    """

    form: str
    path: Path
    runs: int
    episodes: int
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]

    def __fspath__(self) -> str:
        """Return the path."""
        return str(self.path)


class ExportOperations(OpenArena):
    """Writes runs for other programs."""

    def export(
        self,
        runs: RunChoice | Sequence[RunChoice],
        form: str = "jsonl",
        out: Path | str | None = None,
        *,
        options: Mapping[str, object] | None = None,
    ) -> Exported:
        """Write one or several runs for other programs, as one file or folder.

        Passwords and API keys of the sites' accounts, secrets of this machine's environment, and
        what was typed into password fields are `[redacted]` in texts; training data leaves out the
        records that hold one. Pictures are not searched.

        Args:
            runs: reports, as `evaluate`, `resume` and `read_run` return them, or the folders of
                runs, or of studies, whose runs are taken.
            form: the name of a registered exporter; `jsonl` writes one episode a line.
            out: where it goes; in the folder of the run or study where omitted, as `export.SUFFIX`
                or with the form's name where that is not the suffix. What an earlier export left
                there is replaced.
            options: of the exporter, by name, as it declares them; text is read as that type.

        Raises:
            UnknownNameError, PluginError: there is no such exporter, or it cannot be used.
            UsageError: an option or `out` is wrong, a run is given twice, or there are several runs
                and nothing says where the export goes.
            StoreError: a run cannot be read, or the export cannot be written.
            PrerequisiteError: a package that the form needs is missing.
        """
        from orchestrator.exports.placing import default_path, place, require_free
        from orchestrator.exports.runs_to_export import expanded, home_of, several
        from orchestrator.report.export_options import read_options
        from orchestrator.report.seams import EXPORTERS, Written

        exporter = EXPORTERS.load(form)
        given = read_options(form, exporter.export, options or {})
        chosen = several(runs)
        folders = expanded(chosen)
        path = default_path(form, exporter, home_of(chosen)) if out is None else Path(out)
        require_free(path, exporter)
        reports, notes = self._reports(folders)
        if not getattr(exporter, "searches_secrets", False):
            reports = self._without_secrets(reports)
        written: object = place(
            path, exporter, lambda partial: exporter.export(reports, partial, **given)
        )
        if not isinstance(written, Written):
            message = f"the export of '{form}' returns {type(written).__name__}, and no Written"
            raise PluginError(message)
        return Exported(
            form=form,
            path=path,
            runs=len(reports),
            episodes=written.episodes,
            left_out=written.left_out,
            notes=(*notes, *_unplayed(reports), *written.notes),
        )

    def _without_secrets(self, reports: tuple[RunReport, ...]) -> tuple[RunReport, ...]:
        from orchestrator.exports.without_secrets import without_secrets
        from orchestrator.store.secrets import known_secrets

        return without_secrets(reports, known_secrets(self.atlas))

    def _reports(
        self, runs: Sequence[RunReport | RunFolder]
    ) -> tuple[tuple[RunReport, ...], tuple[str, ...]]:
        """Read the runs; one of several that has not begun is left out, and noted."""
        from orchestrator.report.run_report import RunReport, read_run

        reports: list[RunReport] = []
        notes: list[str] = []
        for number, one in enumerate(runs, 1):
            if isinstance(one, RunReport):
                reports.append(one)
            elif one.is_begun or (number == len(runs) and not reports):
                if len(runs) > 1:
                    self._on_event(WorkLine(f"[{number}/{len(runs)}] reading {one.path}"))
                reports.append(read_run(one))
            else:
                notes.append(f"{one.path}: nothing was run yet")
        return tuple(reports), tuple(notes)


def _unplayed(reports: Iterable[RunReport]) -> Iterable[str]:
    """Say how much of a run there is not, since nobody played it yet."""
    for one in reports:
        if one.pending:
            episodes = "episode is" if one.pending == 1 else "episodes are"
            yield f"{one.folder.path}: {one.pending} {episodes} not played yet, and not in it"
