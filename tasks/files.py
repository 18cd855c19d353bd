"""The files of a task: read from the folder `files` beside the suite that names them."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Final

FOLDER: Final = "files"
_MOST_BYTES: Final = 4_000_000


def with_files(task: object, beside: Path) -> object:
    """Return a task as it is written with its files in place of their names.

    Args:
        task: as read from a suite's file; what is no list of names is left for the schema.
        beside: the suite's file.

    Raises:
        ValueError: a name with a folder in it, no such file, or one that is too large.
    """
    if not isinstance(task, Mapping) or not isinstance(task.get("files"), list):
        return task
    return {**task, "files": [_read(name, beside.parent / FOLDER) for name in task["files"]]}


def _read(name: object, folder: Path) -> object:
    if not isinstance(name, str):
        return name
    if name != Path(name).name or name in {"", ".", ".."}:
        message = f"'{name}' must be a file's name, without any folder"
        raise ValueError(message)
    path = folder / name
    if not path.is_file():
        message = f"there is no file '{name}' in {folder}"
        raise ValueError(message)
    if path.stat().st_size > _MOST_BYTES:
        message = f"the file '{name}' has more than {_MOST_BYTES // 1_000_000} MB"
        raise ValueError(message)
    return {"name": name, "content": base64.b64encode(path.read_bytes()).decode("ascii")}
