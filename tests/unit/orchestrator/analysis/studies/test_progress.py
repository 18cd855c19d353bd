"""A study's status is read from its ledgers, also while it is played."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from quick_cases import SLOW
from support.agents.arena_process import Ended
from support.studies.registered_study import make_study

from arena_core.errors import StoreError
from arena_core.worlds import World
from orchestrator.agents.model_exchange import Spent
from orchestrator.analysis.studies.progress import read_progress
from orchestrator.analysis.studies.registration import StudyFolder
from orchestrator.runs.store.ledger import AttemptState, EpisodeKey


@pytest.fixture
def study(tmp_path: Path) -> StudyFolder:
    return make_study(tmp_path / "study")


def test_it_counts_episodes_without_their_evidence(study: StudyFolder) -> None:
    for run in ("right", "wrong"):
        shutil.rmtree(study.runs_path / run / "evidence")
    found = read_progress(study.path)
    assert (found.done, found.total, found.seconds_left) == (6, 6, 0.0)
    assert {cell.agent: cell.succeeded for cell in found.cells} == {"right": 3, "wrong": 0}


def test_time_left_is_what_the_rest_takes_at_the_speed_so_far(study: StudyFolder) -> None:
    study.run_folder("right").add_repeats(6)
    found = read_progress(study.path)
    cell = next(one for one in found.cells if one.agent == "right")
    assert cell.left == 3
    assert found.seconds_left == pytest.approx(3 * cell.seconds / cell.timed)


@pytest.mark.parametrize("hours", [-5, 5])
def test_a_clock_that_was_set_during_an_episode_changes_no_time_that_is_left(
    study: StudyFolder, hours: int
) -> None:
    study.run_folder("right").add_repeats(6)
    before = read_progress(study.path)
    with closing(sqlite3.connect(study.run_folder("right").ledger_path)) as ledger:
        ledger.execute(
            "UPDATE attempt SET ended_at = datetime(ended_at, ?) WHERE repeat = 0",
            (f"{hours} hours",),
        )
        ledger.commit()
    assert read_progress(study.path).seconds_left == before.seconds_left


def test_an_earlier_ledgers_time_that_ran_backwards_is_unknown(study: StudyFolder) -> None:
    with closing(sqlite3.connect(study.run_folder("right").ledger_path)) as ledger:
        ledger.execute("ALTER TABLE attempt DROP COLUMN seconds")
        ledger.execute("UPDATE attempt SET ended_at = '2020-01-01' WHERE repeat = 0")
        ledger.commit()
    cell = next(one for one in read_progress(study.path).cells if one.agent == "right")
    assert (cell.done, cell.timed) == (3, 2)
    assert cell.seconds >= 0


def test_time_left_goes_by_the_episodes_that_are_under_way_side_by_side(study: StudyFolder) -> None:
    folder = study.run_folder("right")
    folder.add_repeats(6)
    with study.writing():
        with folder.writing() as ledger:
            for repeat in (3, 4):
                ledger.start(EpisodeKey("one", World.OFFLINE, repeat))
        playing = read_progress(study.path)
    cut_off = read_progress(study.path)
    assert (playing.workers, cut_off.workers) == (2, 1)
    assert playing.seconds_left == pytest.approx((cut_off.seconds_left or 0) / 2)


def test_nothing_is_known_before_the_first_episode(study: StudyFolder) -> None:
    for run in ("right", "wrong"):
        (study.runs_path / run / "ledger.sqlite").unlink()
    found = read_progress(study.path)
    assert (found.done, found.seconds_left) == (0, None)


def test_costs_of_attempts_that_came_to_nothing_count(study: StudyFolder) -> None:
    with study.run_folder("right").writing() as ledger:
        key = EpisodeKey("one", World.OFFLINE, 7)
        number = ledger.start(key)
        ledger.spend(key, number, Spent.reported(100, 20, 0.5))
        ledger.end(key, number, AttemptState.ABANDONED, None)
    found = read_progress(study.path)
    assert (found.tokens, found.usd, found.unpriced) == (120, 0.5, 0)


def test_it_says_whether_a_process_plays_it(study: StudyFolder) -> None:
    assert not read_progress(study.path).is_running
    with study.writing():
        assert read_progress(study.path).is_running


def test_a_folder_that_is_no_study_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is not a study's folder"):
        read_progress(tmp_path)


@SLOW
def test_reading_it_loads_nothing_heavy() -> None:
    script = (
        "import sys, orchestrator.analysis.studies.progress\n"
        "print(sorted({'pydantic', 'numpy', 'playwright', 'docker', 'yaml'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


def test_the_ledgers_seconds_are_not_called_as_the_reports_are(
    study: StudyFolder, call: Callable[..., Ended]
) -> None:
    shown = call("study", "status", study.path).out
    assert "s with waiting" in shown
    assert "an episode" not in shown
