"""AUROC of stated confidences: by every pair, by weight, and its interval by clusters."""

from __future__ import annotations

import math
import random

import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.analysis.stats.discrimination import (
    NO_SPREAD,
    ONE_HOLDS_ALL,
    ONE_OUTCOME,
    Stated,
    discrimination,
)
from orchestrator.analysis.stats.rates import student_quantile

SURE = st.sampled_from([0.0, 0.1, 0.5, 0.5, 0.9, 1.0])
EPISODES = st.lists(
    st.builds(
        Stated,
        cluster=st.sampled_from("abcde"),
        confidence=SURE,
        success=st.booleans(),
        weight=st.sampled_from([1.0, 0.5, 0.2]),
    ),
    min_size=1,
    max_size=30,
)


def by_pairs(episodes: list[Stated]) -> float | None:
    """Return the value by going through all pairs of a success and a failure."""
    top = bottom = 0.0
    for won in (one for one in episodes if one.success):
        for lost in (one for one in episodes if not one.success):
            weight = won.weight * lost.weight
            bottom += weight
            if won.confidence >= lost.confidence:
                top += weight * (1.0 if won.confidence > lost.confidence else 0.5)
    return top / bottom if bottom else None


def stated(*told: str) -> list[Stated]:
    """Make episodes of `a+5`: cluster, outcome and tenths of confidence."""
    return [Stated(one[0], int(one[2:]) / 10, one[1] == "+") for one in told]


def drawn(seed: int, *, clusters: int = 12, skill: float = 1.0) -> list[Stated]:
    rng = random.Random(seed)
    return [
        Stated(f"c{cluster}", round(1 / (1 + math.exp(-skill * ease)), 1), ease + noise > 0)
        for cluster in range(clusters)
        for _ in range(5)
        for ease, noise in [(rng.gauss(0, 1), rng.gauss(0, 1))]
    ]


@given(EPISODES)
def test_it_is_the_share_of_pairs_in_which_the_success_was_surer(episodes: list[Stated]) -> None:
    found = discrimination(episodes)
    wanted = by_pairs(episodes)
    assert found.value == (None if wanted is None else pytest.approx(wanted))


def test_it_is_mann_and_whitneys_statistic() -> None:
    episodes = drawn(1)
    sides = [[one.confidence for one in episodes if one.success is won] for won in (True, False)]
    wanted = scipy.stats.mannwhitneyu(*sides).statistic / (len(sides[0]) * len(sides[1]))
    assert discrimination(episodes).value == pytest.approx(wanted)


@given(EPISODES)
def test_its_interval_leaves_out_one_cluster_at_a_time(episodes: list[Stated]) -> None:
    found = discrimination(episodes)
    if found.interval is None or found.value is None:
        assert found.undefined in {ONE_OUTCOME, ONE_HOLDS_ALL, NO_SPREAD}
        return
    clusters = {one.cluster for one in episodes}
    left = [by_pairs([one for one in episodes if one.cluster != name]) for name in clusters]
    values = [one for one in left if one is not None]
    assert len(values) == len(clusters)
    mean = math.fsum(values) / len(values)
    spread = math.fsum((one - mean) ** 2 for one in values) * (len(values) - 1) / len(values)
    rarer = min(
        len({one.cluster for one in episodes if one.success is won}) for won in (True, False)
    )
    reach = student_quantile(0.95, max(1, rarer - 1)) * math.sqrt(spread)
    odds = math.log(found.value / (1 - found.value))
    apart = reach / (found.value * (1 - found.value))
    for bound, side in ((found.interval.low, -1), (found.interval.high, 1)):
        assert bound == pytest.approx(1 / (1 + math.exp(-odds - side * apart)), abs=1e-6)


@given(EPISODES)
def test_an_interval_holds_its_value_and_stays_between_0_and_1(episodes: list[Stated]) -> None:
    found = discrimination(episodes)
    if found.interval is not None and found.value is not None:
        assert 0 <= found.interval.low <= found.value <= found.interval.high <= 1


def test_the_same_word_for_everything_tells_nothing_apart() -> None:
    episodes = [Stated(f"c{n}", 0.9, n % 2 == 0) for n in range(10)]
    assert discrimination(episodes).value == 0.5


@pytest.mark.parametrize(
    ("episodes", "undefined"),
    [
        ([], ONE_OUTCOME),
        (stated("a+5", "b+7"), ONE_OUTCOME),
        (stated("a+5", "b-7", "c-1"), ONE_HOLDS_ALL),
        (stated("a+8", "a-2", "b+8", "b-2", "c+8", "c-2"), NO_SPREAD),
    ],
)
def test_where_there_is_no_interval_it_is_said_why(episodes: list[Stated], undefined: str) -> None:
    found = discrimination(episodes)
    assert (found.interval, found.undefined) == (None, undefined)


def test_thousands_of_episodes_are_no_matter() -> None:
    episodes = [one for seed in range(100) for one in drawn(seed, clusters=20)]
    assert len(episodes) == 10_000
    found = discrimination(episodes)
    assert found.value is not None
    assert found.value > 0.5
