"""The oracle foresees what a page of MiniWoB++ draws from its seed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quick_cases import SLOW

from orchestrator.agents.builtin.miniwob.tic_tac_toe import (
    SeededDice,
    _answered,
    winning_moves,
    wins,
)


@pytest.mark.parametrize(
    ("seed", "numbers"),
    [
        # As Chromium throws them after `Math.seedrandom(seed)` of the package's own core.js.
        (1, (0.1776348083296759, 0.21606903041839373)),
        (7, (0.501492094922307, 0.9049477817690885)),
        (12345, (0.9166586073672581, 0.033239555014046934)),
        (2**31 - 1, (0.7152343255403458, 0.6774207978448733)),
    ],
)
def test_its_numbers_are_those_of_the_page(seed: int, numbers: tuple[float, ...]) -> None:
    dice = SeededDice(seed)
    copied = dice.copy()
    assert tuple(dice.throw() for _ in numbers) == numbers
    assert tuple(copied.throw() for _ in numbers) == numbers


@SLOW
def test_there_are_moves_that_win_for_the_seeds_of_the_suite() -> None:
    assert None not in [winning_moves(seed) for seed in range(300)]


@settings(deadline=None)
@given(st.integers(min_value=0, max_value=2**31 - 1))
def test_the_moves_win_against_what_the_page_answers(seed: int) -> None:
    moves = winning_moves(seed)
    if moves is None:  # as of one seed in 130
        return
    dice, marks = SeededDice(seed), " " * 9
    if dice.below(100) > 50:
        marks = _answered(marks, dice)
    for number, at in enumerate(moves, start=1):
        assert marks[at] == " "
        marks = marks[:at] + "X" + marks[at + 1 :]
        if number < len(moves):
            marks = _answered(marks, dice)
            assert not wins(marks, "O")
    assert wins(marks, "X")
