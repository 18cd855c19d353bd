"""What `arena study` says of digests, and how `verify` ends."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from quick_cases import SLOW
from support.agents.arena_process import Ended
from support.studies.registered_study import make_study, play

from arena_core.errors import StoreError, VerificationError
from orchestrator.analysis.studies.registration import StudyFolder

pytestmark = pytest.mark.usefixtures("plain")

Call = Callable[..., Ended]


@pytest.fixture
def study(tmp_path: Path) -> StudyFolder:
    return make_study(tmp_path / "study")


@SLOW
def test_status_and_report_show_what_is_to_be_published(study: StudyFolder, call: Call) -> None:
    status = call("study", "status", study.path, "--json").document
    assert status["registered"] == study.registration().registered_digest
    shown = call("study", "status", study.path).out
    assert f"registered: {status['registered']}" in shown
    assert f"head: {status['head']}" in shown
    reported = call("study", "report", study.path, "--json").document
    assert reported["head"] != status["head"]
    assert reported["head"] in call("study", "report", study.path).err
    published = ("--registered", status["registered"][:16], "--head", status["head"])
    for head in (status["head"], reported["head"]):
        verified = call("study", "verify", study.path, *published[:3], head)
        assert (verified.code, f"head: {reported['head']}" in verified.out) == (0, True)


def test_an_agent_whose_episodes_are_missing_ends_it_with_82(
    study: StudyFolder, call: Call
) -> None:
    shutil.rmtree(study.path / "runs" / "wrong" / "evidence")
    (study.path / "runs" / "wrong" / "ledger.sqlite").unlink()
    found = call("study", "verify", study.path, "--json")
    assert found.code == VerificationError.exit_code
    assert "wrong: 3 not played" in found.err
    agents = {one["agent"]: one for one in found.document["agents"]}
    assert [agents[name]["open"] for name in ("right", "wrong")] == [0, 3]


def test_a_study_that_is_open_ends_it_with_82_and_says_whose(tmp_path: Path, call: Call) -> None:
    study = make_study(tmp_path / "study", repeats=2)
    found = call("study", "verify", study.path)
    assert found.code == VerificationError.exit_code
    assert "right: 1 not played; wrong: 1 not played" in found.err
    assert "difference" not in found.err
    play(study.run_folder("right"), "1891", range(2, 3))
    assert "arena: wrong: 1 not played\n" in call("study", "verify", study.path).err


def test_errors_on_stderr_hold_no_secret(
    tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "hunter2-hunter2")
    refused = call("study", "verify", tmp_path / "hunter2-hunter2")
    assert refused.code == StoreError.exit_code
    assert "hunter2" not in refused.err
    assert "[redacted]: is not a study's folder" in refused.err
