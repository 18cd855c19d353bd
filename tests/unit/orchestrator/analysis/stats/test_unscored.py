from __future__ import annotations

from collections.abc import Sequence

from support.studies.stats_rows import outcomes, pairs

from orchestrator.analysis.stats.paired import compare_pairs
from orchestrator.analysis.stats.rates import Interval
from orchestrator.analysis.stats.results import TaskPair
from orchestrator.analysis.stats.unscored import difference_bounds, rate_bounds, tipping_point


def sign(found: Sequence[TaskPair]) -> str:
    effect = compare_pairs(found, seed=1, resamples=100).effect or 0.0
    return "first" if effect > 0 else ("second" if effect < 0 else "even")


def test_bounds_are_the_rate_with_all_failed_and_all_succeeded() -> None:
    assert rate_bounds(outcomes("+?", "-", "??")) == Interval(0.5 / 3, 2 / 3)
    assert rate_bounds(outcomes("+-")) == Interval(0.5, 0.5)
    assert rate_bounds(outcomes("")) is None


def test_a_difference_is_bounded_by_opposite_extremes() -> None:
    assert difference_bounds(pairs("+|?", "?|-")) == Interval(0.0 - 0.5 + 0.5 - 0.0, 1.0)
    assert difference_bounds(pairs("?|?")) == Interval(-1.0, 1.0)
    assert difference_bounds(pairs("+|")) is None


def test_without_unscored_episodes_nothing_can_turn() -> None:
    found = tipping_point(pairs("+|-", "+|+"), sign, seed=1)
    assert (found.decision, found.turns) == ("first", ())


def test_what_no_unscored_episode_could_turn_says_so() -> None:
    found = tipping_point(pairs(*["+|-"] * 8, "?|+"), sign, seed=1)
    assert (found.first_unscored, found.second_unscored, found.turns) == (1, 0, ())


def test_the_turn_is_where_the_conclusion_just_changes() -> None:
    # Three tasks lead; four unscored of the second side make it even where three succeed.
    found = tipping_point(pairs(*["+|-"] * 3, *["-|?"] * 4, *["-|-"] * 3), sign, seed=1)
    [turn] = found.turns
    assert (turn.first_succeed, turn.second_succeed, turn.decision) == (0, 3, "even")


def test_a_draw_turns_either_way() -> None:
    found = tipping_point(pairs("+|-", "-|+", "+|+", *["?|+", "+|?"] * 4), sign, seed=1)
    assert {turn.decision for turn in found.turns} == {"first", "second"}


def test_a_conclusion_from_nothing_scored_turns() -> None:
    found = tipping_point(pairs("?|?", "?|?"), sign, seed=1)
    assert {turn.decision for turn in found.turns} == {"first", "second"}
