"""Reading suites: those that travel with Arena, and files of the user's own."""

from __future__ import annotations

from pathlib import Path

from sites.documents import read_document
from sites.errors import TaskError, UnknownNameError
from tasks.schema import Suite

_SHIPPED = Path(__file__).parent / "suites"
_ENDINGS = frozenset({".yaml", ".yml"})


def suite_names() -> tuple[str, ...]:
    """Return the names of the suites that travel with Arena."""
    return tuple(sorted(path.stem for path in _SHIPPED.glob("*.yaml")))


def suite_path(name_or_path: str) -> Path:
    """Return the file of a suite.

    Args:
        name_or_path: a shipped suite's name, or the path of a YAML file; what ends in .yaml or .yml
            or holds a slash is a path.

    Raises:
        UnknownNameError: no shipped suite of that name, or no such file; names what there is.
    """
    path = Path(name_or_path)
    is_path = path.suffix in _ENDINGS or len(path.parts) > 1
    if is_path:
        if path.is_file():
            return path
        message = f"suite file '{name_or_path}' does not exist"
        raise UnknownNameError(message, hint=f"shipped suites: {_listed()}")
    if name_or_path not in suite_names():
        message = f"unknown suite '{name_or_path}'; there are: {_listed()}"
        raise UnknownNameError(message, hint="a suite of your own is named by its path: my.yaml")
    return _SHIPPED / f"{name_or_path}.yaml"


def load_suite(name_or_path: str) -> Suite:
    """Read a suite by its name or path.

    Raises:
        UnknownNameError: there is no such suite; names those there are.
        TaskError: one line with file, line, field and what is allowed.
    """
    path = suite_path(name_or_path)
    suite = read_document(path, Suite, TaskError)
    if path.parent == _SHIPPED and suite.suite != path.stem:
        message = f"{path}:1: suite: must equal the file's name (found '{suite.suite}')"
        raise TaskError(message)
    return suite


def _listed() -> str:
    return ", ".join(suite_names()) or "none"
