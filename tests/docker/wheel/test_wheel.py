"""The wheel is whole: installed alone, Arena builds, starts and evaluates from an empty folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.agents.every_command import commands
from support.agents.scripted_model import ScriptedModel
from support.tasks.small_suites import solve_bells

pytestmark = [pytest.mark.docker, pytest.mark.browser, pytest.mark.slow(minutes=3)]

ROOT = Path(__file__).parents[3]
EPISODE = "wiki-bells-of-bruges"
# What each extra is installed for, as a program that needs it imports it.
EXTRAS = {
    "serve": "import orchestrator.serve.mcp_server, orchestrator.serve.mcp_server",
    "mcp": "import orchestrator.serve.mcp_server, orchestrator.serve.mcp_server",
    "gym": "import orchestrator.serve.gym.environment",
    "parquet": "import pyarrow.parquet",
    "inspect": "import inspect_ai.log, inspect_ai.event, orchestrator.serve.inspect_task",
    "openenv": "import orchestrator.serve.openenv_server",
    "pandas": "import pandas",
    "pytest": "import orchestrator.serve.pytest_plugin",
    "ray": "import ray, orchestrator.runs.ray_node as node; ray.remote(node.play_shard)",
    "tape": "import warcio, orchestrator.gateway.tapes.records, orchestrator.gateway.tapes.writing",
    "verified": (
        "import geopy, jsonpath_ng.ext, pint, price_parser, dateutil.parser, pytimeparse2, regex;"
        "import thefuzz.fuzz, unidecode, url_normalize, word2number.w2n"
    ),
}
EVERY_MODULE = """
import pkgutil, sys
from importlib import import_module
imported = 0
for package in ("orchestrator", "sites", "evaluators", "tasks", "arena_core"):
    for one in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
        if not one.name.startswith(("orchestrator.serve", "orchestrator.serve.gym")):
            import_module(one.name)
            imported += 1
