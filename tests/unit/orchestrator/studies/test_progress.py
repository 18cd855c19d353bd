"""A study's status is read from its ledgers, also while it is played."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from registered_study import make_study

from arena_core.errors import StoreError
from arena_core.worlds import World
from orchestrator.spending import Spent
from orchestrator.store.ledger import AttemptState
from orchestrator.store.trials import Trial
from orchestrator.studies.progress import read_progress
from orchestrator.studies.study_folder import StudyFolder


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


def test_time_left_goes_by_the_episodes_that_are_under_way_side_by_side(study: StudyFolder) -> None:
    folder = study.run_folder("right")
    folder.add_repeats(6)
    with study.writing():
        with folder.writing() as ledger:
            for repeat in (3, 4):
                ledger.start(Trial("one", World.OFFLINE, repeat))
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
        trial = Trial("one", World.OFFLINE, 7)
        number = ledger.start(trial)
        ledger.spend(trial, number, Spent.reported(100, 20, 0.5))
        ledger.end(trial, number, AttemptState.ABANDONED, None)
    found = read_progress(study.path)
    assert (found.tokens, found.usd, found.unpriced) == (120, 0.5, 0)


def test_it_says_whether_a_process_plays_it(study: StudyFolder) -> None:
    assert not read_progress(study.path).is_running
    with study.writing():
        assert read_progress(study.path).is_running


def test_a_folder_that_is_no_study_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is not a study's folder"):
        read_progress(tmp_path)


def test_reading_it_loads_nothing_heavy() -> None:
    script = (
        "import sys, orchestrator.studies.progress\n"
        "print(sorted({'pydantic', 'numpy', 'playwright', 'docker', 'yaml'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
