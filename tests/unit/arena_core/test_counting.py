"""Counts in messages: one is one, and several are several."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from support.agents.arena_process import Ended
from support.tasks.code_blocks import ROOT
from support.tasks.small_suites import bells, write_suite

from arena_core.names import counted

Call = Callable[..., Ended]


@pytest.mark.parametrize(
    ("number", "words", "said"),
    [
        (0, ("episode",), "0 episodes"),
        (1, ("episode",), "1 episode"),
        (2, ("episode",), "2 episodes"),
        (99_999_999, ("episode",), "99,999,999 episodes"),
        (1, ("episode is", "episodes are"), "1 episode is"),
        (2, ("episode is", "episodes are"), "2 episodes are"),
    ],
)
def test_a_noun_follows_its_number(number: int, words: tuple[str, ...], said: str) -> None:
    assert counted(number, *words) == said


def test_what_is_said_of_one_task_is_in_the_singular(call: Call, tmp_path: Path) -> None:
    one = bells("bells")
    suite = write_suite(tmp_path, {key: one[key] for key in one if key != "reference"})
    said = call("tasks", "lint", suite).err
    assert "1 of 1 task has no reference: it cannot be proved" in said
    assert "1 task, no errors" in said
    assert re.search(r"\b1 \w+s\b", said) is None


def test_messages_of_the_command_line_count_by_the_one_function() -> None:
    counts = re.compile(r"\{[\w.()]+\} (?:episodes|tasks|runs|attempts|questions|findings)\b")
    found = [
        (path.name, line.strip())
        for path in (ROOT / "orchestrator" / "cli").rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if counts.search(line) and " of {" not in line
    ]
    assert [one for one in found if "study_lines" not in one[0]] == []
