import getpass
import hashlib
import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.runs.ledger_check import ledger_faults
from support.runs.tiny_run import SUITE, make_lock, tiny_evidence

from arena_core.actions import Click
from arena_core.errors import StoreError
from arena_core.worlds import World
from evaluators.evidence import Evidence, StepEvidence, UrlVisit
from evaluators.network import RequestRecord
from orchestrator.runs.spec import SpendingLimits
from orchestrator.runs.store.digests import digest_of_folder
from orchestrator.runs.store.evidence_files import NETWORK_FILE
from orchestrator.runs.store.ledger import AttemptState, EpisodeKey
from orchestrator.runs.store.lock import hash_suite
from orchestrator.runs.store.rescoring import rescore
from orchestrator.runs.store.run_folder import RunFolder, runs_at


def make_evidence() -> Evidence:
    return tiny_evidence(
        seconds=1.5,
        steps=(
            StepEvidence(
                index=0, action=None, url="http://wiki.arena.test/", logical="wiki:/", title="W"
            ),
            StepEvidence(
                index=1,
                action=Click(element=7),
                url="http://wiki.arena.test/a",
                logical="wiki:/a",
                title="A",
                visits=(UrlVisit(tab=0, url="http://wiki.arena.test/a", logical="wiki:/a"),),
            ),
        ),
    )


