"""Suites by name or path: those that travel with Arena, and the user's own."""

from __future__ import annotations

import os
from pathlib import Path

from arena_core.errors import TaskError, UnknownNameError
from tasks.miniwob import read_seeds
from tasks.schema import Suite
from tasks.sources import HEAD, SuiteSource, read_source

_SHIPPED = Path(__file__).parent / "suites"
_ENDINGS = frozenset({".yaml", ".yml"})


def suite_names() -> tuple[str, ...]:
    """Return the names of the suites that travel with Arena."""
    files = (path.stem for path in _SHIPPED.glob("*.yaml"))
    folders = (path.parent.name for path in _SHIPPED.glob(f"*/{HEAD}"))
    return tuple(sorted((*files, *folders)))


def suite_path(name_or_path: str) -> Path:
    """Return the file or folder of a suite.

    Args:
        name_or_path: a shipped suite's name, or the path of a YAML file or of a folder of them;
            what ends in .yaml or .yml or holds a slash is a path, and so is the name of a folder
            here that no shipped suite has. A file inside a suite's folder stands for its own tasks
            alone.

    Raises:
        UnknownNameError: no shipped suite of that name, or no such file; names what there is.
    """
    path = Path(name_or_path)
    is_path = path.suffix in _ENDINGS or os.sep in name_or_path or path.parts in {(".",), ("..",)}
    if is_path or (name_or_path not in suite_names() and path.is_dir()):
        if path.is_file() or (path / HEAD).is_file():
            return path
        message = f"suite file '{name_or_path}' does not exist"
        if path.is_dir():
            message = f"the folder '{name_or_path}' is no suite: it has no {HEAD}"
        raise UnknownNameError(message, hint=f"shipped suites: {_listed()}")
    if name_or_path not in suite_names():
        message = f"unknown suite '{name_or_path}'; there are: {_listed()}"
        raise UnknownNameError(message, hint="a suite of your own is named by its path: my.yaml")
    folder = _SHIPPED / name_or_path
    return folder if folder.is_dir() else _SHIPPED / f"{name_or_path}.yaml"


def load_source(name_or_path: str) -> SuiteSource:
    """Read a suite by its name or path, with the place of each task.

    Args:
        name_or_path: as in `suite_path`. A suite of MiniWoB++ pages may be followed by `@` and
            other seeds than it names: `miniwob@4711`, `miniwob-56@1-10`.

    Raises:
        UnknownNameError: there is no such suite; names those there are.
        TaskError: one line with file, line, field and what is allowed.
    """
    name, seeds = _seeded(name_or_path)
    path = suite_path(name)
    source = read_source(path, seeds)
    if path.parent == _SHIPPED and source.suite.suite != path.stem:
        head = path / HEAD if path.is_dir() else path
        message = f"{head}:1: suite: must equal the name of its file or folder"
        message += f" (found '{source.suite.suite}')"
        raise TaskError(message)
    return source


def load_suite(name_or_path: str) -> Suite:
    """Read a suite by its name or path; errors are as in `load_source`."""
    return load_source(name_or_path).suite


def _seeded(name_or_path: str) -> tuple[str, tuple[int, ...] | None]:
    name, at, seeds = name_or_path.rpartition("@")
    if not at or Path(name_or_path).exists():
        return name_or_path, None
    try:
        return name, read_seeds(seeds)
    except ValueError as cause:
        message = f"'{name_or_path}': after @ come seeds, such as 7, 1-5 or 1,4,4711"
        raise UnknownNameError(message) from cause


def _listed() -> str:
    return ", ".join(suite_names()) or "none"
