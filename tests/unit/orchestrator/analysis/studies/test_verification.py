"""A study's folder is held to itself: an honest copy passes, and whatever was changed is named."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NoReturn

import pytest
from quick_cases import ONE_QUICK, SLOW
from support.studies.registered_study import make_study, play

from arena_core.errors import WorkerProcessError
from orchestrator.analysis.studies import verified_run
from orchestrator.analysis.studies.registration import StudyFolder
from orchestrator.analysis.studies.verification import Verification
from orchestrator.api.arena import Arena

pytestmark = pytest.mark.usefixtures("plain")

EPISODE = "offline-one-r1-a1"


@pytest.fixture
def study(tmp_path: Path) -> StudyFolder:
    return make_study(tmp_path / "study")


def verified(path: Path, **published: str) -> Verification:
    return Arena().studies.verify(path, **published)


@SLOW
def test_an_honest_copy_elsewhere_passes(study: StudyFolder, tmp_path: Path) -> None:
    Arena().studies.report(study.path)
    copied = tmp_path / "elsewhere" / "copy"
    shutil.copytree(study.path, copied, copy_function=shutil.copyfile)
    shutil.rmtree(study.path)
    found = verified(copied)
    assert (found.differences, found.notes) == ((), ())
    assert [(one.agent, one.asked, one.scored, one.missing) for one in found.agents] == [
        ("right", 3, 3, ""),
        ("wrong", 3, 3, ""),
    ]
    for published in (
        {"registered": found.registered},
        {"registered": found.registered[:12]},
        {"head": found.head, "registered": found.current},
    ):
        assert verified(copied, **published).differences == ()
    for published in (
        {"registered": found.head},
        {"registered": found.registered[:11]},
        {"head": found.registered},
        {"head": "0" * 64},
    ):
        assert verified(copied, **published).differences != ()


def test_a_process_that_dies_while_it_scores_is_no_difference_of_the_folder(
    study: StudyFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def died(*_: object, **__: object) -> NoReturn:
        message = "a process that scored died"
        raise WorkerProcessError(message)

    monkeypatch.setattr(verified_run, "each_rescored", died)
    with pytest.raises(WorkerProcessError):
        verified(study.path)


def in_ledger(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path / "runs" / "wrong" / "ledger.sqlite")) as ledger:
        ledger.execute(statement)
        ledger.commit()


def better_answer(path: Path) -> None:
    at = path / "runs" / "wrong" / "evidence" / EPISODE / "evidence.json"
    at.write_text(at.read_text().replace("1892", "1891"))


def better_answer_in_both(path: Path) -> None:
    better_answer(path)
    in_ledger(path, "UPDATE attempt SET outcome = 'success' WHERE repeat = 1")


def better_outcome(path: Path) -> None:
    in_ledger(path, "UPDATE attempt SET outcome = 'success' WHERE repeat = 1")


def anothers_evidence(path: Path) -> None:
    """The digest is written anew as well: whose evidence it is shows by itself."""
    folder = path / "runs" / "wrong" / "evidence"
    shutil.rmtree(folder / EPISODE)
    shutil.copytree(folder / "offline-one-r0-a1", folder / EPISODE)
    in_ledger(
        path,
        "UPDATE attempt SET evidence_sha256 ="
        " (SELECT evidence_sha256 FROM attempt WHERE repeat = 0) WHERE repeat = 1",
    )


def another_picture(path: Path) -> None:
    (path / "runs" / "wrong" / "evidence" / EPISODE / "step-0.png").write_bytes(b"forged")


def no_evidence(path: Path) -> None:
    shutil.rmtree(path / "runs" / "wrong" / "evidence" / EPISODE)


def unknown_evidence(path: Path) -> None:
    folder = path / "runs" / "wrong" / "evidence"
    shutil.copytree(folder / EPISODE, folder / "offline-one-r1-a2")


def no_ledger(path: Path) -> None:
    (path / "runs" / "wrong" / "ledger.sqlite").unlink()


def a_repeat_too_many(path: Path) -> None:
    play(StudyFolder.open(path).run_folder("wrong"), "1891", range(3, 4))


def another_lock(path: Path) -> None:
    change_json(path / "runs" / "wrong" / "lock.json", browser="another")


def another_suite(path: Path) -> None:
    at = path / "runs" / "wrong" / "suite.json"
    at.write_text(at.read_text().replace("1891", "1892"))


def another_study(path: Path) -> None:
    at = path / "study.yaml"
    at.write_text(at.read_text().replace("difference", "equivalence, margin: 0.1"))


def another_registration(path: Path) -> None:
    change_json(path / "registration.json", registered_at="2026-01-01T00:00:00+00:00")


def registered_after_it_was_played(path: Path) -> None:
    folder = StudyFolder.open(path)
    later = {"registered_at": "2026-12-01T00:00:00+00:00"}
    folder.amend(folder.registration().model_copy(update=later))


def a_run_more(path: Path) -> None:
    shutil.copytree(path / "runs" / "wrong", path / "runs" / "tried-and-dropped")


def a_run_less(path: Path) -> None:
    shutil.rmtree(path / "runs" / "wrong")


def change_json(path: Path, **changes: str) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


AT = f"runs/wrong/evidence/{EPISODE}"


@ONE_QUICK
@pytest.mark.parametrize(
    ("change", "where", "what"),
    [
        (better_answer, AT, "its files have SHA-256"),
        (better_answer, AT, "scores success"),
        (better_answer_in_both, AT, "its files have SHA-256"),
        (better_outcome, AT, "the ledger says success"),
        (anothers_evidence, AT, "its evidence names repeat 0, not 1"),
        (another_picture, AT, "its files have SHA-256"),
        (no_evidence, AT, "the evidence is missing"),
        (unknown_evidence, "runs/wrong/evidence/offline-one-r1-a2", "does not know this attempt"),
        (no_ledger, "runs/wrong/ledger.sqlite", "is missing or damaged"),
        (a_repeat_too_many, "runs/wrong/evidence/offline-one-r3-a1", "does not ask the run for"),
        (another_lock, "runs/wrong/lock.json", "is not the lock that was registered"),
        (another_lock, "runs/wrong/lock.json", "browser: another"),
        (another_suite, "runs/wrong", "suite.json: was changed after the run began"),
        (another_study, "study.yaml", "was registered"),
        (another_registration, "registration.json", "its content has SHA-256"),
        (registered_after_it_was_played, AT, "before the registration at 2026-12-01"),
        (a_run_more, "runs/tried-and-dropped", "is not in the registration"),
        (a_run_less, "runs/wrong", "is not a run folder"),
    ],
)
def test_what_was_changed_is_named(
    study: StudyFolder, change: Callable[[Path], None], where: str, what: str
) -> None:
    change(study.path)
    found = verified(study.path).differences
    assert any(one.where == where and what in one.what for one in found), found


def test_suites_may_visit_other_sites_and_a_site_has_one_upstream(study: StudyFolder) -> None:
    """Whoever tampers with a lock of both is named; the order of sites says nothing."""
    for run, upstreams in (("right", {"wiki": "staged"}), ("wrong", {"wiki": "live"})):
        at = study.runs_path / run / "lock.json"
        lock = json.loads(at.read_text()) | {"upstreams": {"online": upstreams}}
        at.write_text(json.dumps(lock))
    found = verified(study.path).differences
    assert any(
        "answer for wiki online is live, but staged in other runs" in one.what for one in found
    )


def test_verifying_changes_nothing(study: StudyFolder) -> None:
    def state() -> dict[str, bytes]:
        files = (one for one in study.path.rglob("*") if one.is_file())
        return {str(one): one.read_bytes() for one in files}

    before = state()
    Arena().studies.verify(study.path)
    assert state() == before


def test_what_came_without_a_digest_is_counted_for_its_agent(study: StudyFolder) -> None:
    in_ledger(study.path, "UPDATE attempt SET evidence_sha256 = NULL WHERE repeat = 0")
    right, wrong = verified(study.path).agents
    assert (right.missing, wrong.missing) == ("", "1 without a digest")
