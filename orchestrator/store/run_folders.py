"""The run folders that paths stand for: runs themselves, and studies that hold runs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from arena_core.errors import StoreError, UsageError
from orchestrator.store.run_folder import RunFolder

_LOCK: Final = "lock.json"
_RUNS: Final = "runs"


def is_run(path: Path) -> bool:
    """Whether a path is a run's folder."""
    return (path / _LOCK).is_file()


def runs_at(path: Path) -> tuple[RunFolder, ...]:
    """Open the run at a path, or the runs of the study there, by name.

    A study is any folder whose `runs` holds run folders.

    Raises:
        StoreError: it is neither, or the study has no run yet.
    """
    if is_run(path) or not (path / _RUNS).is_dir():
        return (RunFolder.open(path),)
    found = sorted(one for one in (path / _RUNS).iterdir() if is_run(one))
    if not found:
        message = f"{path}: is a study without a run (its {_RUNS}/ holds none)"
        raise StoreError(message, hint="`arena study run` plays it")
    return tuple(RunFolder.open(one) for one in found)


def require_once(folders: Iterable[RunFolder]) -> None:
    """Refuse a run that is given twice, or as two copies: its episodes would count twice.

    Raises:
        UsageError: there is one.
    """
    seen: dict[str, Path] = {}
    for folder in folders:
        run = folder.lock().run
        if run not in seen:
            seen[run] = folder.path
            continue
        if seen[run].resolve() == folder.path.resolve():
            message = f"{folder.path}: is given twice"
        else:
            message = f"{seen[run]} and {folder.path}: are both the run {run}"
        raise UsageError(message, hint="its episodes would count twice: leave one of them away")
