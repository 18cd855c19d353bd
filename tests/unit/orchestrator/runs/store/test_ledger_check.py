"""The tests' own reader of ledgers notices each way to lose or double a trial."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from support.runs.ledger_check import ledger_faults
from support.runs.sharded_runs import lock_of, play_run, play_shards, trials

from orchestrator.runs.store.merging import merge


def changed(run: Path, what: str) -> None:
    """Change the last attempt of a ledger, and not its journal."""
    with closing(sqlite3.connect(run / "ledger.sqlite")) as ledger:
        last = "rowid = (SELECT max(rowid) FROM attempt)"
        ledger.execute(f"{what} WHERE {last}")
        ledger.commit()


def without_retried(run: Path) -> None:
    with closing(sqlite3.connect(run / "ledger.sqlite")) as ledger:
        ledger.execute("DELETE FROM attempt WHERE state = 'retried'")
        ledger.commit()


def test_whole_runs_shards_and_what_they_were_merged_into_are_in_order(tmp_path: Path) -> None:
    shards = play_shards(tmp_path, 3)
    merged = merge(shards, tmp_path / "merged").path
    assert ledger_faults(shards, kept_in=merged) == ledger_faults([merged]) == []


WAYS: dict[str, Callable[[list[Path]], object]] = {
    "finished 0 times": lambda runs: runs.pop(),
    "finished 2 times": lambda runs: runs.append(runs[0]),
    "has no end": lambda runs: changed(runs[0], "UPDATE attempt SET state = 'started'"),
    "has the attempts [2]": lambda runs: without_retried(runs[0]),
    "of another share": lambda runs: changed(runs[0], "UPDATE attempt SET repeat = 77"),
    "nobody asked": lambda runs: changed(runs[0], "UPDATE attempt SET task = 'x'"),
    "in its ledger or its journal alone": lambda runs: changed(runs[0], "DELETE FROM attempt"),
}


@pytest.mark.parametrize("said", WAYS)
def test_each_way_to_lose_or_double_a_trial_is_named(tmp_path: Path, said: str) -> None:
    runs = play_shards(tmp_path, 2)
    WAYS[said](runs)
    assert any(said in fault for fault in ledger_faults(runs))


def test_a_merged_run_that_lost_an_attempt_is_named(tmp_path: Path) -> None:
    whole = play_run(tmp_path / "whole", None).path
    some = play_run(tmp_path / "some", None, only=trials(lock_of(None))[1:]).path
    assert ledger_faults([whole], kept_in=some) == ["some: holds other attempts than its shards"]