def test_what_was_saved_is_read_back(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", make_lock(), SUITE)
    folder.save_evidence("a", make_evidence(), {"step-000.png": b"png"})
    again = RunFolder.open(tmp_path / "run")
    assert again.lock() == make_lock()
    assert again.suite() == SUITE
    assert again.evidence("a") == make_evidence().model_copy(update={"run": "r1"})
    assert (again.evidence_folder("a") / "step-000.png").read_bytes() == b"png"


def test_a_suite_that_was_edited_is_refused_and_one_of_an_earlier_arena_is_not(
    tmp_path: Path,
) -> None:
    """Its models had fewer names, so that the digest of its lock is not that of today's."""
    earlier = SUITE.model_dump(mode="json")
    for task in earlier["tasks"]:
        del task["expected_divergence"], task["wob"]
    written = json.dumps(earlier, separators=(",", ":"), ensure_ascii=False)
    digest = hashlib.sha256(written.encode()).hexdigest()
    assert digest != hash_suite(SUITE)
    lock = make_lock().model_copy(update={"suite_hash": digest})
    folder = RunFolder.create(tmp_path / "run", lock, SUITE)
    kept = folder.path / "suite.json"
    kept.write_text(json.dumps(earlier, indent=3))  # the layout is no content
    assert folder.suite() == SUITE
    kept.write_text(json.dumps(earlier).replace("1891", "1892"))
    with pytest.raises(StoreError, match="was changed after the run began"):
        folder.suite()


def test_other_checks_are_given_beside_an_edited_suite(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", make_lock(), SUITE)
    with folder.writing() as ledger:
        key = EpisodeKey("one", World.OFFLINE)
        number = ledger.start(key)
        folder.save_evidence(key.folder(number), make_evidence(), {})
        ledger.end(key, number, AttemptState.FINISHED, "success")
    kept = folder.path / "suite.json"
    kept.write_text(kept.read_text().replace("1891", "1892"))
    assert [str(one.score.outcome) for one in rescore(folder, SUITE)] == ["success"]
    with pytest.raises(StoreError, match="was changed after the run began"):
        rescore(folder)


def test_requests_lie_beside_the_evidence_and_are_read_back(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", make_lock(), SUITE)
    sent = RequestRecord(index=0, step=1, method="POST", url="http://s/", request_body="ä")
    recorded = make_evidence().model_copy(update={"network": (sent,), "network_fault": "cut"})
    folder.save_evidence("a", recorded, {})
    assert folder.evidence("a") == recorded.model_copy(update={"run": "r1"})
    assert "POST" not in (folder.evidence_folder("a") / "evidence.json").read_text()
    (folder.evidence_folder("a") / NETWORK_FILE).write_bytes(b"\x1f\x8b")
    with pytest.raises(StoreError, match=NETWORK_FILE):
        folder.evidence("a")


def test_evidence_that_was_cut_off_does_not_count(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", make_lock(), SUITE)
    partial = folder.path / "evidence" / "a.partial"
    partial.mkdir()
    (partial / "evidence.json").write_text("{")
    assert not folder.has_evidence("a")
    folder.save_evidence("a", make_evidence(), {})
    assert folder.has_evidence("a")
    assert not partial.exists()


def test_two_writers_cannot_hold_one_run(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", make_lock(), SUITE)
    with (
        folder.writing(),
        pytest.raises(StoreError, match="another"),
        RunFolder.open(folder.path).writing(),
    ):
        pass
    with folder.writing():
        pass


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is not a run folder"):
        RunFolder.open(tmp_path)


def test_a_run_never_overwrites_another(tmp_path: Path) -> None:
    RunFolder.create(tmp_path / "run", make_lock(), SUITE)
    with pytest.raises(StoreError, match="exists already"):
        RunFolder.create(tmp_path / "run", make_lock(), SUITE)


def test_a_run_that_dies_while_its_folder_is_made_can_be_begun_again(tmp_path: Path) -> None:
    class DyingLock:
        def model_dump_json(self, indent: int) -> str:
            raise KeyboardInterrupt

    path = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        RunFolder.create(path, DyingLock(), SUITE)  # type: ignore[arg-type]
    assert not path.exists()
    assert RunFolder.create(path, make_lock(), SUITE).suite() == SUITE


def test_what_a_killed_run_left_of_its_folder_is_no_run(tmp_path: Path) -> None:
    RunFolder.create(tmp_path / "runs" / "whole", make_lock(), SUITE)
    shutil.copytree(tmp_path / "runs" / "whole", tmp_path / "runs" / ".other.17.partial")
    assert [one.path.name for one in runs_at(tmp_path)] == ["whole"]


def test_damaged_evidence_is_named(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", make_lock(), SUITE)
    folder.save_evidence("a", make_evidence(), {})
    (folder.evidence_folder("a") / "evidence.json").write_text('{"suite": "tiny"}')
    with pytest.raises(StoreError, match=r"evidence\.json: is not what this version"):
        folder.evidence("a")


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", make_lock(), SUITE)
    with pytest.raises(StoreError, match="cannot be written"):
        folder.save_evidence("a", make_evidence(), {"sub/folder/that/is/missing.png": b""})
    assert not folder.has_evidence("a")
    assert list((folder.path / "evidence").iterdir()) == []


def test_evidence_that_is_delivered_twice_counts_once_and_stays_as_it_was(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", make_lock(), SUITE)
    key = EpisodeKey("one", World.OFFLINE)
    with folder.writing() as ledger:
        name = key.folder(ledger.start(key))
        digest = folder.save_evidence(name, make_evidence(), {"step-000.png": b"png"})
        ledger.end(key, 1, AttemptState.FINISHED, "success", digest)
        for again in (make_evidence(), tiny_evidence(seconds=9)):
            with pytest.raises(StoreError, match="is there already; it stays as it is"):
                folder.save_evidence(name, again, {})
        assert digest_of_folder(folder.evidence_folder(name)) == digest
        assert [path.name for path in (folder.path / "evidence").iterdir()] == [name]
    assert ledger_faults([folder.path]) == []


def test_other_limits_stand_in_the_lock_with_who_set_them_and_when(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", make_lock(), SUITE)
    folder.change_limits(SpendingLimits())
    assert folder.lock() == make_lock()
    for limits in (SpendingLimits(max_usd=5), SpendingLimits(max_usd=5), SpendingLimits(max_usd=9)):
        folder.change_limits(limits)
    lock = folder.lock()
    assert lock.budget == SpendingLimits()  # as it began
    assert [one.limits.max_usd for one in lock.changed_limits] == [5, 9]
    assert lock.current_limits.max_usd == 9
    assert {one.by for one in lock.changed_limits} == {getpass.getuser()}
    ages = [datetime.now(UTC) - datetime.fromisoformat(one.at) for one in lock.changed_limits]
    assert max(ages) < timedelta(minutes=5)


def test_limits_are_changed_by_nobody_while_another_process_plays(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", make_lock(), SUITE)
    with folder.writing(), pytest.raises(StoreError, match="is writing this run"):
        folder.change_limits(SpendingLimits(max_usd=5))
    assert folder.lock() == make_lock()
