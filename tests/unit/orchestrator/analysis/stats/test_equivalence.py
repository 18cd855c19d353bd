from __future__ import annotations

import pytest
from support.studies.stats_rows import pairs, table

from orchestrator.analysis.stats.paired import Decision, equivalence, non_inferiority


def test_the_decision_is_that_of_the_interval_at_twice_alpha() -> None:
    found = equivalence(table(100, 4, 5, 80), 0.1)
    assert found.interval is not None
    assert -0.1 < found.interval.low < found.interval.high < 0.1
    assert found.decision is Decision.YES
    assert found.p is not None
    assert found.p < 0.05


def test_no_difference_on_few_tasks_is_no_equivalence() -> None:
    found = equivalence(table(3, 0, 0, 2), 0.1)
    assert found.decision is Decision.UNDECIDED
    assert found.p is not None
    assert found.p > 0.05


def test_no_difference_on_many_tasks_is() -> None:
    # Nothing discordant: the bound is z² ÷ (n + z²) with z = 1.645, below 0.05 from n = 52 on.
    assert equivalence(table(30, 0, 0, 21), 0.05).decision is Decision.UNDECIDED
    assert equivalence(table(30, 0, 0, 22), 0.05).decision is Decision.YES


def test_repeats_that_never_differ_count_as_their_clusters() -> None:
    many = pairs(*["+++++|+++++"] * 60, clusters="abcdef" * 10)
    assert equivalence(many, 0.1).decision is Decision.UNDECIDED


def test_a_difference_beyond_the_margin_is_a_no() -> None:
    assert equivalence(table(20, 30, 2, 20), 0.1).decision is Decision.NO
    assert equivalence(table(20, 2, 30, 20), 0.1).decision is Decision.NO


def test_better_is_not_inferior_and_worse_is() -> None:
    assert non_inferiority(table(20, 30, 2, 20), 0.1).decision is Decision.YES
    assert non_inferiority(table(20, 2, 30, 20), 0.1).decision is Decision.NO
    assert non_inferiority(table(5, 2, 3, 4), 0.1).decision is Decision.UNDECIDED


def test_sides_may_be_swapped() -> None:
    one, other = equivalence(table(9, 4, 7, 9), 0.2), equivalence(table(9, 7, 4, 9), 0.2)
    assert one.p == pytest.approx(other.p)


def test_what_cannot_be_said_says_why() -> None:
    found = equivalence(pairs("?|+"), 0.1)
    assert (found.p, found.decision) == (None, Decision.UNDECIDED)
    assert found.undefined == "no task has a scored episode on both sides"


@pytest.mark.parametrize(("margin", "alpha"), [(0, 0.05), (1, 0.05), (0.1, 0.5), (0.1, 0)])
def test_a_margin_that_is_none_is_refused(margin: float, alpha: float) -> None:
    with pytest.raises(ValueError, match="cannot test a margin of"):
        equivalence(table(1, 1, 1, 1), margin, alpha=alpha)