print(imported)
"""


@dataclass(frozen=True, slots=True)
class Installed:
    """An environment into which the wheel alone was installed."""

    folder: Path
    wheel: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def arena(self) -> Path:
        return self.folder / "bin" / "arena"


def run(*words: str | Path, cwd: Path, limit_s: float = 120) -> subprocess.CompletedProcess[str]:
    """Run a command without anything of the checkout on its path."""
    hidden = {"PYTHONPATH", "VIRTUAL_ENV", "PYTHONHOME"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    return subprocess.run(
        [*map(str, words)],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=limit_s,
    )


def done(*words: str | Path, cwd: Path, limit_s: float = 120) -> str:
    """Run a command that must succeed; return what it prints."""
    ended = run(*words, cwd=cwd, limit_s=limit_s)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    done(*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", folder / "dist", ROOT, cwd=folder)
    [wheel] = (folder / "dist").glob("arena_orchestrator-*.whl")
    found = Installed(made_environment(folder / "venv"), wheel)
    done(found.python, "-m", "pip", "install", "--quiet", wheel, cwd=folder, limit_s=400)
    return found


def made_environment(folder: Path) -> Path:
    done(sys.executable, "-m", "venv", folder, cwd=folder.parent)
    return folder


def packages_of(python: Path, cwd: Path) -> Path:
    """Return where an environment keeps what is installed into it."""
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return Path(done(python, "-c", code, cwd=cwd).strip())


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    folder = tmp_path / "empty"
    folder.mkdir()
    return folder


def test_the_wheel_holds_what_belongs_into_it(installed: Installed) -> None:
    """Arena's packages, typed, and nothing that a lab's own machine left in the tree."""
    with zipfile.ZipFile(installed.wheel) as packed:
        names = packed.namelist()
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {
        "arena_pytest.py",
        "arena_verifiers.py",
        "arena_core",
        "orchestrator",
        "sites",
        "evaluators",
        "tasks",
    }
    left_behind = (".pyc", "ca-bundle.crt", ".db", ".sqlite")
    assert [name for name in names if name.endswith(left_behind)] == []


def test_a_wheel_alone_lists_builds_and_evaluates(installed: Installed, empty: Path) -> None:
    arena = installed.arena
    where = done(
        installed.python, "-c", "import orchestrator; print(orchestrator.__file__)", cwd=empty
    )
    assert Path(where.strip()).is_relative_to(installed.folder)
    listed = json.loads(done(arena, "tasks", "list", "--json", cwd=empty))
    assert EPISODE in {task["id"] for task in listed}
    listed = json.loads(done(arena, "tasks", "list", "arena-120", "--json", cwd=empty))
    assert "forum-best-of-all-time-1" in {task["id"] for task in listed}

    [built] = json.loads(done(arena, "build", "wiki", "--json", cwd=empty))
    assert built["result"] == "unchanged"
    report = json.loads(done(arena, "eval", EPISODE, "--json", cwd=empty))
    assert report["totals"]["offline"]["success"] == 1.0
    assert (empty / report["folder"] / "report.html").is_file()
    assert [path.name for path in empty.iterdir()] == ["arena-runs"]


def test_a_wheel_alone_writes_a_first_suite_and_a_first_site(
    installed: Installed, empty: Path
) -> None:
    done(installed.arena, "tasks", "new", "my-suite.yaml", cwd=empty)
    assert (
        json.loads(done(installed.arena, "tasks", "lint", "my-suite.yaml", "--json", cwd=empty))
        == []
    )
    assert "site.yaml" in done(installed.arena, "site", "new", "my-notes", cwd=empty)


def test_a_wheel_alone_plays_an_agent_that_asks_a_model(installed: Installed, empty: Path) -> None:
    with ScriptedModel(solve_bells) as model:
        words = ("--agent", "chat", "--model", "scripted", "--model-url", model.url)
        report = json.loads(done(installed.arena, "eval", EPISODE, *words, "--json", cwd=empty))

    assert report["totals"]["offline"]["success"] == 1.0
    assert len(model.requests) == 2


def test_a_wheel_alone_imports_every_module_but_those_of_extras(
    installed: Installed, empty: Path
) -> None:
    assert int(done(installed.python, "-c", EVERY_MODULE, cwd=empty)) > 500


def test_the_doctor_of_a_wheel_finds_the_installation_whole_and_a_broken_one_broken(
    installed: Installed, empty: Path
) -> None:
    def installation() -> dict[str, Any]:
        found = json.loads(run(installed.arena, "doctor", "--json", cwd=empty).stdout)
        [check] = [one for one in found["checks"] if one["name"] == "installation"]
        return dict(check)

    assert installation()["state"] == "ok"
    library = packages_of(installed.python, empty) / "openai"
    hidden = library.with_name("openai_hidden")
    library.rename(hidden)
    try:
        found = installation()
        ended = run(installed.arena, "doctor", cwd=empty)
    finally:
        hidden.rename(library)
    assert found["state"] == "missing"
    assert found["found"] == "openai: ModuleNotFoundError: No module named 'openai'"
    assert ended.returncode != 0
    assert "Traceback" not in ended.stderr


def test_every_command_of_a_wheel_has_its_help(installed: Installed, empty: Path) -> None:
    for words in commands():
        assert "Usage: arena" in done(installed.arena, *words, "--help", cwd=empty), words


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_brings_what_it_is_for(
    installed: Installed, tmp_path: Path, empty: Path, extra: str
) -> None:
    """In an environment of its own, on top of what the wheel itself installed."""
    python = made_environment(tmp_path / "venv") / "bin" / "python"
    below = packages_of(installed.python, empty)
    (packages_of(python, empty) / "below.pth").write_text(str(below), encoding="utf-8")
    name = f"{installed.wheel}[{extra}]"
    done(python, "-m", "pip", "install", "--quiet", name, cwd=empty, limit_s=300)

    done(python, "-c", EXTRAS[extra], cwd=empty)


def test_every_extra_is_tried() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(project["optional-dependencies"]) == set(EXTRAS)
