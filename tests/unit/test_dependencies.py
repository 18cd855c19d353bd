"""What the packages import is what pyproject.toml declares: Arena runs without its own tools.

The wheel's own test (tests/docker/wheel) installs it and runs it; this one names the line at once.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from quick_cases import SLOW

from orchestrator.api.doctor import MODULES

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PACKAGES = ("orchestrator", "sites", "evaluators", "tasks", "arena_core")
# Packages that nothing else of Arena imports unless its extra is installed.
OF_EXTRA = {
    "orchestrator/serve/gym/": "gym",
    "orchestrator/serve/inspect_task.py": "inspect",
    "orchestrator/serve/openenv_server.py": "openenv",
    "orchestrator/serve/pytest_": "pytest",
    "orchestrator/serve/": "serve",
}
# They run in the environments of other projects; their own tests say what they may import.
ELSEWHERE = (
    "orchestrator/serve/browsergym/",
    "orchestrator/serve/nemo_gym_server.py",
    "orchestrator/serve/verifiers_taskset.py",
)
# They import a module by its name, and say which extra installs it where it is missing.
BY_NAME = {"extra", "needed"}
CALENDAR_YEAR = 2000
# In no developer's environment: hundreds of megabytes each.
ABSENT = {"ray": "ray", "openenv": "openenv-core"}


def requirements(listed: list[str]) -> dict[str, Requirement]:
    read = [Requirement(one) for one in listed]
    return {canonicalize_name(one.name): one for one in read if one.name != PROJECT["name"]}


BASE = requirements(PROJECT["dependencies"])
EXTRAS = {name: requirements(listed) for name, listed in PROJECT["optional-dependencies"].items()}
OPTIONAL = {name for extra in EXTRAS.values() for name in extra}


def modules_in(tree: ast.AST) -> Iterator[tuple[str, bool]]:
    """Yield the modules that a module imports, and whether it does without them."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((one.name, False) for one in names)
            case ast.ImportFrom(module=str(name), level=0):
                yield name, False
            case ast.Call(func=ast.Name(id=function), args=[ast.Constant(value=str(name)), *_]) if (
                function in BY_NAME
            ):
                yield name, True


installed = cache(packages_distributions)


def distribution_of(module: str) -> str | None:
    top = module.partition(".")[0]
    if top in PACKAGES or top in sys.stdlib_module_names:
        return None
    return canonicalize_name(installed().get(top, [ABSENT.get(top, "")])[0])


@cache
def imported() -> dict[str, set[tuple[str, bool]]]:
    """Return each distribution with the files that import it, and whether they do without it."""
    found: dict[str, set[tuple[str, bool]]] = defaultdict(set)
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            where = path.relative_to(ROOT).as_posix()
            if where.startswith(ELSEWHERE):
                continue
            for module, is_optional in modules_in(ast.parse(path.read_text(encoding="utf-8"))):
                name = distribution_of(module)
                if name is not None:
                    found[name].add((where, is_optional))
    return found


def installs(where: str, *, is_optional: bool) -> set[str]:
    """Return what is installed wherever a file's import runs."""
    if is_optional:
        return set(BASE) | OPTIONAL
    of = next((extra for folder, extra in OF_EXTRA.items() if where.startswith(folder)), None)
    return set(BASE) | (set(EXTRAS[of]) if of else set())


@SLOW
def test_what_is_imported_is_declared() -> None:
    undeclared = {
        f"{where} imports {name}"
        for name, places in imported().items()
        for where, is_optional in places
        if name not in installs(where, is_optional=is_optional)
    }

    assert undeclared == set()


@SLOW
def test_what_is_declared_is_imported() -> None:
    assert set(BASE) | OPTIONAL == set(imported())


def test_what_only_an_extra_imports_is_declared_by_that_extra_alone() -> None:
    needed_by_all = {
        name
        for name, places in imported().items()
        for where, is_optional in places
        if not is_optional and not where.startswith(tuple(OF_EXTRA))
    }

    assert set(BASE) == needed_by_all
    assert set(BASE) & OPTIONAL == set()


def test_the_doctor_imports_all_that_is_imported_without_an_extra() -> None:
    assert {distribution_of(module) for module in MODULES} == set(BASE)


@pytest.mark.parametrize(
    "requirement",
    [one for group in (BASE, *EXTRAS.values()) for one in group.values()],
    ids=str,
)
def test_each_dependency_is_bounded_below_and_by_its_next_major_release(
    requirement: Requirement,
) -> None:
    bounds = {one.operator: Version(one.version) for one in requirement.specifier}
    if "==" in bounds:
        return
    assert ">=" in bounds
    if bounds[">="].major < CALENDAR_YEAR:  # a year is no promise about what changes
        assert "<" in bounds
        assert bounds["<"].release[1:] in {(), (0,)}
