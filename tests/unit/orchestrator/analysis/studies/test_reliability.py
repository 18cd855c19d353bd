"""Repeats that end alike and go alike, by what every pair of them says."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.studies.stats_rows import row

from arena_core.worlds import World
from orchestrator.analysis.stats.results import Cell, EpisodeResult, EpisodeTable
from orchestrator.analysis.studies.reliability import Reliability, reliability_of

CELL = Cell("A", "s", World.OFFLINE)


def profile(*rows: EpisodeResult) -> tuple[Reliability, ...]:
    return reliability_of([CELL], EpisodeTable(rows), (), confidence=0.95)


def played(task: str, marks: str, *paths: str) -> list[EpisodeResult]:
    """Make repeats from marks, `+`, `-` and `?`, with an action for each letter of a path."""
    told = {"+": True, "-": False, "?": None}
    return [
        replace(row(task, success=told[mark], repeat=number), path=tuple(path))
        for number, (mark, path) in enumerate(zip(marks, paths or [""] * len(marks), strict=True))
    ]


@given(st.text("+-", min_size=2, max_size=8))
def test_the_chance_that_two_repeats_end_alike_is_over_all_pairs(marks: str) -> None:
    (found,) = profile(*played("t", marks), *played("u", "++"))
    pairs = [one == other for one, other in combinations(marks, 2)]
    assert found.outcome.value == pytest.approx((fmean(pairs) + 1) / 2)


def test_an_agent_that_always_fails_ends_alike() -> None:
    (found,) = profile(*played("t", "---"), *played("u", "--"))
    assert found.outcome.value == 1.0


def test_unscored_repeats_and_tasks_played_once_say_nothing() -> None:
    (found,) = profile(
        *played("t", "+?+", "ab", "xyz", "ab"), *played("u", "-"), *played("v", "?-")
    )
    assert (found.outcome.tasks, found.outcome.episodes, found.outcome.value) == (1, 2, 1.0)
    assert found.path.value == 1.0
    assert profile(*played("u", "-"), *played("v", "?-")) == ()


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [("ab", "ab", 1), ("", "", 1), ("ab", "cd", 0), ("abcd", "ab", 2 * 2 / 6), ("ab", "ba", 0.5)],
)
def test_how_alike_two_repeats_go(first: str, second: str, alike: float) -> None:
    (found,) = profile(*played("t", "+-", first, second))
    assert found.path.value == pytest.approx(alike)


def test_each_repeat_is_held_against_the_next() -> None:
    rows = played("t", "+++", "a", "b", "b")
    (found,) = profile(*reversed(rows))
    assert found.path.value == 0.5
