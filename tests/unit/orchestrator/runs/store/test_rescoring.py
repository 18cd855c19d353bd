"""Scores of many episodes: none is kept whole, and each is read again when it is asked for."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from quick_cases import ONE_QUICK, SLOW
from support.runs.evidence_changes import change
from support.runs.made_run import make_run
from support.studies.profiled_runs import REPEATS, write_profiled_runs

from arena_core.errors import StoreError
from evaluators.changes import ChangeKind
from evaluators.collateral import Collateral, CollateralKind
from evaluators.evidence import Evidence, UnscoredReason
from evaluators.scores import score
from orchestrator.runs.store.rescoring import each_rescored, rescore
from orchestrator.runs.store.run_folder import RunFolder


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return make_run(tmp_path / "run")


def test_a_scored_episode_is_what_its_evidence_is_worth(run: RunFolder) -> None:
    scored = rescore(run)
    assert len(scored) == 11
    for one in scored:
        whole = run.evidence(one.folder)
        assert one.score == score(one.task.checks, whole, one.task.requires)
        assert one.evidence == whole


def test_what_makes_evidence_long_is_not_held(run: RunFolder) -> None:
    for one in rescore(run):
        assert one.outline.steps == ()
        assert one.outline.located == ()
        assert one.outline.receipts == one.evidence.receipts
        assert one.outline.fault == one.evidence.fault


def test_a_path_is_each_action_and_the_page_that_it_led_to(run: RunFolder) -> None:
    for one in rescore(run):
        done = [(step.action, step.url) for step in one.evidence.steps if step.action is not None]
        for entry, (action, url) in zip(one.path, done, strict=True):
            kind, page = entry.split()
            assert kind == action.kind
            assert url.startswith(page)
            assert not {"?", "#"} & set(page)


@SLOW
def test_what_was_changed_and_how_sure_the_agent_was_is_taken_from_the_evidence(
    tmp_path: Path,
) -> None:
    _, hasty, mute = (one.folder for one in write_profiled_runs(tmp_path))
    last = {one.key.task: one for one in rescore(hasty) if one.key.repeat == REPEATS - 1}
    found = {task: one.collateral for task, one in last.items()}
    assert found["task-0"] == Collateral()
    assert found["task-3"] == Collateral(
        counts=((CollateralKind.ROWS_REMOVED, 2),), worst=ChangeKind.REMOVED, is_extra=True
    )
    assert found["task-6"] is None
    assert {one.confidence for one in last.values()} == {0.95}
    assert {(one.confidence, one.collateral) for one in rescore(mute)} == {(None, None)}


@SLOW
def test_an_episode_that_broke_off_says_nothing_of_what_was_changed(tmp_path: Path) -> None:
    _, hasty, _ = (one.folder for one in write_profiled_runs(tmp_path))
    name = f"offline-task-3-r{REPEATS - 1}-a1"
    change(hasty, name, fault={"reason": "infra", "message": "the container was removed"})
    [broken] = [one for one in rescore(hasty) if one.folder == name]
    assert broken.collateral is None


def test_the_evidence_read_last_is_not_read_again(run: RunFolder) -> None:
    first, *others = rescore(run)
    held = first.evidence
    assert first.evidence is held
    for one in others:
        assert one.evidence.task == one.task.id
    assert first.evidence is not held


def test_evidence_that_is_gone_after_it_was_scored_is_an_error_and_no_score(run: RunFolder) -> None:
    one = rescore(run)[0]
    (run.evidence_folder(one.folder) / "evidence.json").unlink()
    with pytest.raises(StoreError, match="cannot be read"):
        _ = one.evidence


def test_evidence_that_cannot_be_read_is_a_fault_whenever_it_is_asked_for(run: RunFolder) -> None:
    name = run.evidence_names()[0]
    (run.evidence_folder(name) / "evidence.json").write_text("{")
    [one] = [one for one in rescore(run) if one.is_unreadable]
    fault = one.evidence.fault
    assert fault is not None
    assert fault.reason is UnscoredReason.UNREADABLE


@ONE_QUICK
@pytest.mark.parametrize("text", ["{}", None])
def test_the_garbage_collector_is_left_as_it_was(run: RunFolder, text: str | None) -> None:
    name = run.evidence_names()[0]
    if text is not None:
        (run.evidence_folder(name) / "evidence.json").write_text(text)
    rescore(run)
    assert gc.isenabled()
    gc.disable()
    try:
        rescore(run)
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_evidence_is_validated_without_collections(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []
    real = Evidence.model_validate_json

    def watched(text: bytes) -> Evidence:
        seen.append(gc.isenabled())
        return real(text)

    monkeypatch.setattr(Evidence, "model_validate_json", watched)
    run.evidence(run.evidence_names()[0])
    assert seen == [False]


def test_episodes_are_read_when_it_is_their_turn(run: RunFolder) -> None:
    whole = rescore(run)
    episodes = each_rescored(run, with_evidence=True)
    first = next(episodes)
    assert first == whole[0]
    for path in run.path.glob("evidence/*/evidence.json"):
        path.write_text("{", encoding="utf-8")
    assert first.evidence.steps  # it is at hand, and not read again
    rest = list(episodes)
    assert [one.folder for one in rest] == [one.folder for one in whole[1:]]
    assert all(one.is_unreadable for one in rest)
