from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.runs.small_runs import small_suite, write_run

from arena_core.errors import UsageError
from arena_core.worlds import World
from orchestrator.analysis.stats.results import Compared
from orchestrator.analysis.studies.comparison import (
    Comparison,
    NamedRun,
    own_questions,
    read_comparison,
)
from orchestrator.analysis.studies.questions import QuestionKind
from orchestrator.runs.store.run_folder import RunFolder

OFF, ON = World.OFFLINE, World.ONLINE
WON = {OFF: {"one": [True], "two": [False]}}
BOTH = {OFF: {"one": [True]}, ON: {"one": [False]}}


def compared(*folders: RunFolder) -> Comparison:
    return read_comparison([NamedRun(folder=folder) for folder in folders])


def test_two_agents_are_compared_in_each_world_that_both_played(tmp_path: Path) -> None:
    first = write_run(tmp_path / "1", "a", BOTH)
    second = write_run(tmp_path / "2", "b", {OFF: {"one": [True]}})

    questions = own_questions(compared(first, second).runs)

    assert [(one.of, one.first, one.second, one.world, one.agent) for one in questions] == [
        (Compared.AGENTS, "a", "b", OFF, None),
        (Compared.WORLDS, "offline", "online", None, "a"),
    ]
    assert not any(one.registered for one in questions)


def test_one_run_of_both_worlds_has_them_compared_and_with_a_margin_tested(tmp_path: Path) -> None:
    found = compared(write_run(tmp_path / "1", "a", BOTH))

    questions = own_questions(found.runs, 0.05)

    assert [(one.kind, one.margin) for one in questions] == [
        (QuestionKind.DIFFERENCE, None),
        (QuestionKind.EQUIVALENCE, 0.05),
    ]
    assert len({one.id for one in questions}) == 2


