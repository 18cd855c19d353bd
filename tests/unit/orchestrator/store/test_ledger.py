from pathlib import Path

import pytest

from arena_core.errors import StoreError
from arena_core.worlds import World
from orchestrator.store.ledger import AttemptState, Ledger
from orchestrator.store.trials import Trial

TRIAL = Trial("kettle", World.OFFLINE, 0)


def test_an_attempt_is_on_disk_before_it_starts(tmp_path: Path) -> None:
    writer = Ledger.open(tmp_path / "ledger.sqlite")
    writer.start(TRIAL)
    reader = Ledger.open(tmp_path / "ledger.sqlite")
    assert [one.state for one in reader.attempts()] == [AttemptState.STARTED]
    reader.close()
    writer.close()


def test_attempts_of_a_trial_are_numbered_from_one(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "ledger.sqlite")
    assert ledger.start(TRIAL) == 1
    ledger.end(TRIAL, 1, AttemptState.RETRIED, "unscored: infra")
    assert ledger.start(TRIAL) == 2
    assert ledger.start(Trial("kettle", World.ONLINE, 0)) == 1
    ledger.close()


def test_a_trial_finishes_once(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "ledger.sqlite")
    for _ in range(2):
        ledger.start(TRIAL)
    ledger.end(TRIAL, 1, AttemptState.FINISHED, "success")
    with pytest.raises(StoreError, match="cannot be written"):
        ledger.end(TRIAL, 2, AttemptState.FINISHED, "failure")
    assert [one.outcome for one in ledger.finished()] == ["success"]
    ledger.close()


def test_a_file_that_is_no_ledger_is_named(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    path.write_text("this is not a database, but it is longer than a header of one" * 20)
    with pytest.raises(StoreError, match=r"ledger\.sqlite: cannot be opened"):
        Ledger.open(path)
