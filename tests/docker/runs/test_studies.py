"""A registered study, really played: killed, interrupted, resumed, reported, verified as a copy."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from arena_process import ArenaProcess, Ended, arena

from arena_core.errors import InterruptedRunError, StoreError, VerificationError
from arena_core.worlds import World
from orchestrator.agent_interface import Assignment
from orchestrator.agents.erring import Mistakes

pytestmark = [pytest.mark.docker, pytest.mark.browser, pytest.mark.slow(minutes=6)]

SHARES = {"good": 0.1, "poor": 0.7}
REPEATS = 2
STUDY = f"""\
name: planted
agents:
  good: {{agent: oracle, options: {{errs: 0.1, seed: 1}}}}
  poor: {{agent: oracle, options: {{errs: 0.7, seed: 2}}}}
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
    decisions = {one["question"]: one["decision"] for one in said["answers"]}
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
