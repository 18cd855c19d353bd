"""Registered studies, really played: killed, resumed, reported, verified as a copy, added to."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from support.agents.arena_process import ArenaProcess, Ended, arena

from arena_core.errors import InterruptedRunError, StoreError, VerificationError
from arena_core.worlds import World
from orchestrator.agents.builtin.oracle import Mistakes
from orchestrator.agents.interface import Assignment

pytestmark = [pytest.mark.docker, pytest.mark.browser, pytest.mark.slow(minutes=6)]

SHARES = {"good": 0.1, "poor": 0.7}
REPEATS = 2
STUDY = f"""\
name: planted
agents:
  good: {{agent: oracle, options: {{error_rate: 0.1, seed: 1}}}}
  poor: {{agent: oracle, options: {{error_rate: 0.7, seed: 2}}}}
worlds: [offline, online]
staged: true
suites:
  - suite: demo
    tasks:
      - wiki-*
      - shop-scarves-by-price
      - shop-latest-order-total
      - shop-order-by-amount
      - shop-cheapest-compass
repeats: {REPEATS}
workers: 2
questions:
  - {{id: better, kind: difference, of: agents, first: good, second: poor}}
  - {{id: worlds, kind: difference, of: worlds, first: offline, second: online}}
"""


def finished(study: Path) -> Counter[tuple[str, str, str, int]]:
    found: Counter[tuple[str, str, str, int]] = Counter()
    for run in sorted((study / "runs").iterdir()):
        if not (run / "ledger.sqlite").is_file():
            continue
        with closing(sqlite3.connect(run / "ledger.sqlite")) as ledger:
            rows = ledger.execute(
                "SELECT task, world, repeat FROM attempt WHERE state = 'finished'"
            ).fetchall()
        found.update((run.name, *row) for row in rows)
    return found


def planned(label: str, task: str, world: str, repeat: int) -> str:
    mistakes = Mistakes(share=SHARES[label], seed={"good": 1, "poor": 2}[label])
    assignment = Assignment(
        task=task, intent="", world=World(world), sites={}, step_limit=20, repeat=repeat
    )
    return "failure" if mistakes.strike(assignment) else "success"


def test_a_planted_difference_is_found_after_a_kill_and_a_stop(tmp_path: Path) -> None:
    file, study = tmp_path / "planted.yaml", tmp_path / "arena-studies" / "planted"
    file.write_text(STUDY)

    with ArenaProcess("study", "run", file, cwd=tmp_path) as first:
        first.hear(r"\[ *7/64\]")
        first.kill()
    after_kill = finished(study)
    assert 7 <= sum(after_kill.values()) < 64
    with ArenaProcess("study", "run", file, cwd=tmp_path) as second:
        second.hear(r"\[30/64\]")
        refused = arena("study", "run", study, cwd=tmp_path)
        assert (refused.code, "another `arena study`" in refused.err) == (
            StoreError.exit_code,
            True,
        )
        second.interrupt()
        assert second.wait().code == InterruptedRunError.exit_code
    assert after_kill.keys() <= finished(study).keys()
    assert arena("study", "run", study, cwd=tmp_path, limit_s=300).code == 0

    done = finished(study)
    assert (len(done), set(done.values())) == (64, {1})
    for run in SHARES:
        with closing(sqlite3.connect(study / "runs" / run / "ledger.sqlite")) as ledger:
            rows = ledger.execute(
                "SELECT task, world, repeat, outcome FROM attempt WHERE state = 'finished'"
            ).fetchall()
        assert [row[3] for row in rows] == [planned(run, *row[:3]) for row in rows]

    said = arena("study", "report", study, "--json", cwd=tmp_path).document
    decisions = {one["question"]["id"]: one["decision"] for one in said["answers"]}
    assert decisions == {"better": "yes", "worlds": "undecided"}
    assert (study / "report" / "index.html").is_file()
    refuse_tampering(study, tmp_path / "copy")

    file.write_text(STUDY.replace("repeats: 2", "repeats: 3"))
    changed = arena("study", "run", file, cwd=tmp_path)
    assert (changed.code, "is not what was registered" in changed.err) == (80, True)


def refuse_tampering(study: Path, copy: Path) -> None:
    """Verify a copy where no engine answers, and again after one answer was changed."""
    shutil.copytree(study, copy)
    nowhere = {"DOCKER_HOST": "tcp://127.0.0.1:1"}

    def verified() -> Ended:
        return arena("study", "verify", copy, "--json", cwd=copy.parent, env=nowhere)

    honest = verified()
    assert (honest.code, honest.document["episodes"]) == (0, 64)
    evidence = next((copy / "runs" / "poor" / "evidence").glob("*/evidence.json"))
    document = json.loads(evidence.read_text()) | {"answer": "1921"}
    evidence.write_text(json.dumps(document))
    forged = verified()
    assert forged.code == VerificationError.exit_code
    assert evidence.parent.name in forged.document["differences"][0]["where"]


ADDED = ("wiki-bells-of-bruges", "wiki-shimano-founded")
GROWING = f"""\
name: growing
agents:
  steady: {{agent: oracle}}
  shaky: {{agent: oracle, options: {{error_rate: 0.5, seed: 4}}}}  # right, then wrong
