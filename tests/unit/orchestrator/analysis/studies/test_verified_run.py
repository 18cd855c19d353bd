"""Whoever picks episodes out of a study is named, with or without the digests written anew."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

import pytest
from quick_cases import ONE_QUICK, SLOW
from support.studies.registered_study import make_study, play

from arena_core.worlds import World
from evaluators.evidence import EpisodeFault, UnscoredReason
from orchestrator.analysis.studies.registration import Amendment, StudyFolder
from orchestrator.analysis.studies.seals import read_seals, seal_study
from orchestrator.api.arena import Arena
from orchestrator.runs.store.digests import digest_of_folder
from orchestrator.runs.store.ledger import AttemptState, EpisodeKey, Ledger
from orchestrator.runs.store.lock import lock_digest
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.runs.store.scoring import unplayed

EVIDENCE = "runs/wrong/evidence"


@pytest.fixture
def study(tmp_path: Path) -> StudyFolder:
    return make_study(tmp_path / "study")


def said(study: StudyFolder, **published: str) -> tuple[list[str], dict[str, str]]:
    """Return what differs, and what is missing of each agent."""
    found = Arena().studies.verify(study.path, **published)
    differences = [f"{one.where}: {one.what}" for one in found.differences]
    return differences, {one.agent: one.missing for one in found.agents if one.missing}


def in_ledger(run: RunFolder, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(run.ledger_path)) as ledger:
        ledger.execute(statement, values)
        ledger.commit()


def without_evidence(run: RunFolder, names: Iterable[str]) -> None:
    for name in names:
        shutil.rmtree(run.evidence_folder(name))


def forge(study: StudyFolder) -> None:
    """Write journals and seals anew, as whoever owns the folder can: each attempt began and ended.

    Evidence gets the digest that it has now.
    """
    study.seals_path.unlink()
    for registered in study.registration().runs:
        run = study.run_folder(registered.folder)
        with closing(sqlite3.connect(run.ledger_path)) as ledger:
            attempts = ledger.execute("SELECT * FROM attempt ORDER BY started_at").fetchall()
            ledger.execute("DELETE FROM attempt")
            ledger.execute("DROP TABLE entry")
            ledger.commit()
        again = Ledger.open(run.ledger_path)
        again.keep_journal(run.lock().run, lock_digest(run.lock()))
        known = {one[:4]: one for one in attempts}
        for key in sorted(known):
            _play_again(again, run, known[key])
        again.close()
    seal_study(study)


def _play_again(ledger: Ledger, run: RunFolder, row: tuple[object, ...]) -> None:
    task, world, repeat, _, state, outcome = row[:6]
    key = EpisodeKey(str(task), World(str(world)), int(str(repeat)))
    number = ledger.start(key)
    folder = run.evidence_folder(key.folder(number))
    digest = digest_of_folder(folder) if folder.is_dir() else None
    ledger.end(
        key, number, AttemptState(str(state)), None if outcome is None else str(outcome), digest
    )


def failures_deleted(study: StudyFolder) -> None:
    run = study.run_folder("wrong")
    without_evidence(run, run.evidence_names())
    in_ledger(run, "DELETE FROM attempt")


def one_failure_deleted(study: StudyFolder) -> None:
    run = study.run_folder("wrong")
    without_evidence(run, ["offline-one-r1-a1"])
    in_ledger(run, "DELETE FROM attempt WHERE repeat = 1")


def marked(state: str) -> Callable[[StudyFolder], None]:
    def mark(study: StudyFolder) -> None:
        change = "UPDATE attempt SET state = ?, outcome = NULL WHERE repeat = 1"
        in_ledger(study.run_folder("wrong"), change, state)

    mark.__name__ = f"marked_{state}"
    return mark


def emptied(study: StudyFolder) -> None:
    run = study.run_folder("wrong")
    without_evidence(run, run.evidence_names())
    run.ledger_path.unlink()


def last_repeat_dropped(study: StudyFolder) -> None:
    for name in ("right", "wrong"):
        run = study.run_folder(name)
        without_evidence(run, ["offline-one-r2-a1"])
        in_ledger(run, "DELETE FROM attempt WHERE repeat = 2")
        lock = run.path / "lock.json"
        lock.write_text(json.dumps(json.loads(lock.read_text()) | {"repeats": 2}))


def last_repeat_dropped_as_an_addition(study: StudyFolder) -> None:
    """The lock keeps its digest: two repeats were "added" to three."""
    last_repeat_dropped(study)
    for name in ("right", "wrong"):
        path = study.runs_path / name / "lock.json"
        added = [{"before": 3, "after": 2, "by": "me", "at": "2026-11-22T00:00:00+00:00"}]
        path.write_text(json.dumps(json.loads(path.read_text()) | {"added_repeats": added}))


def agents_swapped(study: StudyFolder) -> None:
    """Both are of one name, so evidence names the agent rightly."""
    right, wrong = study.runs_path / "right", study.runs_path / "wrong"
    for name in ("ledger.sqlite", "evidence"):
        (right / name).rename(study.path / name)
        (wrong / name).rename(right / name)
        (study.path / name).rename(wrong / name)


def swapped_and_renamed(study: StudyFolder) -> None:
    """Swapped whole, the locks too: the registration knows which run is whose."""
    right, wrong = study.runs_path / "right", study.runs_path / "wrong"
    right.rename(study.path / "was")
    wrong.rename(right)
    (study.path / "was").rename(wrong)


def digest_removed(study: StudyFolder) -> None:
    run = study.run_folder("wrong")
    path = run.evidence_folder("offline-one-r1-a1") / "evidence.json"
    path.write_text(path.read_text().replace("1892", "1891"))
    in_ledger(
        run,
        "UPDATE attempt SET outcome = 'success', evidence_sha256 = NULL WHERE repeat = 1",
    )


OPEN_3 = {"wrong": "3 not played"}
OPEN_1 = {"wrong": "1 not played"}
BOTH_OPEN = {"right": "1 not played", "wrong": "1 not played"}
RETRIED = f"{EVIDENCE}/offline-one-r1-a1: its evidence is complete (stopped), but the ledger says"


@ONE_QUICK
@pytest.mark.parametrize(
    ("pick", "missing", "named"),
    [
        (failures_deleted, OPEN_3, "the journal knows this attempt, the ledger does not"),
        (one_failure_deleted, OPEN_1, "offline-one-r1-a1: the journal knows this attempt"),
        (
            marked("abandoned"),
            OPEN_1,
            "state is abandoned in the ledger, but finished in its journal",
        ),
        (marked("retried"), OPEN_1, f"{RETRIED} retried"),
        (emptied, OPEN_3, "run wrong had 7 entries, the last with SHA-256"),
        (last_repeat_dropped, BOTH_OPEN, "lock.json: repeats: 2, but 3 registered"),
        (last_repeat_dropped_as_an_addition, BOTH_OPEN, "repeats: 2, but 3 registered"),
        (agents_swapped, {}, "its evidence names run run-right, not run-wrong"),
        (swapped_and_renamed, {}, "belongs to run run-right, but run-wrong was registered"),
        (
            digest_removed,
            {"wrong": "1 without a digest"},
            "outcome is success in the ledger, but failure in its journal",
        ),
    ],
)
def test_picking_is_named(
    study: StudyFolder,
    pick: Callable[[StudyFolder], None],
    missing: dict[str, str],
    named: str,
) -> None:
    pick(study)
    differences, lacking = said(study)
    assert lacking == missing
    assert any(named in one for one in differences), differences


@ONE_QUICK
@pytest.mark.parametrize(
    ("pick", "missing", "named"),
    [
        (failures_deleted, OPEN_3, ""),
        (one_failure_deleted, OPEN_1, ""),
        (marked("abandoned"), OPEN_1, f"{RETRIED} abandoned"),
        (marked("retried"), OPEN_1, f"{RETRIED} retried"),
        (last_repeat_dropped_as_an_addition, BOTH_OPEN, "repeats: 2, but 3 registered"),
        (agents_swapped, {}, "its evidence names run run-right, not run-wrong"),
    ],
)
def test_picking_is_named_though_all_digests_were_written_anew(
    study: StudyFolder,
    pick: Callable[[StudyFolder], None],
    missing: dict[str, str],
    named: str,
) -> None:
    pick(study)
    forge(study)
    differences, lacking = said(study)
    assert lacking == missing
    assert any(named in one for one in differences) or not named, differences


@SLOW
def test_what_was_written_anew_without_a_trace_parts_from_the_head_that_was_published(
    study: StudyFolder,
) -> None:
    """What the folder alone cannot show: better answers, with all digests reckoned again."""
    published = Arena().studies.verify(study.path).head
    run = study.run_folder("wrong")
    path = run.evidence_folder("offline-one-r1-a1") / "evidence.json"
    path.write_text(path.read_text().replace("1892", "1891"))
    in_ledger(run, "UPDATE attempt SET outcome = 'success' WHERE repeat = 1")
    forge(study)
    assert said(study) == ([], {})
    [difference], _ = said(study, head=published)
    assert difference.startswith("the published head: ")


def test_journals_that_were_written_anew_are_not_those_of_the_seals(study: StudyFolder) -> None:
    kept = study.seals_path.read_bytes()
    forge(study)
    study.seals_path.write_bytes(kept)
    differences, lacking = said(study)
    assert lacking == {}
    assert [one.partition(" had ")[0] for one in differences] == [
        "seals.jsonl:1: run right",
        "seals.jsonl:1: run wrong",
    ]


@ONE_QUICK
@pytest.mark.parametrize("number", [1, 2])
def test_a_seal_that_was_taken_out_is_named(study: StudyFolder, number: int) -> None:
    play(study.run_folder("right"), "1892", range(3, 4))
    seal_study(study)
    play(study.run_folder("right"), "1892", range(4, 5))
    seal_study(study)
    lines = study.seals_path.read_text().splitlines(keepends=True)
    study.seals_path.write_text("".join(lines[: number - 1] + lines[number:]))
    differences, _ = said(study)
    assert f"seals.jsonl:{number}: does not match what came before it" in differences
    study.seals_path.unlink()
    differences, _ = said(study)
    assert "seals.jsonl: is missing" in differences


def test_an_honest_study_that_was_written_anew_is_no_difference(study: StudyFolder) -> None:
    """The forger of these tests is a good one."""
    forge(study)
    assert said(study) == ([], {})


def test_an_early_head_holds_what_came_before_it(study: StudyFolder) -> None:
    """Whoever published it shows that nothing was taken out before; later episodes are open."""
    early = read_seals(study)[-1].digest
    for name in ("right", "wrong"):
        study.run_folder(name).add_repeats(4)
        play(study.run_folder(name), "1892", range(3, 4))
    seal_study(study)
    found = Arena().studies.verify(study.path, head=early)
    assert "the published head is seal 1 of 2" in "\n".join(found.notes)
    one_failure_deleted(study)
    forge(study)
    differences, _ = said(study, head=early)
    assert any("the published head" in one for one in differences)


def test_an_attempt_that_was_scored_and_then_opened_again_is_named(study: StudyFolder) -> None:
    """Evidence of a failure is spoilt, and the run goes on: it plays that episode again."""
    run = study.run_folder("wrong")
    with run.writing() as ledger:
        one = ledger.attempts()[1]
        ledger.end(one.key, one.number, AttemptState.ABANDONED, None)
    play(run, "1891", range(1, 2))
    seal_study(study)
    differences, lacking = said(study)
    assert lacking == {}
    assert f"{EVIDENCE}/offline-one-r1-a1: was finished (failure), then changed to abandoned" in (
        differences
    )
    [_, wrong] = Arena().studies.verify(study.path).agents
    assert wrong.abandoned == 1


def test_a_run_that_the_registration_lost_is_named(study: StudyFolder) -> None:
    """With the registration's own digest written anew."""
    registration = study.registration()
    study.amend(registration.model_copy(update={"runs": registration.runs[:1]}))
    shutil.rmtree(study.runs_path / "wrong")
    differences, _ = said(study)
    assert "registration.json: 0 runs of agent 'wrong' on suite 'demo', not one" in differences


