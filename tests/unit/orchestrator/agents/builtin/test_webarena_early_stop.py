"""When an agent counts as stuck, as WebArena's runner counts it."""

from __future__ import annotations

import pytest

from orchestrator.agents.builtin.webarena import EarlyStop, Move

CLICK = Move.of("click", {"element": 5})
OTHER = Move.of("click", {"element": 6})
DOWN = Move.of("scroll", {"direction": "down"})


def typed(text: str, element: int = 5) -> Move:
    return Move.of("type", {"element": element, "text": text, "submit": False})


def stop_after(*moves: Move | None, parse_failures: int = 3, repeats: int = 3) -> list[bool]:
    """Say after each move whether the agent is stopped."""
    stop = EarlyStop(parse_failures=parse_failures, repeats=repeats)
    said = [stop.reason() is not None]
    for move in moves:
        stop.note(move)
        said.append(stop.reason() is not None)
    return said


def test_it_goes_on_before_anything_was_done() -> None:
    assert stop_after() == [False]


@pytest.mark.parametrize("move", [CLICK, DOWN, Move.of("back", {})])
def test_the_same_move_three_times_in_a_row_ends_it_three_scrolls_too(move: Move) -> None:
    assert stop_after(move, move, move) == [False, False, False, True]
    assert not any(stop_after(move, move, None, move, OTHER, move))


def test_replies_without_an_action_end_it_in_a_row_only() -> None:
    assert stop_after(None, None, None)[-1]
    assert not any(stop_after(None, None, CLICK, None, None, DOWN))


def test_replies_without_an_action_are_equal_moves_as_well() -> None:
    assert stop_after(None, None, None, parse_failures=9)[-1]


def test_typing_into_an_element_counts_over_the_whole_run_whatever_is_typed() -> None:
    moves = [typed("a"), CLICK, typed("b"), DOWN, typed("b", element=6), typed("c")]
    assert stop_after(*moves) == [False] * 6 + [True]


def test_clicks_with_other_buttons_count_as_the_same_element() -> None:
    right = Move.of("click", {"element": 5, "button": "right"})
    assert stop_after(CLICK, right, CLICK)[-1]


def test_thresholds_may_be_others() -> None:
    assert not any(stop_after(CLICK, CLICK, CLICK, repeats=5))
    assert stop_after(CLICK, CLICK, repeats=2)[-1]
