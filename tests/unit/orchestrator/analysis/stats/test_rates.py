"""Rates, their intervals that respect clusters, and pass@k."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.studies.stats_rows import marked, outcomes

from orchestrator.analysis.stats.rates import (
    Interval,
    Rate,
    cluster_sums,
    clustered_mean,
    clustered_rate,
    pass_at_k,
    pass_hat_k,
    rate_of,
    wilson,
)


@pytest.mark.parametrize(
    ("successes", "count", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_intervals_are_those_that_newcombe_published(
    successes: int, count: int, low: float, high: float
) -> None:
    """Newcombe 1998, Statistics in Medicine 17:857, table I, method 3 (score, uncorrected)."""
    interval = wilson(successes / count, count)
    assert interval.low == pytest.approx(low, abs=5e-5)
    assert interval.high == pytest.approx(high, abs=5e-5)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_an_interval_holds_its_rate_and_stays_a_share(counts: tuple[int, int]) -> None:
    successes, count = counts
    interval = wilson(successes / count, count)
    assert 0 <= interval.low <= successes / count <= interval.high <= 1


@given(st.floats(0, 1), st.integers(1, 300))
def test_success_and_failure_are_mirror_images(share: float, count: int) -> None:
    one, other = wilson(share, count), wilson(1 - share, count)
    assert one.low == pytest.approx(1 - other.high, abs=1e-9)


@given(st.floats(0, 1), st.integers(1, 100))
def test_more_tasks_and_less_confidence_narrow_it(share: float, count: int) -> None:
    def width(tasks: int, confidence: float) -> float:
        interval = wilson(share, tasks, confidence)
        return interval.high - interval.low

    assert width(count * 4, 0.95) < width(count, 0.95)
    assert width(count, 0.8) < width(count, 0.95)


@pytest.mark.parametrize(
    ("share", "count", "confidence"), [(1.1, 5, 0.95), (-0.1, 5, 0.95), (0.5, 0, 0.95), (0.5, 5, 1)]
)
def test_nonsense_has_no_interval(share: float, count: int, confidence: float) -> None:
    with pytest.raises(ValueError, match="no interval for share"):
        wilson(share, count, confidence)


def test_a_rate_is_the_mean_of_its_tasks() -> None:
    rate = rate_of([1.0, 0.5, 0.0])
    assert (rate.value, rate.count, rate.interval) == (0.5, 3, wilson(0.5, 3))


def test_no_tasks_have_no_rate() -> None:
    assert rate_of([]) == Rate(value=None, count=0, interval=None)


def width(interval: Interval | None) -> float:
    assert interval is not None
    return interval.high - interval.low


def test_the_variance_is_the_jackknifes_over_clusters_of_any_sizes() -> None:
    values = [("a", 1.0), ("a", 0.5), ("a", 0.0), ("b", 1.0), ("c", 0.25), ("c", 1.0)]
    names = sorted({cluster for cluster, _ in values})
    means = []
    for gone in names:
        rest = [value for cluster, value in values if cluster != gone]
        means.append(sum(rest) / len(rest))
    whole = sum(value for _, value in values) / len(values)
    # Delete-one jackknife, centred at the estimate (MacKinnon and White's HC3 with clusters).
    expected = (len(names) - 1) / len(names) * sum((mean - whole) ** 2 for mean in means)
    assert cluster_sums(values).variance == pytest.approx(expected)


def test_kishs_clusters_are_all_where_sizes_are_equal_and_fewer_else() -> None:
    assert cluster_sums([("a", 0.0), ("b", 1.0)]).effective_clusters == 2
    uneven = [("a", 0.0)] * 9 + [("b", 1.0)]
    assert cluster_sums(uneven).effective_clusters == pytest.approx(100 / 82)


def test_tasks_that_are_alike_within_clusters_widen_the_interval() -> None:
    marks = ["+"] * 8 + ["-"] * 8
    apart = clustered_rate(outcomes(*marks))
    alike = clustered_rate(outcomes(*marks, clusters="aaaabbbbccccdddd"))
    assert apart.value == alike.value == 0.5
    assert width(alike.interval) > 1.5 * width(apart.interval)
    assert alike.effective is not None
    assert alike.effective < 5


def test_repeats_narrow_the_interval_but_never_beyond_as_many_episodes() -> None:
    once = clustered_rate(outcomes(*["+", "-"] * 10))
    often = clustered_rate(outcomes(*["+-+-+", "-+-+-"] * 10))
    assert width(often.interval) < width(once.interval)
    assert often.effective == often.episodes == 100
    assert width(often.interval) > width(wilson(0.5, 100))


def test_unscored_repeats_are_left_out_and_not_failed() -> None:
    rate = clustered_rate(outcomes("+?", "++", "??", "-"))
    assert rate.value == pytest.approx(2 / 3)
    assert (rate.tasks, rate.episodes) == (3, 4)


@pytest.mark.parametrize("mark", ["+", "-"])
def test_where_all_ended_alike_each_cluster_counts_as_one_episode(mark: str) -> None:
    rate = clustered_rate(outcomes(*[mark * 5] * 12, clusters="aaabbbcccddd"))
    assert rate.effective == 4
    assert rate.interval is not None
    assert {rate.interval.low, rate.interval.high} & {0.0, 1.0}
    # With 4 episodes and Student's t of 3 degrees of freedom nothing much is known.
    assert width(rate.interval) > 0.6


def test_one_cluster_and_no_task_have_no_interval_and_say_why() -> None:
    one = clustered_rate(outcomes("+", "-", clusters="aa"))
    assert (one.value, one.interval) == (0.5, None)
    assert (
        one.undefined == "all tasks are in one cluster, so the spread between clusters is unknown"
    )
    none = clustered_rate(outcomes("?", "??"))
    assert (none.value, none.interval, none.undefined) == (
        None,
        None,
        "no task has a scored episode",
    )


def test_what_is_no_share_is_refused() -> None:
    for wrong in (float("nan"), 1.5, -0.1):
        with pytest.raises(ValueError, match="not all are shares"):
            clustered_mean([("a", wrong), ("b", 1.0)])


def test_the_order_of_tasks_changes_nothing() -> None:
    tasks = outcomes("+-", "++", "--", "-+", clusters="abca")
    assert clustered_rate(tasks) == clustered_rate(tasks[::-1])


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_both_are_the_means_over_all_choices_of_k_repeats(k: int) -> None:
    tries = marked("++-+-")
    chosen = list(combinations(tries, k))
    at, hat = (procedure(outcomes("++-+-", "++-+-"), k) for procedure in (pass_at_k, pass_hat_k))
    assert at.value == pytest.approx(sum(map(any, chosen)) / len(chosen))
    assert hat.value == pytest.approx(sum(map(all, chosen)) / len(chosen))


def test_published_values() -> None:
    """pass@k of Chen et al. 2021: with n = 200, c = 10 and k = 100, by their product formula."""
    [task] = outcomes("+" * 10 + "-" * 190)
    product = 1.0
    for place in range(200 - 10 + 1, 201):
        product *= 1 - 100 / place
    assert pass_at_k([task], 100).value == pytest.approx(1 - product)


def test_more_tries_than_scored_repeats_are_undefined_and_no_zero() -> None:
    tasks = outcomes("++", "+?", "--?")
    assert (pass_at_k(tasks, 2).value, pass_at_k(tasks, 2).left_out) == (0.5, 1)
    three = pass_hat_k(tasks, 3)
    assert (three.value, three.tasks, three.left_out) == (None, 0, 3)
    assert three.undefined == "no task has 3 scored repeats"


def test_k_of_none_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        pass_at_k(outcomes("+"), 0)