def added(study: StudyFolder, **changes: object) -> None:
    registration = study.registration()
    addition = Amendment.model_validate(
        {"at": "", "by": "me", "previous": registration.digest, **changes}
    )
    study.amend(registration.amended(addition))


def test_an_addition_takes_no_repeat_back(study: StudyFolder) -> None:
    """It leaves the digest that was published before as it was."""
    published = study.registration().registered_digest
    last_repeat_dropped_as_an_addition(study)
    added(study, repeats=2)
    forge(study)
    differences, lacking = said(study, registered=published)
    assert (differences, lacking) == (
        ["registration.json: addition 1 sets 2 repeats, but there were 3"],
        {},
    )


@ONE_QUICK
@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"agents": {"wrong": {"agent": "oracle"}}}, "wrong"),
        (
            {
                "questions": [
                    {
                        "id": "q",
                        "kind": "equivalence",
                        "of": "agents",
                        "first": "right",
                        "second": "wrong",
                        "margin": 0.5,
                    }
                ]
            },
            "q",
        ),
    ],
)
def test_an_addition_replaces_nothing(
    study: StudyFolder, changes: dict[str, object], name: str
) -> None:
    added(study, **changes)
    assert said(study)[0] == [f"registration.json: addition 1 replaces '{name}'"]


