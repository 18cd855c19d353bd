"""`arena compare`: what it prints, writes and refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from quick_cases import SLOW
from support.agents.arena_process import Ended
from support.runs.small_runs import small_suite, write_run

from arena_core.worlds import World

pytestmark = pytest.mark.usefixtures("plain")

Call = Callable[..., Ended]
OFF, ON = World.OFFLINE, World.ONLINE
TASKS = [f"task-{number:02d}" for number in range(20)]
_MODEL = "a-model-with-a-rather-long-name-72b-instruct"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of two runs: `good` wins 18 of 20 tasks in both worlds, `bad` 4 of them offline."""
    folder = tmp_path_factory.mktemp("runs")
    won = {task: [number < 18] for number, task in enumerate(TASKS)}
    write_run(folder / "good", f"chat/{_MODEL}", {OFF: won, ON: won})
    lost: dict[str, list[bool | None]] = {task: [number < 4] for number, task in enumerate(TASKS)}
    write_run(folder / "bad", "webarena", {OFF: {**lost, "task-19": [None]}})
    return folder


@SLOW
def test_answers_come_first_and_every_line_is_readable_at_80_columns(
    call: Call, runs: Path
) -> None:
    done = call("compare", runs / "good", runs / "bad")

    lines = done.out.splitlines()
    assert done.code == 0
    assert max(map(len, lines)) <= 80
    said = " ".join(done.out.split())
    assert f"chat/{_MODEL} is better by 74 points" in said
    assert "not registered" in said
    assert "19/20" in said
    assert said.index("is better by") < said.index("success interval")


def test_labels_replace_the_agents_names(call: Call, runs: Path) -> None:
    done = call("compare", f"strong={runs / 'good'}", f"weak={runs / 'bad'}")

    assert done.code == 0
    assert "strong is better by 74 points" in " ".join(done.out.split())
    assert _MODEL not in done.out


def test_one_run_of_both_worlds_has_them_compared(call: Call, runs: Path) -> None:
    done = call("compare", runs / "good", "--margin", "0.05", "--json")

    found = json.loads(done.out)
    assert [one["question"]["kind"] for one in found["answers"]] == ["difference", "equivalence"]
    assert found["answers"][1]["question"]["margin"] == 0.05
    assert [one["decision"] for one in found["answers"]] == ["undecided", "undecided"]
    assert not any(one["question"]["registered"] for one in found["answers"])


@SLOW
def test_page_figures_and_tables_are_written_where_asked(
    call: Call, runs: Path, tmp_path: Path
) -> None:
    done = call("compare", runs / "good", runs / "bad", "--html", tmp_path / "page")

    assert done.code == 0
    assert f"report: {tmp_path / 'page' / 'index.html'}" in done.err
    assert "is better by" in (tmp_path / "page" / "index.html").read_text()
    names = {path.name for path in (tmp_path / "page" / "figures").iterdir()}
    assert {"forest.svg", "forest.pdf", "cells.tex", "answers.md"} <= names


@SLOW
def test_runs_that_are_not_finished_are_interim_and_nothing_is_decided(
    call: Call, runs: Path, tmp_path: Path
) -> None:
    lost = {task: [False] for task in TASKS[:15]}
    write_run(tmp_path / "half", "webarena", {OFF: lost}, tasks=TASKS, suite=small_suite(TASKS))

    done = call("compare", runs / "good", tmp_path / "half")
    found = json.loads(call("compare", runs / "good", tmp_path / "half", "--json").out)

    said = " ".join(done.out.split())
    assert "Interim, 35 of 40 episodes. On the same 15 tasks, offline," in said
    assert "nothing is decided before the end" in said
    assert "is better" not in said
    assert (found["is_interim"], found["pending"]) == (True, 5)
    [of_agents] = [one for one in found["answers"] if one["question"]["world"]]
    assert (of_agents["is_interim"], of_agents["decision"]) == (True, "undecided")
    assert (of_agents["p"], of_agents["stage"]["ended"]) == (None, 35)


def test_tasks_that_do_not_count_make_no_comparison_interim(
    call: Call, runs: Path, tmp_path: Path
) -> None:
    some: dict[str, list[bool | None]] = {task: [False] for task in TASKS[:12]}
    write_run(tmp_path / "some", "webarena", {OFF: some})

    done = call("compare", runs / "good", tmp_path / "some", "--json")

    found = json.loads(done.out)
    [of_agents] = [one for one in found["answers"] if one["question"]["world"]]
    assert (found["is_interim"], of_agents["is_interim"], of_agents["decision"]) == (
        False,
        False,
        "yes",
    )


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["bad"], 2, "nothing to compare: one run, in the offline world alone"),
        (["good", "good"], 2, "named twice"),
        (["good", "missing"], 80, "missing"),
        (["good", "bad", "--margin", "0"], 2, "a margin is a share between 0 and 1"),
        (["good", "--margin", "5"], 2, "not 5"),
        (["good", "bad", "--alpha", "1.5"], 2, "alpha lies between 0 and 0.5"),
        (["bad", "--margin", "nan"], 2, "a margin is a share"),
        (["x=good", "x=bad"], 2, "are called 'x'"),
    ],
)
def test_bad_input_is_one_line(
    call: Call, runs: Path, words: list[str], code: int, said: str
) -> None:
    paths = [
        f"{word[:2]}{runs / word[2:]}"
        if word.startswith("x=")
        else str(runs / word)
        if word.isalpha() and word != "nan"
        else word
        for word in words
    ]

    done = call("compare", *paths)

    assert done.code == code
    assert said in done.err
    assert "Traceback" not in done.err
    assert sum(line.startswith("arena: ") for line in done.err.splitlines()) == 1
    assert not done.out


def test_a_margin_that_would_have_no_effect_is_refused(
    call: Call, runs: Path, tmp_path: Path
) -> None:
    other = write_run(tmp_path / "other", "third", {OFF: {task: [True] for task in TASKS}})

    done = call("compare", runs / "bad", other.path, "--margin", "0.05")

    assert (done.code, done.out) == (2, "")
    assert "a margin has no effect here" in done.err


def test_two_agents_that_share_no_world_have_nothing_to_compare(
    call: Call, runs: Path, tmp_path: Path
) -> None:
    online = write_run(tmp_path / "online", "third", {ON: {task: [True] for task in TASKS}})

    done = call("compare", runs / "bad", online.path)

    assert (done.code, done.out) == (2, "")
    assert "no two agents were played in the same world" in done.err


def test_a_run_of_which_nothing_is_scored_is_said_and_not_counted_as_failed(
    call: Call, runs: Path, tmp_path: Path
) -> None:
    broken = write_run(tmp_path / "broken", "third", {OFF: {task: [None] for task in TASKS}})

    done = call("compare", f"good={runs / 'bad'}", broken.path)

    assert done.code == 0
    said = " ".join(done.out.split())
    assert "Undecided, offline: no task has a scored episode of both good and third" in said
    assert "third offline – 0%–100% 0/20" in said
    assert "100% of the episodes are unscored (infra 20)" in said


def test_the_page_needs_a_folder(call: Call, runs: Path) -> None:
    done = call("compare", runs / "good", runs / "bad", "--html", "page.html")

    assert done.code == 2
    assert "the page needs a folder" in done.err
