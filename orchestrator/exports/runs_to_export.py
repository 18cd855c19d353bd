"""Which runs an export is of, and where it goes if nobody says where."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from arena_core.errors import UsageError
from orchestrator.report.run_report import RunReport
from orchestrator.store.run_folder import RunFolder
from orchestrator.store.run_folders import require_once, runs_at

RunChoice = RunReport | RunFolder | Path | str


def several(runs: RunChoice | Sequence[RunChoice]) -> tuple[RunChoice, ...]:
    """Return one or several as several."""
    return (runs,) if isinstance(runs, RunReport | RunFolder | Path | str) else tuple(runs)


def expanded(runs: Sequence[RunChoice]) -> tuple[RunReport | RunFolder, ...]:
    """Return reports as they are, and the folders of all others; a study's are those of its runs.

    Raises:
        StoreError: one is neither a run nor a study, or a study has no run yet.
        UsageError: there is none, or one run would count twice.
    """
    found: list[RunReport | RunFolder] = []
    for one in runs:
        if isinstance(one, RunReport | RunFolder):
            found.append(one)
        else:
            found.extend(runs_at(Path(one)))
    if not found:
        message = "there is no run to export"
        raise UsageError(message, hint="name the folder of a run or of a study")
    require_once(one.folder if isinstance(one, RunReport) else one for one in found)
    return tuple(found)


def home_of(runs: Sequence[RunChoice]) -> Path:
    """Return the folder of the one run or study that an export is of.

    Raises:
        UsageError: there are several, so that the export belongs to none of them.
    """
    if len(runs) != 1:
        message = f"there are {len(runs)} runs to export, and nothing says where to"
        raise UsageError(message, hint="name a file or folder with --out")
    only = runs[0]
    if isinstance(only, RunReport):
        return only.folder.path
    return only.path if isinstance(only, RunFolder) else Path(only)
