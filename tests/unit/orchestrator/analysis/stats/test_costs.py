from __future__ import annotations

import pytest
from support.studies.stats_rows import row

from orchestrator.analysis.stats.costs import per_success


def test_failures_belong_to_what_a_success_costs() -> None:
    rows = [row("a", usd=1.0), row("b", usd=2.0, success=False), row("c", usd=4.0, success=None)]
    found = per_success(rows, lambda one: one.usd)
    assert (found.value, found.per_episode, found.total) == (3.0, 1.5, 3.0)
    assert (found.successes, found.episodes, found.spent_unscored) == (1, 2, 4.0)


def test_an_unknown_price_is_no_zero() -> None:
    found = per_success([row("a", usd=None), row("b", usd=1.0)], lambda one: one.usd)
    assert (found.value, found.total) == (None, None)
    assert found.undefined == "the cost of some scored episodes is unknown"


def test_what_has_no_success_has_no_price_of_one() -> None:
    found = per_success([row("a", success=False)], lambda one: one.seconds)
    assert (found.value, found.per_episode) == (None, 10.0)
    assert found.undefined == "no scored episode succeeded"
    none = per_success([row("a", success=None)], lambda one: one.seconds)
    assert (none.value, none.total, none.spent_unscored) == (None, 0.0, 10.0)
    assert none.undefined == "no episode is scored"


def test_the_interval_is_around_it_on_a_logarithmic_scale() -> None:
    found = per_success(
        [row(f"t{n}", usd=1.0 + n % 3, success=n % 4 > 0) for n in range(40)], lambda one: one.usd
    )
    assert found.interval is not None
    assert found.value is not None
    assert found.interval.low < found.value < found.interval.high
    assert found.value**2 == pytest.approx(found.interval.low * found.interval.high)


def test_one_success_leaves_a_wide_interval_and_no_false_certainty() -> None:
    rows = [row(f"t{n}", usd=1.0, success=n == 0) for n in range(20)]
    found = per_success(rows, lambda one: one.usd)
    assert found.value == 20.0
    assert found.interval is not None
    assert found.interval.low < 4
    assert found.interval.high > 100


def test_without_a_failure_the_price_may_still_be_higher() -> None:
    found = per_success([row(f"t{n}", usd=2.0) for n in range(10)], lambda one: one.usd)
    assert found.interval is not None
    assert found.interval.low == found.value == 2.0
    assert found.interval.high > 2.5


def test_one_template_and_nothing_spent_have_no_interval() -> None:
    one = per_success([row(f"t{n}", template="t") for n in range(5)], lambda one: one.usd)
    assert (one.value, one.interval) == (0.5, None)
    assert (
        one.undefined == "all tasks are in one cluster, so the spread between clusters is unknown"
    )
    free = per_success([row(f"t{n}", usd=0.0) for n in range(5)], lambda one: one.usd)
    assert (free.value, free.interval, free.undefined) == (0.0, None, "nothing was spent")
