"""`arena plugins` and `arena doctor` name what is plugged in; help imports none of it."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from quick_cases import SLOW
from support.agents.arena_process import Ended
from support.tasks.plugged import install

from arena_core.plugins import Group

Call = Callable[..., Ended]

AGENT = """
class Agent:
    def __init__(self, assignment): ...
    async def decide(self, observation): ...
"""


@pytest.fixture
def site_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    importlib.invalidate_caches()
    return folder


def test_what_is_plugged_in_is_listed_with_who_registered_it(
    call: Call, site_packages: Path
) -> None:
    points = {Group.AGENTS: {"listed": "listed_agent:Agent"}}
    install(site_packages, "acme-agents", points, modules={"listed_agent": AGENT}, version="2.1")
    ended = call("plugins", "--json")
    assert ended.code == 0, ended.err
    rows = {(one["kind"], one["name"]): one for one in json.loads(ended.out)}
    assert rows["agent", "listed"] == {
        "kind": "agent",
        "group": "arena.agents",
        "name": "listed",
        "distribution": "acme-agents",
        "version": "2.1",
        "path": "listed_agent:Agent",
        "fault": None,
    }
    assert rows["agent", "oracle"]["distribution"] == "arena-orchestrator"


@SLOW
def test_a_broken_one_is_named_and_the_others_are_listed(call: Call, site_packages: Path) -> None:
    points = {Group.AGENTS: {"bad": "bad_agent:Agent"}}
    install(site_packages, "acme-agents", points, modules={"bad_agent": "import nonexistent"})
    ended = call("plugins")
    assert ended.code == 13
    assert "agent 'bad'" in ended.err
    assert "pip uninstall acme-agents" in ended.err
    assert "Traceback" not in ended.err
    assert "No module named 'nonexistent'" in ended.err
    assert "orchestrator.agents" in ended.out
    # Nobody who does not ask for it is disturbed.
    assert call("eval", "--agent", "genius").code == 6


@SLOW
@pytest.mark.parametrize("words", [("--help",), ("eval", "--help"), ("tasks", "list", "--help")])
def test_help_imports_nothing_that_is_plugged_in(tmp_path: Path, words: tuple[str, ...]) -> None:
    points = {group: {"loud": "loud_plugin:ANY"} for group in Group}
    install(tmp_path, "loud", points, modules={"loud_plugin": "raise SystemExit('imported')"})
    code = (
        f"import sys; sys.path.append({str(tmp_path)!r}); sys.argv = {['arena', *words]!r}\n"
        "from orchestrator.cli.entry import main\n"
        "try:\n    main()\nexcept SystemExit: pass\n"
        "sys.exit('loud_plugin' in sys.modules)"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=False, timeout=60, capture_output=True)
    assert done.returncode == 0, done.stderr
