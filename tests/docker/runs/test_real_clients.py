"""Clients of CDP that people use, unchanged from PyPI and npm, play a demo's task to its end."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from run_at import RunAt
from scripted_model import ChatRequest, Says, ScriptedModel

from arena_core.user_cache import user_cache
from evaluators.evidence import ActedElement, Ended

pytestmark = [pytest.mark.docker, pytest.mark.browser]

_CLIENTS: Final = Path(__file__).parent / "real_clients"
_BROWSER_USE: Final = "browser-use==0.13.14"
_PLAYWRIGHT_MCP: Final = "@playwright/mcp@0.0.83"
_TASK: Final = "wiki-bells-of-bruges"


def _environment() -> Path:
    """Return the interpreter of an environment with browser-use, made where there is none."""
    folder = user_cache() / "tests" / _BROWSER_USE
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", _BROWSER_USE], check=True)
        (folder / "ready").touch()
    return python


def _npm_package() -> Path:
    """Return Playwright MCP's program, installed where it is not."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("no `npm` on PATH")
    folder = user_cache() / "tests" / _PLAYWRIGHT_MCP.replace("/", "-")
    if not (folder / "ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        words = (npm, "install", "--silent", "--ignore-scripts", "--prefix", folder)
        subprocess.run((*words, _PLAYWRIGHT_MCP), check=True)
        (folder / "ready").touch()
    return folder / "node_modules" / "@playwright" / "mcp" / "cli.js"


def play(run: RunAt, *words: object) -> tuple[ActedElement, ...]:
    """Let a program play the task to success; return what it did to elements."""
    command = " ".join(map(str, words))
    played = run.play(Path("demo"), _TASK, "--agent-cmd", command)
    log = run.path / "evidence" / f"offline-{_TASK}-r0-a1" / "agent.log"
    assert played.code == 0, played.err
    assert run.attempts() == [("finished", "success")], log.read_text(encoding="utf-8")
    evidence = run.evidence(_TASK)
    assert evidence.ended is Ended.STOPPED
    assert evidence.answer == "47"
    assert evidence.steps[-1].logical == "wiki:/article/Bruges"
    assert not [note for step in evidence.steps for note in step.notes if note.refused]
    return tuple(one for step in evidence.steps for one in step.acted)


def _bruges(request: ChatRequest) -> Says:
    """Click on the link to Bruges, and answer with the number of its bells."""
    state = request.messages[-1].content
    bells = re.search(r"(\d+) bells", state)
    link = re.search(r"\[(\d+)\]<a[^>]*>\s*Bruges", state)
    action: dict[str, object]
    if bells is not None:
        action = {"done": {"text": bells[1], "success": True}}
    else:
        assert link is not None, state
        action = {"click": {"index": int(link[1])}}
    said = {"evaluation_previous_goal": "", "memory": "", "next_goal": "", "action": [action]}
    return Says(json.dumps(said))


@pytest.mark.slow(minutes=6)
def test_browser_use_plays_a_task(run: RunAt, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANONYMIZED_TELEMETRY", "BROWSER_USE_CLOUD_SYNC", "BROWSER_USE_VERSION_CHECK"):
        monkeypatch.setenv(name, "false")
    monkeypatch.setenv("BROWSER_USE_CONFIG_DIR", str(run.cwd / "browser-use"))
    outward = run.cwd / "outward.txt"
    with ScriptedModel(_bruges) as model:
        program = _CLIENTS / "browser_use_agent.py"
        (acted,) = play(run, _environment(), program, model.url, outward)
    assert (acted.name, acted.trusted) == ("Bruges", True)
    assert len(model.requests) >= 2
    assert not outward.exists(), outward.read_text(encoding="utf-8")


@pytest.mark.slow(minutes=3)
def test_playwright_mcp_plays_a_task(run: RunAt) -> None:
    program = _CLIENTS / "playwright_mcp_agent.py"
    (acted,) = play(run, sys.executable, program, _npm_package())
    assert (acted.name, acted.trusted) == ("Bruges", True)
