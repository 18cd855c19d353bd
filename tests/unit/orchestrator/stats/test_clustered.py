from __future__ import annotations

import pytest
from stats_rows import outcomes

from orchestrator.stats.clustered import cluster_sums, clustered_mean, clustered_rate
from orchestrator.stats.rates import Interval, wilson


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
    assert one.undefined == "all tasks are one cluster, so how far clusters differ cannot be told"
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
