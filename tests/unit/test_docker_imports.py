"""Modules of one folder of an image's Python do not import each other in a circle.

import-linter sees Arena's own packages alone: the Python in docker/ runs inside images.
"""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from quick_cases import ONE_QUICK

DOCKER = Path(__file__).parents[2] / "docker"
FOLDERS = sorted({path.parent for path in DOCKER.rglob("*.py") if path.name != "0001_initial.py"})


def imported_by(module: Path) -> set[str]:
    """Return the modules beside it that a module imports, for types alone too."""
    package = module.parent.name
    found: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or node.module is None:
            continue
        parts = node.module.split(".")
        if parts[-1] == package:
            found |= {name.name for name in node.names}
        elif len(parts) > 1 and parts[-2] == package:
            found.add(parts[-1])
    beside = {path.stem for path in module.parent.glob("*.py")} - {module.stem}
    return found & beside


@ONE_QUICK
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(DOCKER)))
def test_no_module_imports_one_that_imports_it(folder: Path) -> None:
    graph = {path.stem: imported_by(path) for path in folder.glob("*.py")}
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as circle:
        pytest.fail(" -> ".join(circle.args[1]))
