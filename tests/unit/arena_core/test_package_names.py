"""Arena runs in any folder: beside packages, modules and folders with its packages' names."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from quick_cases import SLOW, quick_first
from support.agents.arena_process import ARENA

ROOT = Path(__file__).parents[3]
COMMAND = (ARENA, "tasks", "list", "demo", "--json")
LIBRARY = "import orchestrator.sandbox.pool.slot, tasks.loader, evaluators.verdicts, sites.registry"


def run(*words: str | Path, cwd: Path, path: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program with `path` in front of what is installed, as a user's own folder may be."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if path is not None:
        environment["PYTHONPATH"] = path
    return subprocess.run(
        [*map(str, words)],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture(params=quick_first(["packages", "folders", "modules"]))
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a user's project that uses all of Arena's names but `orchestrator`."""
    names = ["sites", "evaluators", "tasks"]
    for name in names:
        match request.param:
            case "modules":
                (tmp_path / f"{name}.py").write_text("OWN = 1\n", encoding="utf-8")
            case "packages":
                (tmp_path / name).mkdir()
                (tmp_path / name / "__init__.py").write_text("OWN = 1\n", encoding="utf-8")
            case _:
                (tmp_path / name).mkdir()
                (tmp_path / name / "mine.py").write_text("OWN = 1\n", encoding="utf-8")
    (tmp_path / "docker").mkdir()
    return tmp_path


@SLOW
@pytest.mark.parametrize("path", quick_first([".", None]))
def test_the_command_runs_in_any_project(project: Path, path: str | None) -> None:
    done = run(*COMMAND, cwd=project, path=path)
    assert done.returncode == 0, done.stderr
    assert '"wiki-bells-of-bruges"' in done.stdout
    assert done.stderr == ""


@SLOW
def test_the_command_runs_as_a_module_from_the_project(project: Path) -> None:
    module = (sys.executable, "-m", "orchestrator.cli.entry", *COMMAND[1:])
    done = run(*module, cwd=project)
    assert done.returncode == 0, done.stderr
    assert '"wiki-bells-of-bruges"' in done.stdout


@SLOW
def test_a_program_in_the_project_imports_arena(project: Path) -> None:
    done = run(sys.executable, "-c", LIBRARY, cwd=project)
    assert done.returncode == 0, done.stderr
    hides = (project / "tasks.py").exists() or (project / "tasks" / "__init__.py").exists()
    assert ("UserWarning: 'tasks' is Arena's package in this process" in done.stderr) == hides


def test_a_package_that_was_imported_first_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    mine = tmp_path / "tasks" / "__init__.py"
    mine.write_text("OWN = 1\n", encoding="utf-8")
    done = run(sys.executable, "-c", f"import tasks; {LIBRARY}", cwd=tmp_path)
    assert done.returncode == 1
    [line] = [line for line in done.stderr.splitlines() if line.startswith("ImportError")]
    assert f"'tasks' is a package of Arena's, but {mine} is imported under that name" in line


@SLOW
@pytest.mark.parametrize("mode", ["prepend", "importlib"])
def test_tests_in_a_folder_of_that_name_import_arena(tmp_path: Path, mode: str) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "test_mine.py").write_text(
        f"def test_it() -> None:\n    {LIBRARY.replace(', ', '; import ')}\n", encoding="utf-8"
    )
    pytest_ = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    done = run(*pytest_, f"--import-mode={mode}", "--rootdir=.", cwd=tmp_path)
    assert done.returncode == 0, done.stdout


@SLOW
def test_a_namespace_that_was_imported_first_keeps_its_own_modules(tmp_path: Path) -> None:
    (tmp_path / "mine" / "tasks").mkdir(parents=True)
    for name in ("one", "two"):
        (tmp_path / "mine" / "tasks" / f"{name}.py").write_text("OWN = 1\n", encoding="utf-8")
    first = "import sys; kept = sys.path; sys.path = ['mine']; import tasks.one; sys.path = kept"
    done = run(
        sys.executable, "-c", f"{first}; {LIBRARY}; import tasks.one, tasks.two", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr


def test_a_module_of_a_namespace_with_the_name_of_arenas_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine" / "tasks").mkdir(parents=True)
    mine = tmp_path / "mine" / "tasks" / "loader.py"
    mine.write_text("OWN = 1\n", encoding="utf-8")
    first = "import sys; kept = sys.path; sys.path = ['mine']; import tasks.loader; sys.path = kept"
    done = run(sys.executable, "-c", f"{first}; {LIBRARY}", cwd=tmp_path)
    assert done.returncode == 1
    assert "'tasks.loader' is a package of Arena's, but" in done.stderr