suites: [{{suite: demo, tasks: [{", ".join(ADDED)}]}}]
workers: 2
questions:
  - {{id: better, kind: difference, of: agents, first: steady, second: shaky}}
"""
MORE = """\
agents:
  own: {agent: "own_agent:Agent", options: {says: "1921"}}
repeats: 2
questions:
  - {id: own-better, kind: difference, of: agents, first: own, second: shaky}
"""
OWN_AGENT = """\
from arena_core.actions import Stop
from orchestrator.agents.interface import Assignment, Decision
from orchestrator.browser.observation import Observation


class Agent:
    def __init__(self, assignment: Assignment, *, says: str = "") -> None:
        self.says = says

    async def decide(self, observation: Observation) -> Decision:
        return Decision(Stop(answer=self.says))
"""


def test_an_agent_and_repeats_that_are_added_are_played_and_told_apart(tmp_path: Path) -> None:
    """The added agent is a class of the user's own, named as `arena eval --agent` names it."""
    file, study = tmp_path / "growing.yaml", tmp_path / "arena-studies" / "growing"
    file.write_text(GROWING)
    (tmp_path / "more.yaml").write_text(MORE)
    (tmp_path / "own_agent.py").write_text(OWN_AGENT)
    assert arena("study", "run", file, cwd=tmp_path).code == 0
    before = answers(study)
    assert before.keys() == {"better"}
    assert "steady solved 100% and shaky 100%" in before["better"]["sentence"]

    added = arena("study", "add", study, tmp_path / "more.yaml", cwd=tmp_path)
    assert (added.code, "own (added)" in added.out) == (0, True)
    assert answers(study)["better"]["question"]["registered"] is True
    assert arena("study", "run", study, cwd=tmp_path).code == 0

    done = finished(study)
    assert set(done.values()) == {1}
    assert Counter(run for run, *_ in done) == {"steady": 4, "shaky": 4, "own": 4}
    after = answers(study)
    assert {name: one["question"]["registered"] for name, one in after.items()} == {
        "better": True,
        "better+added": False,
        "own-better": False,
    }
    solved = "the first repeat, steady solved 100% and shaky 100%"
    assert solved in after["better"]["sentence"]
    assert "steady solved 100% and shaky 50%" in after["better+added"]["sentence"]
    assert "own solved 50% and shaky 50%" in after["own-better"]["sentence"]
    said = [json.loads(one.read_text()) for one in study.glob("runs/own/evidence/*/evidence.json")]
    assert {one["answer"] for one in said} == {"1921"}  # right of one task
    page = (study / "report" / "index.html").read_text()
    assert "added after the study was registered" in page
    verified = arena("study", "verify", study, "--json", cwd=tmp_path)
    assert (verified.code, verified.document["episodes"]) == (0, 12)
    assert verified.document["registered"] != verified.document["current"]


def answers(study: Path) -> dict[str, dict[str, Any]]:
    """Report a study, and return what it answers by question."""
    said = arena("study", "report", study, "--json", cwd=study.parent)
    return {one["question"]["id"]: one for one in said.document["answers"]}
