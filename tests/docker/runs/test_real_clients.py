"""The examples over CDP play a demo's task, each with its client unchanged from PyPI or npm."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from support.agents.foreign_clients import python_with
from support.agents.scripted_model import ChatRequest, Says, ScriptedModel
from support.runs.run_at import RunAt

from arena_core.actions import Press, Write
from arena_core.user_cache import user_cache
from evaluators.evidence import ElementEvent, Ended, Evidence

pytestmark = [pytest.mark.docker, pytest.mark.browser]

_EXAMPLES: Final = Path(__file__).parents[3] / "examples" / "over_cdp"
_LOOPBACK_ONLY: Final = Path(__file__).parent / "loopback_only"
_BROWSER_USE: Final = "browser-use==0.13.14"
_PLAYWRIGHT_MCP: Final = "@playwright/mcp@0.0.83"
_PUPPETEER: Final = "puppeteer-core@24.43.1"
_STAGEHAND: Final = "@browserbasehq/stagehand@3.7.3"
_SELENIUM: Final = "selenium==4.51.0"
_TYPED: Final = "belfries"
_TASK: Final = "wiki-bells-of-bruges"


def _environment(package: str) -> Path:
    return python_with(package.replace("==", "-"), [package])


def _npm_package(package: str) -> Path:
    """Return a folder with a package of npm's, installed where it is not."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("no `npm` on PATH")
    folder = user_cache() / "tests" / package.replace("/", "-")
    if not (folder / "ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        words = (npm, "install", "--silent", "--ignore-scripts", "--prefix", folder)
        subprocess.run((*words, package), check=True)
        (folder / "ready").touch()
    return folder


def _beside(package: str, program: str) -> Path:
    """Return a copy of a program that finds a package of npm's."""
    return Path(shutil.copy(_EXAMPLES / program, _npm_package(package)))


def _chromedriver() -> str:
    """Return Debian's driver for the Chromium of this machine, unpacked where it is not there."""
    if (found := shutil.which("chromedriver")) is not None:
        return found
    if shutil.which("apt-get") is None:
        pytest.skip("no `chromedriver` on PATH, and no apt-get to fetch it by")
    folder = user_cache() / "tests" / "chromium-driver"
    if not (folder / "ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        subprocess.run(["apt-get", "download", "chromium-driver"], cwd=folder, check=True)
        (archive,) = folder.glob("*.deb")
        subprocess.run(["dpkg", "-x", archive, folder], check=True)
        (folder / "ready").touch()
    return str(folder / "usr" / "bin" / "chromedriver")


def play(run: RunAt, *words: object) -> Evidence:
    """Let a program play the task to success."""
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
    return evidence


def clicks(evidence: Evidence) -> list[tuple[str, bool]]:
    """Return what was clicked, and whether the browser made the event."""
    acted = (one for step in evidence.steps for one in step.acted)
    return [(one.name, one.trusted) for one in acted if one.event is ElementEvent.CLICK]


def played_and_typed(evidence: Evidence) -> None:
    """Hold what a client left that typed a word, letter by letter, and then followed the link."""
    assert clicks(evidence)[-1] == ("Bruges", True)
    typed = [step.action for step in evidence.steps if isinstance(step.action, Write | Press)]
    assert typed == [Write(text=_TYPED)]


def _bruges(request: ChatRequest) -> Says:
    """Type a word, click on the link to Bruges, and answer with the number of its bells."""
    state = request.messages[-1].content
    said_before = "".join(str(message.content) for message in request.messages)
    bells = re.search(r"(\d+) bells", state)
    link = re.search(r"\[(\d+)\]<a[^>]*>\s*Bruges", state)
    action: dict[str, object]
    if bells is not None:
        action = {"done": {"text": bells[1], "success": True}}
    elif _TYPED not in said_before:
        action = {"send_keys": {"keys": _TYPED}}
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
    monkeypatch.setenv("OUTWARD", str(outward))
    with ScriptedModel(_bruges) as model:
        given = (
            f"OPENAI_BASE_URL={model.url}",
            "OPENAI_API_KEY=none",
            f"PYTHONPATH={_LOOPBACK_ONLY}",
        )
        program = _EXAMPLES / "browser_use_agent.py"
        evidence = play(run, "env", *given, _environment(_BROWSER_USE), program, "scripted")
    played_and_typed(evidence)
    assert len(model.requests) >= 3
    assert not outward.exists(), outward.read_text(encoding="utf-8")


@pytest.mark.slow(minutes=3)
def test_playwright_mcp_plays_a_task(run: RunAt) -> None:
    program = _EXAMPLES / "playwright_mcp_agent.py"
    server = _npm_package(_PLAYWRIGHT_MCP) / "node_modules" / "@playwright" / "mcp" / "cli.js"
    evidence = play(run, sys.executable, program, "node", server)
    assert clicks(evidence) == [("Bruges", True)]


@pytest.mark.slow(minutes=3)
def test_puppeteer_plays_a_task(run: RunAt) -> None:
    played_and_typed(play(run, "node", _beside(_PUPPETEER, "puppeteer_agent.mjs")))


@pytest.mark.slow(minutes=4)
def test_stagehand_plays_a_task(run: RunAt) -> None:
    played_and_typed(play(run, "node", _beside(_STAGEHAND, "stagehand_agent.mjs")))


@pytest.mark.slow(minutes=3)
def test_selenium_plays_a_task(run: RunAt) -> None:
    path = f"PATH={Path(_chromedriver()).parent}:{os.environ['PATH']}"
    program = _EXAMPLES / "selenium_agent.py"
    played_and_typed(play(run, "env", path, _environment(_SELENIUM), program))
