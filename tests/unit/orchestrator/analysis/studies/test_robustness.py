"""Clean and varied runs beside each other: how much success is left, and never in one cell."""

from __future__ import annotations

from pathlib import Path

import pytest
from quick_cases import SLOW
from support.runs.small_runs import write_run

from arena_core.errors import UsageError
from arena_core.worlds import World
from orchestrator.analysis.studies.comparison import NamedRun, read_comparison
from orchestrator.analysis.studies.robustness import Robustness, robustness_of
from orchestrator.analysis.study_report.reporting import compare_runs

OFF = World.OFFLINE
TASKS = [f"task-{number:02d}" for number in range(20)]
DARK = "look=dark@v1"


def folder_of(
    path: Path, won: int, *, void: int = 0, agent: str = "chat", vary: str = ""
) -> NamedRun:
    """Write a run that wins its first tasks, loses others, and has no outcome of the last."""
    outcomes: dict[str, list[bool | None]] = {
        task: [None if number >= len(TASKS) - void else number < won]
        for number, task in enumerate(TASKS)
    }
    return NamedRun(folder=write_run(path, agent, {OFF: outcomes}, vary=[vary] if vary else []))


def found(*named: NamedRun) -> tuple[Robustness, ...]:
    comparison = read_comparison(named)
    return robustness_of(comparison.runs, comparison.table)


@SLOW
def test_the_ratio_is_of_the_tasks_that_both_arms_scored(tmp_path: Path) -> None:
    clean = folder_of(tmp_path / "clean", 16)
    dark = folder_of(tmp_path / "dark", 12, void=2, vary=DARK)
    [one] = found(clean, dark)
    assert (one.clean, one.varied, one.arm) == ("chat", "chat [look=dark]", "look=dark")
    assert (one.tasks, one.unpaired) == (18, 2)
    assert one.ratio == pytest.approx(12 / 16)
    assert one.interval is not None
    assert one.interval.low < 0.75 < one.interval.high <= 1
    assert one.broken == ("task-12", "task-13", "task-14", "task-15")
    assert one.sentence.startswith("Robustness of chat to look=dark, small, offline: 0.75")
    assert "4 tasks lost (task-12, task-13, task-14, task-15)" in one.sentence
    assert "2 tasks could not be paired" in one.sentence


@SLOW
def test_nothing_lost_is_one_and_has_no_interval_rather_than_a_false_one(tmp_path: Path) -> None:
    clean = folder_of(tmp_path / "clean", 16)
    [one] = found(clean, folder_of(tmp_path / "dark", 16, vary=DARK))
    assert (one.ratio, one.interval, one.broken) == (1.0, None, ())
    assert "1.00 (no interval: all clusters have the same value" in one.sentence
    assert "no task lost" in one.sentence


@SLOW
def test_without_a_clean_success_or_a_pair_there_is_no_ratio(tmp_path: Path) -> None:
    dark = folder_of(tmp_path / "dark", 3, vary=DARK)
    void = folder_of(tmp_path / "void", 0, void=20, vary="page=notice@9,v1")
    none, unpaired = found(folder_of(tmp_path / "clean", 0), dark, void)
    assert none.ratio is None
    assert "nothing succeeds in the clean arm" in none.sentence
    assert (unpaired.ratio, unpaired.tasks) == (None, 0)
    assert "no task has a scored episode in both arms; 20 tasks" in unpaired.sentence


def test_a_repeat_without_score_in_the_arm_takes_its_clean_twin_along(tmp_path: Path) -> None:
    # The second repeat is hard: lost where it counts, void where the agent gave up early.
    clean = write_run(tmp_path / "clean", "chat", {OFF: {"a": [True, False]}}, repeats=2)
    dark = write_run(tmp_path / "dark", "chat", {OFF: {"a": [True, None]}}, repeats=2, vary=[DARK])
    [one] = found(NamedRun(folder=clean), NamedRun(folder=dark))
    assert (one.clean_rate, one.varied_rate, one.ratio) == (1.0, 1.0, 1.0)


@SLOW
def test_only_arms_of_the_same_agent_are_set_against_its_clean_run(tmp_path: Path) -> None:
    clean = folder_of(tmp_path / "clean", 16)
    assert not found(clean, folder_of(tmp_path / "other", 12, agent="other", vary=DARK))
    assert not found(clean, folder_of(tmp_path / "again", 12))


@SLOW
def test_a_comparison_says_which_run_is_of_which_arm(tmp_path: Path) -> None:
    folder_of(tmp_path / "clean", 16)
    folder_of(tmp_path / "dark", 12, vary=DARK)
    compared = compare_runs(
        [tmp_path / "clean", tmp_path / "dark"], margin=None, alpha=0.05, seed=0
    )
    notes = " ".join(compared.analysis.notes)
    assert "The arms differ between the runs: clean and look=dark." in notes
    assert "chat [look=dark]: in the arm look=dark." in notes
    [robustness] = compared.analysis.robustness
    assert (robustness.clean, robustness.varied) == ("chat", "chat [look=dark]")
    assert {one.cell.agent for one in compared.analysis.cells} == {"chat", "chat [look=dark]"}


def test_runs_of_two_arms_never_share_a_label(tmp_path: Path) -> None:
    outcomes = {task: [True] for task in TASKS}
    write_run(tmp_path / "dark", "chat", {OFF: outcomes}, vary=[DARK])
    write_run(tmp_path / "online", "chat", {World.ONLINE: outcomes})
    with pytest.raises(UsageError, match="are called 'x'"):
        compare_runs(
            [("x", tmp_path / "dark"), ("x", tmp_path / "online")],
            margin=None,
            alpha=0.05,
            seed=0,
        )