def test_a_study_without_journals_says_what_cannot_be_shown(study: StudyFolder) -> None:
    """As an earlier Arena wrote it: it is read and scored as ever."""
    study.amend(study.registration().model_copy(update={"version": 1}))
    study.seals_path.unlink()
    for name in ("right", "wrong"):
        run = study.run_folder(name)
        in_ledger(run, "DROP TABLE entry")
        for one in run.evidence_names():
            path = run.evidence_folder(one) / "evidence.json"
            document = json.loads(path.read_text())
            del document["run"]
            path.write_text(json.dumps(document))
            digest = digest_of_folder(path.parent)
            statement = "UPDATE attempt SET evidence_sha256 = ? WHERE repeat = ?"
            in_ledger(run, statement, digest, document["repeat"])
    found = Arena().studies.verify(study.path)
    assert (found.differences, [one.scored for one in found.agents]) == ((), [3, 3])
    assert sum("nothing shows that no attempt was removed" in one for one in found.notes) == 2
    assert Arena().studies.verify(study.path, head=found.head).differences == ()


def test_an_episode_that_a_budget_left_unplayed_may_be_played_later(study: StudyFolder) -> None:
    """It has no score: to open it again picks nothing."""
    run = study.run_folder("wrong")
    key = EpisodeKey("one", World.OFFLINE, 2)
    fault = EpisodeFault(reason=UnscoredReason.BUDGET, message="spent")
    without_evidence(run, run.evidence_names())
    run.ledger_path.unlink()
    play(run, "1892", range(2))
    with run.writing() as ledger:
        number = ledger.start(key)
        left = unplayed(run.lock(), key, number, fault)
        digest = run.save_evidence(key.folder(number), left, {})
        ledger.end(key, number, AttemptState.FINISHED, "unscored: budget", digest)
        ledger.end(key, number, AttemptState.ABANDONED, None)
    play(run, "1892", range(2, 3))
    study.seals_path.unlink()
    seal_study(study)
    assert said(study) == ([], {})
