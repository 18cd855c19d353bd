"""The wheel is whole: installed alone, Arena builds, starts and evaluates from an empty folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = [pytest.mark.docker, pytest.mark.browser, pytest.mark.slow(minutes=2)]

ROOT = Path(__file__).parents[3]


def done(*words: str | Path, cwd: Path, limit_s: float = 120) -> subprocess.CompletedProcess[str]:
    """Run a command without anything of the checkout on its path."""
    hidden = {"PYTHONPATH", "VIRTUAL_ENV", "PYTHONHOME"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    ended = subprocess.run(
        [*map(str, words)],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=limit_s,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended


def assert_only_what_belongs(wheel: Path) -> None:
    """Arena's packages, typed, and nothing that a lab's own machine left in the tree."""
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {
        "arena_core",
        "orchestrator",
        "sites",
        "evaluators",
        "tasks",
    }
    left_behind = (".pyc", "ca-bundle.crt", ".db", ".sqlite")
    assert [name for name in names if name.endswith(left_behind)] == []


def test_a_wheel_alone_lists_builds_and_evaluates(tmp_path: Path) -> None:
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    done(
        *pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path / "dist", ROOT, cwd=tmp_path
    )
    [wheel] = (tmp_path / "dist").glob("arena_orchestrator-*.whl")
    assert_only_what_belongs(wheel)
    done(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    python = tmp_path / "venv" / "bin" / "python"
    done(python, "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path, limit_s=300)
    arena = tmp_path / "venv" / "bin" / "arena"
    empty = tmp_path / "empty"
    empty.mkdir()

    where = done(python, "-c", "import orchestrator; print(orchestrator.__file__)", cwd=empty)
    assert Path(where.stdout.strip()).is_relative_to(tmp_path / "venv")
    listed = json.loads(done(arena, "tasks", "list", "--json", cwd=empty).stdout)
    assert "wiki-bells-of-bruges" in {task["id"] for task in listed}
    listed = json.loads(done(arena, "tasks", "list", "arena-120", "--json", cwd=empty).stdout)
    assert "forum-best-of-all-time-1" in {task["id"] for task in listed}

    [built] = json.loads(done(arena, "build", "wiki", "--json", cwd=empty).stdout)
    assert built["result"] == "unchanged"
    played = done(arena, "eval", "wiki-bells-of-bruges", "--json", cwd=empty)
    report = json.loads(played.stdout)
    assert report["totals"]["offline"]["success"] == 1.0
    assert (empty / report["folder"] / "report.html").is_file()
    assert [path.name for path in empty.iterdir()] == ["arena-runs"]
