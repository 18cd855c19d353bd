"""What a run's model costs, where its budget ends, and the same run again without a model."""

from __future__ import annotations

import getpass
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from support.agents.scripted_model import Script, ScriptedModel
from support.runs.run_at import RunAt
from support.tasks.small_suites import bells, solve_bells, write_suite

from evaluators.evidence import Evidence
from orchestrator.episode.jsonl_files import read_exchanges

pytestmark = [pytest.mark.docker, pytest.mark.browser]

StartModel = Callable[[Script], ScriptedModel]
CHAT = ("--agent", "chat", "--model", "scripted")
PRICES = """
date: 2026-11-20
source: a test
models:
  scripted: {input: 1000, output: 10000}
"""


def test_a_budget_ends_a_run_a_larger_one_ends_it_well_and_a_replay_costs_nothing(
    run: RunAt, tmp_path: Path, scripted_model: StartModel
) -> None:
    suite = write_suite(tmp_path, bells("one"), bells("two"))
    (tmp_path / "prices.yaml").write_text(PRICES, encoding="utf-8")
    model = scripted_model(solve_bells)
    asked = (*CHAT, "--model-url", model.url)

    unpriced = run.play(suite, *asked, "--max-usd", "0.3")
    assert unpriced.code == 2
    assert "--prices" in unpriced.err
    assert not run.path.exists()

    # A reply costs 0.10 + 0.10; an episode two of them.
    priced = (*asked, "--prices", str(tmp_path / "prices.yaml"))
    first = run.play(suite, *priced, "--max-usd", "0.3", "--json")
    assert first.code == 0, first.err
    assert [one[3] for one in run.ledger()] == ["success", "unscored: budget"]
    assert len(model.requests) == 2
    assert json.loads(first.out)["usd"] == pytest.approx(0.4)
    assert run.evidence("one").usd == pytest.approx(0.4)
    assert "input 1000, output 10000 (a test, 2026-11-20)" in (run.lock.agent.price or "")

    again = run.resume()  # the budget is as spent as before
    assert again.code == 0, again.err
    assert len(model.requests) == 2
    assert "--max-usd" in again.out

    larger = run.resume("--max-usd", "5")
    assert larger.code == 0, larger.err
    assert [one.limits.max_usd for one in run.lock.changed_limits] == [5]
    assert f"$0.30 as it began, then $5.00 by {getpass.getuser()} at " in larger.out
    assert [one[3] for one in run.ledger() if one[2] == "finished"] == ["success", "success"]
    with closing(sqlite3.connect(run.path / "ledger.sqlite")) as ledger:
        [[spent]] = ledger.execute("SELECT sum(usd) FROM attempt").fetchall()
    assert spent == pytest.approx(0.8)
    html = (run.path / "report.html").read_text(encoding="utf-8")
    assert "$0.80" in html
    assert "carillon" in html  # of what was asked

    same = RunAt(tmp_path / "again")
    same.cwd.mkdir()
    replayed = same.play(suite, *CHAT, "--replay", str(run.path), "--json")
    assert replayed.code == 0, replayed.err
    assert len(model.requests) == 4
    assert [one[3] for one in same.ledger()] == ["success", "success"]
    assert same.lock.replayed == run.lock
    evidence = same.evidence("one")
    assert (evidence.replayed_from, evidence.usd) == (run.lock.run, run.evidence("one").usd)
    said = json.loads(replayed.out)
    assert (said["usd"], said["replayed_from"]) == (None, run.lock.run)

    other = RunAt(tmp_path / "other")
    other.cwd.mkdir()
    missed = other.play(suite, "one", *CHAT, "--replay", str(run.path), "--temperature", "0.5")
    assert missed.code == 90, missed.err
    assert [one[3] for one in other.ledger()] == ["unscored: replay_miss"]
    assert "temperature: '0.0' in the run, '0.5' now" in missed.err


def test_every_question_is_in_the_evidence_and_none_has_a_key(
    run: RunAt, tmp_path: Path, scripted_model: StartModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-arena-secret-0123456789")
    model = scripted_model(solve_bells)
    played = run.play(write_suite(tmp_path, bells("bells")), *CHAT, "--model-url", model.url)
    assert played.code == 0, played.err
    folder = run.path / "evidence" / "offline-bells-r0-a1"
    kept = read_exchanges(folder)
    assert [one.step for one in kept] == [1, 2]
    assert [one.exchange.request["model"] for one in kept] == ["scripted", "scripted"]
    assert Evidence.model_validate_json((folder / "evidence.json").read_bytes()).usd is None
    files = [path for path in run.path.rglob("*") if path.is_file()]
    assert not [path for path in files if b"sk-arena-secret" in path.read_bytes()]
    assert "sk-arena-secret" not in str(kept)
