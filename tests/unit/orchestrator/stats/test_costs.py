from __future__ import annotations

from stats_rows import row

from orchestrator.stats.costs import per_success

SEED = 5


def test_failures_belong_to_what_a_success_costs() -> None:
    rows = [row("a", usd=1.0), row("b", usd=2.0, success=False), row("c", usd=4.0, success=None)]
    found = per_success(rows, lambda one: one.usd, seed=SEED)
    assert (found.value, found.per_episode, found.total) == (3.0, 1.5, 3.0)
    assert (found.successes, found.episodes, found.spent_unscored) == (1, 2, 4.0)


def test_an_unknown_price_is_no_zero() -> None:
    found = per_success([row("a", usd=None), row("b", usd=1.0)], lambda one: one.usd, seed=SEED)
    assert (found.value, found.total) == (None, None)
    assert found.undefined == "what some of the scored episodes cost is not known"


def test_what_has_no_success_has_no_price_of_one() -> None:
    found = per_success([row("a", success=False)], lambda one: one.seconds, seed=SEED)
    assert (found.value, found.per_episode) == (None, 10.0)
    assert found.undefined == "no scored episode succeeded"
    none = per_success([row("a", success=None)], lambda one: one.seconds, seed=SEED)
    assert (none.value, none.total, none.spent_unscored) == (None, 0.0, 10.0)
    assert none.undefined == "no episode is scored"


def test_the_interval_is_around_it_and_the_seeds() -> None:
    rows = [row(f"t{n}", usd=1.0 + n % 3, success=n % 4 > 0) for n in range(40)]
    one, again = (per_success(rows, lambda one: one.usd, seed=SEED) for _ in range(2))
    assert one == again
    assert one.interval is not None
    assert one.value is not None
    assert one.interval.low < one.value < one.interval.high


def test_few_successes_have_a_price_without_an_interval() -> None:
    rows = [row(f"t{n}", usd=1.0, success=n == 0) for n in range(20)]
    found = per_success(rows, lambda one: one.usd, seed=SEED)
    assert (found.value, found.interval) == (20.0, None)
    assert found.undefined == "all that is divided by lies in one cluster"
