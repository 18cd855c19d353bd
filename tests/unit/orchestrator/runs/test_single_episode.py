"""The run folder of one episode that a program of one's own drives."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from support.runs.tiny_run import SUITE, make_lock, tiny_evidence

from arena_core.worlds import World
from orchestrator.runs.single_episode import EpisodeFolder
from orchestrator.runs.store.ledger import EpisodeKey
from orchestrator.runs.store.run_folder import RunFolder


def test_its_ledger_says_how_long_it_took(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is entered and ended in two openings of the ledger: between them the client plays."""
    run, key = (
        RunFolder.create(tmp_path / "run", make_lock(), SUITE),
        EpisodeKey("one", World.OFFLINE),
    )
    with run.writing() as ledger:
        folder = EpisodeFolder(run, key, ledger.start(key))
    later = time.monotonic() + 12.5
    monkeypatch.setattr(time, "monotonic", lambda: later)
    evidence = tiny_evidence(seconds=12.0)
    folder.save(SUITE.tasks[0], evidence, {})
    with run.reading() as ledger:
        [found] = ledger.finished_episodes()
    assert found.outcome == "success"
    assert found.seconds == pytest.approx(12.5, abs=1)
