"""Adapters that run in other projects' environments import nothing that those lack."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from quick_cases import SLOW

from orchestrator import serve

FOLDER = Path(serve.__file__).parent
OWN = {"arena_core.errors", "orchestrator.serve.client"}
# What each project brings, whose versions exclude Arena's, or need not.
BROUGHT = {
    "client.py": set[str](),
    "verifiers_taskset.py": {"httpx2", "mcp", "pydantic", "verifiers"},
    "nemo_gym_server.py": {"fastapi", "nemo_gym", "pydantic"},
    "openenv_server.py": {"openenv", "uvicorn"},
}


@pytest.mark.parametrize("name", BROUGHT)
def test_an_adapter_imports_what_its_project_brings_and_arenas_client(name: str) -> None:
    tree = ast.parse((FOLDER / name).read_text(encoding="utf-8"))
    allowed = BROUGHT[name] | sys.stdlib_module_names
    wrong = {
        module
        for module in _imported(tree)
        if module not in OWN and module.partition(".")[0] not in allowed
    }
    assert wrong == set()


@SLOW
def test_arenas_client_needs_the_standard_library_alone() -> None:
    """`-S` hides every installed package."""
    root = FOLDER.parents[1]
    code = f"import sys; sys.path.insert(0, {str(root)!r}); import orchestrator.serve.client"
    subprocess.check_call([sys.executable, "-S", "-c", code])


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (one.name for one in names)
            case ast.ImportFrom(module=str(name)):
                yield name
            case _:
                pass
