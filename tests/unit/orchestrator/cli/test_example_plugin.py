"""The example package, installed into a throw-away folder: its parts are used like Arena's own."""

from __future__ import annotations

import csv
import importlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from quick_cases import SLOW
from support.agents.arena_process import Ended
from support.runs.made_run import make_run
from support.runs.make_evidence import ANSWER, make_check, make_evidence

from arena_core.actions import Stop
from arena_core.worlds import World
from evaluators.checks import Check
from evaluators.plugin_checks import matcher_breaches
from evaluators.scores import score
from orchestrator.agents.choice import make_agent
from orchestrator.agents.interface import AgentClass, Assignment, Reference
from orchestrator.browser.observation import AXTREE, AxTree, Node, Observation
from orchestrator.runs.agent_choice import choose_agent

pytestmark = SLOW

Call = Callable[..., Ended]

EXAMPLE = Path(__file__).parents[4] / "examples" / "plugin"


@pytest.fixture(scope="module")
def site_packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the package as pip does, without a network and beside nothing else."""
    folder = tmp_path_factory.mktemp("site-packages")
    copy = tmp_path_factory.mktemp("plugin") / "plugin"
    subprocess.run(["cp", "-r", str(EXAMPLE), str(copy)], check=True, timeout=30)
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
            *("--no-deps", "--no-index", "--no-build-isolation", "--target", str(folder)),
            str(copy),
        ],
        check=True,
        timeout=120,
    )
    return folder


@pytest.fixture
def installed(site_packages: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(sys, "path", [*sys.path, str(site_packages)])
    importlib.invalidate_caches()
    yield site_packages
    for name in [one for one in sys.modules if one.startswith("arena_example")]:
        del sys.modules[name]


def test_its_parts_are_listed_beside_arenas_own(call: Call, installed: Path) -> None:
    rows = json.loads(call("plugins", "--json").out)
    added = {
        (one["kind"], one["name"], one["version"], one["fault"])
        for one in rows
        if one["distribution"] == "arena-example-plugin"
    }
    assert added == {
        ("agent", "reader", "1.0", None),
        ("matcher", "length", "1.0", None),
        ("exporter", "outcomes", "1.0", None),
    }


async def test_its_agent_plays_with_its_options(installed: Path) -> None:
    chosen = choose_agent("reader", {"line": "2"})
    assert (chosen.lock.distribution, chosen.lock.version) == ("arena-example-plugin", "1.0")
    assert chosen.lock.agent_class is AgentClass.BASELINE
    assignment = Assignment(
        task="t", intent="Read the page.", world=World.OFFLINE, sites={}, step_limit=3
    )
    nodes = tuple(Node(id=at, depth=0, role="link", name=f"link {at}") for at in (1, 2))
    seen = Observation(
        step=0, url="http://x.test/", title="X", tabs=(), parts={AXTREE: AxTree(nodes)}
    )
    agent = make_agent("reader", {"line": 2})(assignment, Reference((), str))
    decision = await agent.decide(seen)
    assert decision.action == Stop(answer="link 2")


def test_its_matcher_is_one_in_tasks(installed: Path) -> None:
    document = make_check(ANSWER, "x").model_dump()
    check = Check.model_validate({**document, "match": {"how": "length", "least": 3}})
    assert str(score((check,), make_evidence(answer="long")).outcome) == "success"
    assert str(score((check,), make_evidence(answer="no")).outcome) == "failure"
    assert matcher_breaches({"how": "length", "least": 3}) == ()


def test_its_exporter_writes_a_run(call: Call, installed: Path, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")
    ended = call("export", "outcomes", folder.path)
    assert ended.code == 0, ended.err
    path = folder.path / "export-outcomes.csv"
    assert ended.out.strip() == str(path)
    with path.open(encoding="utf-8", newline="") as file:
        written = [(row["world"], row["task"], row["outcome"]) for row in csv.DictReader(file)]
    ended = call("score", folder.path, "--json")
    expected = [(one["world"], one["task"], one["outcome"]) for one in json.loads(ended.out)]
    assert sorted(written) == sorted(expected)
    assert any(outcome.startswith("unscored") for _, _, outcome in written)


def test_its_exporter_takes_its_option(call: Call, installed: Path, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")
    out = tmp_path / "online.csv"
    words = ("export", "outcomes", folder.path, "--out", out, "--option")
    assert call(*words, "only=online").code == 0
    with out.open(encoding="utf-8", newline="") as file:
        assert {row["world"] for row in csv.DictReader(file)} == {"online"}
    ended = call(*words, "onyl=online")
    assert ended.code == 2
    assert "--option onyl: the exporter 'outcomes' has no such option" in ended.err
    assert "'outcomes' takes only (text)" in ended.err
