"""`arena ci`: exit codes, files, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.agents.arena_process import Ended
from support.runs.small_runs import write_run

from arena_core.worlds import World

Call = Callable[..., Ended]
TASKS = [f"task-{number}" for number in range(8)]


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for name, lost in (("base", 0), ("same", 0), ("worse", 6), ("blank", 8)):
        of = {task: [None if name == "blank" else n >= lost] for n, task in enumerate(TASKS)}
        write_run(tmp_path / name, "mine", {World.OFFLINE: of})
    return tmp_path


@pytest.mark.parametrize(("run", "code"), [("same", 0), ("worse", 1), ("blank", 90)])
def test_the_exit_code_tells_what_is_to_be_said_of_a_run(
    call: Call, runs: Path, run: str, code: int
) -> None:
    assert call("ci", "--run", "base", "--write-baseline", "b.json").code == 0
    files = ("--summary", "s.md", "--junit", "j.xml")
    ended = call("ci", "--run", run, "--against", "b.json", *files)
    assert ended.code == code, ended.err
    assert (runs / "s.md").is_file()
    assert (runs / "j.xml").is_file()


def test_json_has_the_verdict_and_what_was_lost(call: Call, runs: Path) -> None:
    ended = call("ci", "--run", "worse", "--against", "base", "--json")
    said = json.loads(ended.out)
    assert (ended.code, said["verdict"], len(said["lost"])) == (1, "dropped", 6)
    assert said["worlds"][0]["p"] < 0.05


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--run", "base"), "nothing to hold the agent to"),
        (("--against", "base"), "nobody is named"),
        (("--agent", "idle"), "nothing to hold the agent to"),
        (("--run", "same", "--suite", "smoke", "--against", "base"), "it takes no --suite"),
        (("--write-baseline", "b", "--against", "base"), "it takes no --against"),
        (("--run", "same", "--against", "base", "--allow", "x"), "may differ is called x"),
        (("--agent", "idle", "--against", "base"), "the baseline is of another suite"),
        (("--against", "base", "--shard", "1/2"), "No such option"),
        (("--agent", "idle", "--min-success", "80"), "a share up to 1"),
    ],
)
def test_a_bar_that_says_nothing_is_refused_before_anything_is_played(
    call: Call, runs: Path, words: tuple[str, ...], said: str
) -> None:
    ended = call("ci", *words)
    assert ended.code == 2
    assert said in ended.err


def test_an_unfinished_or_missing_run_or_file_is_named(call: Call, runs: Path) -> None:
    assert call("ci", "--run", "nowhere", "--min-success", "1").code == 80
    (runs / "b.json").write_text("[]")
    assert call("ci", "--run", "same", "--against", "b.json").code == 3
    assert call("ci", "--run", "same", "--against", "missing.json").code == 3
