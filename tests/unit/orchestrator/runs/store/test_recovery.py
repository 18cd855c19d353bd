"""A ledger that was lost, damaged or put back: the evidence tells what was played."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from quick_cases import ONE_QUICK
from support.runs.made_run import make_run

from arena_core.errors import StoreError
from arena_core.worlds import World
from orchestrator.analysis.run_report.run_report import read_run
from orchestrator.runs.store.ledger import AttemptState, EpisodeKey, attempt_of
from orchestrator.runs.store.recovery import recover
from orchestrator.runs.store.run_folder import RunFolder


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return make_run(tmp_path / "run")


def remove(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    path.write_bytes(b"")


def overwrite(path: Path) -> None:
    path.write_bytes(b"this is no database " * 500)


def tear(path: Path) -> None:
    """Break a page in the middle of the file, and leave its head as it is."""
    content = bytearray(path.read_bytes())
    content[4096 : 2 * 4096] = b"\xff" * 4096
    path.write_bytes(content)


LOSSES = [remove, empty, overwrite, tear]
Loss = Callable[[Path], None]


@ONE_QUICK
@pytest.mark.parametrize("lose", LOSSES)
def test_a_report_of_a_run_whose_ledger_is_lost_shows_what_was_played(
    folder: RunFolder, lose: Loss
) -> None:
    before = read_run(folder)
    lose(folder.ledger_path)
    content = folder.ledger_path.read_bytes() if folder.ledger_path.exists() else None
    after = read_run(folder)
    assert after.recovered == 11
    assert before.recovered == 0
    assert after.agreement is not None
    assert before.agreement is not None
    assert after.agreement.rate == before.agreement.rate
    online = World.ONLINE
    assert after.summaries[online] == before.summaries[online]
    assert [row.task.id for row in after.rows] == [row.task.id for row in before.rows]
    # Whether an attempt that broke off was the last is known to the ledger alone: it is open again.
    assert after.pending == before.pending + 1
    # To read is not to repair.
    assert content is None or lose is empty or folder.ledger_path.read_bytes() == content


@ONE_QUICK
@pytest.mark.parametrize("lose", LOSSES)
def test_a_run_that_goes_on_enters_again_what_its_ledger_lost(
    folder: RunFolder, lose: Loss
) -> None:
    with folder.reading() as ledger:
        before = {(one.key, one.outcome) for one in ledger.finished()}
    lose(folder.ledger_path)
    with folder.writing() as ledger:
        recover(folder, ledger)
        after = {(one.key, one.outcome) for one in ledger.finished()}
        assert before - after == {(EpisodeKey("broken", World.OFFLINE), "unscored: infra")}
        assert after < before
        assert ledger.start(EpisodeKey("agrees", World.OFFLINE)) == 2
    assert read_run(folder).recovered == 0


def test_a_ledger_from_before_the_last_episodes_learns_of_them(folder: RunFolder) -> None:
    with folder.writing() as ledger:
        ledger._connection.execute("DELETE FROM attempt WHERE task = 'parts'")
    assert read_run(folder).recovered == 2
    assert read_run(folder).pending == 1


def test_a_episode_that_broke_off_as_often_as_allowed_has_finished_without_a_score(
    folder: RunFolder,
) -> None:
    """The run allows two attempts; those before it left no evidence."""
    last = folder.evidence("offline-broken-r0-a3")
    folder.save_evidence("offline-broken-r0-a2", last, {})
    folder.ledger_path.unlink()
    with folder.reading() as ledger:
        [broken] = [one for one in ledger.finished() if one.outcome == "unscored: infra"]
    assert (broken.key.task, broken.number) == ("broken", 3)


def test_evidence_that_cannot_be_read_and_that_no_ledger_knows_is_no_gap(folder: RunFolder) -> None:
    folder.ledger_path.unlink()
    (folder.evidence_folder("online-agrees-r0-a1") / "evidence.json").write_text("{")
    report = read_run(folder)
    assert [one.key.task for one in report.unreadable] == ["agrees"]
    assert report.summaries[World.ONLINE].episodes == 5


def test_a_run_without_ledger_and_evidence_was_never_played(tmp_path: Path) -> None:
    made = make_run(tmp_path / "made")
    folder = RunFolder.create(tmp_path / "run", made.lock(), made.suite())
    with pytest.raises(StoreError, match="nothing was run yet"), folder.reading():
        pass
    with folder.writing() as ledger:
        assert recover(folder, ledger) == ()


def test_other_folders_beside_the_evidence_are_left_alone(folder: RunFolder) -> None:
    for name in ("notes", "offline-unknown-r0-a1", "offline-agrees-r0-a9.partial"):
        (folder.path / "evidence" / name).mkdir()
    with folder.writing() as ledger:
        assert recover(folder, ledger) == ()


@pytest.mark.parametrize(
    "key", [EpisodeKey("a-r1-a2", World.ONLINE, 3), EpisodeKey("one", World.OFFLINE)], ids=str
)
def test_the_name_of_an_evidence_folder_tells_its_attempt(key: EpisodeKey) -> None:
    assert attempt_of(key.folder(12)) == (key, 12)


def test_states_of_what_did_not_finish_are_kept_apart(folder: RunFolder) -> None:
    folder.ledger_path.unlink()
    with folder.reading() as ledger:
        states = {one.folder: one.state for one in ledger.attempts()}
    assert states["offline-broken-r0-a3"] is AttemptState.RETRIED
