"""An export comes to stand where it was asked for: whole, or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from arena_core.errors import StoreError, UsageError
from orchestrator.report.seams import Exporter
from orchestrator.store.run_folders import is_run

Result = TypeVar("Result")

_MARK: Final = ".arena-export"
_PARTIAL: Final = ".arena-export-"
_ROOM: Final = "free some disk, or name another place with --out"


def default_path(form: str, exporter: Exporter, folder: Path) -> Path:
    """Return where an export goes in a folder if nobody says where."""
    if exporter.is_folder:
        return folder / f"export-{form}"
    stem = "export" if exporter.suffix == form else f"export-{form}"
    return folder / f"{stem}.{exporter.suffix}"


def require_free(path: Path, exporter: Exporter) -> None:
    """Refuse a path at which the export would replace what is none.

    Raises:
        UsageError: a folder stands where a file should go, or the reverse; a folder holds
            something else than an earlier export; or the path is a part of a run.
    """
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
        message = f"{path}: is a part of the run"
        raise UsageError(message, hint="name another file with --out")


def place(path: Path, exporter: Exporter, write: Callable[[Path], Result]) -> Result:
    """Write an export beside where it goes, and move it there when it is whole.

    What stood there is replaced then; nothing half-written stays when it fails.

    Args:
        path: where it goes.
        exporter: what writes it.
        write: writes it at the path that it is given, which has the same name.

    Returns:
        What `write` returns.

    Raises:
        StoreError: it cannot be written.
        UsageError: as `require_free`.
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
