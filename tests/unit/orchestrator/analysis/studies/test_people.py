"""A person's run beside others: labelled, and with figures that say what they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.runs.small_runs import write_run

from arena_core.errors import UsageError
from arena_core.worlds import World
from evaluators.evidence import PersonTimes
from orchestrator.analysis.run_report.run_report import read_run
from orchestrator.analysis.studies.comparison import NamedRun, read_comparison

WON = {World.OFFLINE: {"one": [True], "two": [False]}}
TIMES = PersonTimes(seconds=42.0, paused=8.0, pauses=1)


def test_a_persons_seconds_are_their_own_and_the_comparison_says_so(tmp_path: Path) -> None:
    person = write_run(tmp_path / "1", "human (person P07)", WON, times=TIMES)
    agent = write_run(tmp_path / "2", "b", WON)
    found = read_comparison([NamedRun(folder=person), NamedRun(folder=agent)])
    assert "human (person P07): median 42.0 s and 1 action a scored episode." in found.notes
    assert "b: median 1.5 s and 1 action a scored episode." in found.notes
    assert any("an agent's are the whole attempt" in note for note in found.notes)
    assert not any("people have figures" in note for note in found.notes)


def test_agents_alone_are_told_nothing_of_people(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / name, name, WON) for name in ("a", "b")]
    found = read_comparison([NamedRun(folder=run) for run in runs])
    assert not any("person" in note for note in found.notes)


def test_two_people_are_never_one(tmp_path: Path) -> None:
    runs = [
        write_run(tmp_path / name, f"human (person {name})", WON, times=TIMES)
        for name in ("P07", "P08")
    ]
    found = read_comparison([NamedRun(folder=run) for run in runs])
    assert [run.label for run in found.runs] == ["human (person P07)", "human (person P08)"]
    assert any("2 people have figures of their own" in note for note in found.notes)
    with pytest.raises(UsageError, match=r"two runs of suite .* are called 'people'"):
        read_comparison([NamedRun(folder=run, label="people") for run in runs])


def test_a_report_says_how_long_a_person_took(tmp_path: Path) -> None:
    report = read_run(write_run(tmp_path / "1", "human (person P07)", WON, times=TIMES))
    assert report.by_hand == (
        "median 42.0 s from Start to the answer, and 1 action, a task;"
        " 2 pauses of 16 s in all left out"
    )
    assert report.agent_note == "a person, for a human baseline, not an agent"
    assert read_run(write_run(tmp_path / "2", "b", WON)).by_hand is None
