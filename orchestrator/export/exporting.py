"""Writes runs for other programs, by whichever exporter is named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from arena_core.errors import PluginError
from arena_core.names import counted
from arena_core.work_events import OnWork, WorkLine
from orchestrator.analysis.run_report.extension_points import (
    EXPORTERS,
    LeftOut,
    Written,
    read_options,
)
from orchestrator.analysis.run_report.run_report import RunReport, read_run
from orchestrator.analysis.studies.registration import part_of
from orchestrator.export.preparation import (
    RunChoice,
    default_path,
    expanded,
    home_of,
    place,
    require_free,
    several,
)
from orchestrator.export.redaction import without_secrets
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.runs.store.secrets import known_secrets
from sites.registry import SiteRegistry


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


def export_runs(
    runs: RunChoice | Sequence[RunChoice],
    form: str,
    out: Path | None,
    options: Mapping[str, object],
    *,
    registry: SiteRegistry,
    on_work: OnWork,
) -> Exported:
    """Write runs for other programs; arguments and errors are those of `arena.runs.export`."""
    exporter = EXPORTERS.load(form)
    given = read_options(form, exporter.export, options)
    chosen = several(runs)
    folders = expanded(chosen)
    path = default_path(form, exporter, home_of(chosen)) if out is None else out
    require_free(path, exporter)
    replaced = [f"{path}: was there, and is replaced"] if path.exists() else []
    reports, notes = _reports(folders, on_work)
    if not getattr(exporter, "searches_secrets", False):
        reports = without_secrets(reports, known_secrets(registry))
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
        notes=(*replaced, *notes, *_unplayed(reports), *written.notes),
    )


def _reports(
    runs: Sequence[RunReport | RunFolder], on_work: OnWork
) -> tuple[tuple[RunReport, ...], tuple[str, ...]]:
    """Read the runs; one of several that has not begun is left out, and noted."""
    reports: list[RunReport] = []
    notes: list[str] = []
    for number, one in enumerate(runs, 1):
        if isinstance(one, RunReport):
            reports.append(replace(one, part=part_of(one.folder)))
        elif one.is_begun or (number == len(runs) and not reports):
            if len(runs) > 1:
                on_work(WorkLine(f"[{number}/{len(runs)}] reading {one.path}"))
            reports.append(replace(read_run(one), part=part_of(one)))
        else:
            notes.append(f"{one.path}: nothing was run yet")
    return tuple(reports), tuple(notes)


def _unplayed(reports: Iterable[RunReport]) -> Iterable[str]:
    """Say how much of a run there is not, since nobody played it yet."""
    for one in reports:
        if one.pending:
            episodes = counted(one.pending, "episode is", "episodes are")
            yield f"{one.folder.path}: {episodes} not played yet, and not in it"
