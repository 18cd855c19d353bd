"""What `--help` prints can be read in a terminal of 80 columns."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from quick_cases import ONE_QUICK
from support.agents.arena_process import Ended
from support.agents.every_command import commands

from orchestrator.cli.entry import _PANELS

Call = Callable[..., Ended]

WIDTH = 80
LEAST = 30  # columns of help text: one sentence stays on a few lines


@ONE_QUICK
@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
def test_help_is_readable_at_eighty_columns(
    call: Call, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    said = call(*words, "--help").out
    assert "Usage: arena" in said
    for line in said.splitlines():
        assert len(line) <= WIDTH
        text = line.strip(" │")
        assert WIDTH - line.find(text) >= LEAST, f"too far to the right: {line!r}"
        assert not text.endswith("…"), f"cut: {line!r}"
        if option := re.match(r" +-[^ ].*?[^ ]  +(?=[^ ])", line):
            assert WIDTH - option.end() >= LEAST, f"too narrow: {line!r}"


def test_commands_stand_under_the_titles_of_their_groups(call: Call) -> None:
    said = call("--help").out
    for title, names in _PANELS.items():
        section = said.partition(f"\n{title}:\n")[2].partition("\n\n")[0]
        assert [line.split()[0] for line in section.splitlines()] == list(names)


def test_a_summary_is_wrapped_and_not_cut(call: Call) -> None:
    said = call("tasks", "--help").out
    assert "with --prove, play it: only full solutions may pass." in " ".join(said.split())