def test_one_run_of_one_world_has_nothing_to_compare(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing to compare: one run, in the offline world"):
        compared(write_run(tmp_path / "1", "a", WON))


def test_a_run_is_not_compared_with_itself_under_whatever_path(tmp_path: Path) -> None:
    run = write_run(tmp_path / "1", "a", WON)
    link, copy = tmp_path / "link", tmp_path / "copy"
    link.symlink_to(run.path)
    shutil.copytree(run.path, copy)

    for twin in (run.path, link):
        with pytest.raises(UsageError, match="named twice"):
            compared(run, RunFolder.open(twin))
    with pytest.raises(UsageError, match="is the same run as"):
        compared(run, RunFolder.open(copy))


def test_of_a_changed_suite_only_tasks_with_equal_checks_are_compared(tmp_path: Path) -> None:
    tasks = ["one", "two"]
    first = write_run(tmp_path / "1", "a", WON, suite=small_suite(tasks))
    changed = small_suite(tasks, asks={"two": "44.99"})
    second = write_run(tmp_path / "2", "b", WON, suite=changed)

    found = compared(first, second)

    assert {row.task for row in found.table} == {"one"}
    assert [run.lock.tasks for run in found.runs] == [("one",), ("one",)]
    assert [run.pending for run in found.runs] == [{OFF: 0}, {OFF: 0}]
    assert "1 of 2 tasks have the same intent, start and checks" in found.notes[0]
    assert "left out: two" in found.notes[0]


def test_runs_whose_checks_all_differ_cannot_be_compared(tmp_path: Path) -> None:
    first = write_run(tmp_path / "1", "a", WON, suite=small_suite(["one", "two"]))
    changed = small_suite(["one", "two"], asks={"one": "1.99", "two": "2.99"})
    second = write_run(tmp_path / "2", "b", WON, suite=changed)

    with pytest.raises(UsageError, match="cannot be compared: of suite small they have no task"):
        compared(first, second)


def test_runs_of_suites_without_a_common_task_cannot_be_compared(tmp_path: Path) -> None:
    first = write_run(tmp_path / "1", "a", WON, suite=small_suite(["one", "two"]))
    other = {OFF: {"three": [True]}}
    second = write_run(tmp_path / "2", "b", other, suite=small_suite(["three"], name="else"))

    with pytest.raises(UsageError, match="its suite small has no task in common with the others"):
        compared(first, second)


def test_a_suite_under_another_name_with_the_same_tasks_is_compared(tmp_path: Path) -> None:
    first = write_run(tmp_path / "1", "a", WON, suite=small_suite(["one", "two"]))
    second = write_run(tmp_path / "2", "b", WON, suite=small_suite(["one", "two"], name="fork"))

    found = compared(first, second)

    assert {row.suite for row in found.table} == {"small"}


def test_a_task_that_one_run_did_not_choose_is_left_out_and_named(tmp_path: Path) -> None:
    first = write_run(tmp_path / "1", "a", WON)
    suite = small_suite(["one", "two"])
    second = write_run(tmp_path / "2", "b", {OFF: {"one": [True]}}, suite=suite, tasks=["one"])

    found = compared(first, second)

    assert {row.task for row in found.table} == {"one"}
    assert any("1 of 2 tasks were not chosen in every run" in note for note in found.notes)


def test_a_run_still_being_played_says_what_is_pending(tmp_path: Path) -> None:
    first = write_run(tmp_path / "1", "a", WON)
    suite = small_suite(["one", "two"])
    second = write_run(tmp_path / "2", "b", {OFF: {"one": [True]}}, suite=suite, repeats=2)

    assert [run.pending for run in compared(first, second).runs] == [{OFF: 0}, {OFF: 3}]


def test_other_images_and_repeats_are_said(tmp_path: Path) -> None:
    first = write_run(tmp_path / "1", "a", WON)
    second = write_run(tmp_path / "2", "b", WON, image="cd", repeats=2)

    notes = " ".join(compared(first, second).notes)

    assert "The images of arena/shop:1 differ between the runs" in notes
    assert "The repeats differ between the runs: 1 and 2." in notes


def test_two_runs_of_one_agent_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    found = compared(write_run(tmp_path / "1", "a", WON), write_run(tmp_path / "2", "a", WON))

    assert [run.label for run in found.runs] == ["a (1)", "a (2)"]


def test_two_runs_of_one_agent_in_two_worlds_are_its_worlds(tmp_path: Path) -> None:
    first = write_run(tmp_path / "1", "a", {OFF: {"one": [True]}})
    second = write_run(tmp_path / "2", "a", {ON: {"one": [True]}})

    [question] = own_questions(compared(first, second).runs)

    assert (question.of, question.agent) == (Compared.WORLDS, "a")


def test_other_options_make_another_agent_and_not_the_other_world_of_one(tmp_path: Path) -> None:
    first = write_run(tmp_path / "1", "a", {OFF: {"one": [True]}})
    second = write_run(tmp_path / "2", "a", {ON: {"one": [True]}}, options={"temperature": 1.0})

    found = compared(first, second)

    assert [run.label for run in found.runs] == ["a (1)", "a (2)"]
    assert own_questions(found.runs) == ()


def test_labels_that_are_given_must_be_distinct(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / name, name, WON) for name in "12"]

    named = read_comparison(
        [NamedRun(folder=run, label=f"agent {n}") for n, run in enumerate(runs)]
    )
    assert {row.agent for row in named.table} == {"agent 0", "agent 1"}
    with pytest.raises(UsageError, match="are called 'same'"):
        read_comparison([NamedRun(folder=run, label="same") for run in runs])


def test_a_task_that_is_set_up_otherwise_is_another_task(tmp_path: Path) -> None:
    suite = small_suite(["one", "two"])
    step = {"worlds": ["offline"], "given": {"shop": [{"sql": "UPDATE a SET b = 1"}]}}
    changed = suite.model_validate(
        {
            **suite.model_dump(mode="json"),
            "tasks": [
                {**task.model_dump(mode="json"), **(step if task.id == "two" else {})}
                for task in suite.tasks
            ],
        }
    )
    found = compared(
        write_run(tmp_path / "1", "a", WON, suite=suite),
        write_run(tmp_path / "2", "b", WON, suite=changed),
    )
    assert {row.task for row in found.table} == {"one"}
    assert any("left out: two" in note for note in found.notes)
