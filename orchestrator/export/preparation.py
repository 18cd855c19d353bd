"""What an export needs first: its runs, its place, packages that are no part of Arena."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar

from arena_core.errors import StoreError, UsageError
from orchestrator.analysis.run_report.extension_points import Exporter
from orchestrator.analysis.run_report.run_report import RunReport
from orchestrator.runs.store.run_folder import RunFolder, is_run, require_once, runs_at

Result = TypeVar("Result")
_MARK: Final = ".arena-export"
_PARTIAL: Final = ".arena-export-"
_ROOM: Final = "free some disk, or name another place with --out"
RunChoice = RunReport | RunFolder | Path | str


def default_path(form: str, exporter: Exporter, folder: Path) -> Path:
    """Return where an export goes in a folder if nobody says where."""
    if exporter.is_folder:
        return folder / f"export-{form}"
    stem = "export" if exporter.suffix == form else f"export-{form}"
    return folder / f"{stem}.{exporter.suffix}"


def require_free(path: Path, exporter: Exporter) -> None:
    """Refuse a path at which the export would replace something else."""
    if exporter.is_folder and path.is_dir():
        if any(path.iterdir()) and not (path / _MARK).is_file():
            message = f"{path}: holds something else than an earlier export"
            raise UsageError(message, hint="name a new folder with --out")
    elif path.is_dir():
        message = f"{path}: is a folder, and this export is one file"
        raise UsageError(message, hint=f"--out {path / f'export.{exporter.suffix}'}")
    elif exporter.is_folder and path.exists():
        message = f"{path}: is a file, and this export is a folder"
        raise UsageError(message, hint="name a new folder with --out")
    if path.exists() and is_run(path.parent) and not path.name.startswith("export"):
        raise UsageError(f"{path}: is a part of the run", hint="name another file with --out")


def place(path: Path, exporter: Exporter, write: Callable[[Path], Result]) -> Result:
    """Write an export beside where it goes, and move it there when it is whole.

    What stood there is replaced then; nothing half-written stays when it fails.

    Args:
        path: where it goes.
        exporter: what writes it.
        write: writes it at the path that it is given, which has the same name.
    """
    require_free(path, exporter)
    beside = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=_PARTIAL, dir=path.parent) as beside:
            partial = Path(beside) / path.name
            written = write(partial)
            if exporter.is_folder:
                (partial / _MARK).touch()
                if path.is_dir():
                    shutil.rmtree(path)
            partial.replace(path)
    except StoreError as cause:
        # What was half-written is gone: what matters is the place that the user named.
        message = cause.message.replace(beside, str(path.parent)) if beside else cause.message
        raise type(cause)(message, hint=cause.hint or _ROOM) from cause
    except OSError as cause:
        message = f"{path}: the export cannot be written: {cause.strerror or cause}"
        raise StoreError(message, hint=_ROOM) from cause
    return written


def several(runs: RunChoice | Sequence[RunChoice]) -> tuple[RunChoice, ...]:
    return (runs,) if isinstance(runs, RunReport | RunFolder | Path | str) else tuple(runs)


def expanded(runs: Sequence[RunChoice]) -> tuple[RunReport | RunFolder, ...]:
    found: list[RunReport | RunFolder] = []
    for one in runs:
        if isinstance(one, RunReport | RunFolder):
            found.append(one)
        else:
            found.extend(runs_at(Path(one)))
    if not found:
        raise UsageError("there is no run to export", hint="name the folder of a run or of a study")
    require_once(one.folder if isinstance(one, RunReport) else one for one in found)
    return tuple(found)


def home_of(runs: Sequence[RunChoice]) -> Path:
    if len(runs) != 1:
        message = f"there are {len(runs)} runs to export, and nothing says where to"
        raise UsageError(message, hint="name a file or folder with --out")
    only = runs[0]
    if isinstance(only, RunReport):
        return only.folder.path
    return only.path if isinstance(only, RunFolder) else Path(only)
