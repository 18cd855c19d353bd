"""A run from the command line to its report, and its score without the machinery."""

from __future__ import annotations

from pathlib import Path

import pytest
from quick_cases import SLOW
from support.agents.arena_process import arena
from support.runs.run_at import RunAt
from support.tasks.small_suites import bells, profile, write_suite

from evaluators.evidence import Ended

pytestmark = [pytest.mark.docker, pytest.mark.browser]

NOTHING = {"DOCKER_HOST": "unix:///nonexistent", "ARENA_CHROMIUM": "/nonexistent/chromium"}


def test_a_run_passes_and_is_scored_and_shown_again_without_engine_or_browser(
    run: RunAt, tmp_path: Path
) -> None:
    played = run.play(write_suite(tmp_path, bells("bells"), profile("profile")), "--json")
    assert played.code == 0, played.err
    assert played.document["totals"]["offline"]["success"] == 1.0
    assert run.ledger() == [
        ("bells", 1, "finished", "success"),
        ("profile", 1, "finished", "success"),
    ]
    assert {name.partition(".")[0] for name in run.evidence_files()} == {
        f"offline-{task}-r0-a1/{name}"
        for task in ("bells", "profile")
        for name in ("evidence", "observations", "step-000", "step-001")
    }
    assert {path.name for path in run.cwd.iterdir()} == {"run"}
    assert run.lock.images.keys() == {"arena/wiki:1", "arena/shop:1"}
    assert run.containers() == ()
    report = run.path / "report.html"
    assert "success" in report.read_text(encoding="utf-8")

    scored = arena("score", "run", "--json", cwd=run.cwd, env=NOTHING)
    assert scored.code == 0, scored.err
    as_played = {
        episode["task"]: episode
        for task in played.document["tasks"]
        for episode in task["episodes"]
    }
    assert [one["verdicts"] for one in scored.document] == [
        as_played[one["task"]]["verdicts"] for one in scored.document
    ]
    assert {one["outcome"] for one in scored.document} == {"success"}

    report.unlink()
    shown = arena("report", "run", "--json", cwd=run.cwd, env=NOTHING)
    assert shown.code == 0, shown.err
    assert shown.document == played.document
    assert report.is_file()


@SLOW
def test_other_checks_on_the_same_evidence_give_another_score(run: RunAt, tmp_path: Path) -> None:
    """The score is computed from evidence, not copied from the ledger."""
    assert run.play(write_suite(tmp_path, bells("bells"))).code == 0
    stricter = dict(bells("bells"))
    stricter["checks"] = [
        {
            "name": "bells",
            "when": "end",
            "locate": {"by": "answer"},
            "match": {"how": "number", "value": 48},
        }
    ]
    suite = write_suite(tmp_path, stricter)
    [again] = arena("score", "run", "--suite", suite, "--json", cwd=run.cwd, env=NOTHING).document
    assert (again["outcome"], again["was"]) == ("failure", "success")


@SLOW
def test_random_acts_from_its_seed_until_the_step_limit(run: RunAt, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, bells("bells", limits={"steps": 3}))
    played = run.play(suite, "--agent", "random", "--seed", "7", "--repeats", "1")
    assert played.code == 0, played.err
    assert run.attempts() == [("finished", "failure")]
    evidence = run.evidence("bells")
    assert evidence.fault is None
    assert evidence.ended in {Ended.STEP_LIMIT, Ended.STOPPED}
    assert len(evidence.steps) >= 2


@SLOW
def test_a_folder_that_holds_a_run_is_not_overwritten(run: RunAt, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, bells("bells"))
    assert run.play(suite).code == 0
    before = run.evidence_files()
    again = run.play(suite)
    assert again.code == 80
    assert "exists already" in again.err
    assert "--resume" in again.err
    assert run.evidence_files() == before
