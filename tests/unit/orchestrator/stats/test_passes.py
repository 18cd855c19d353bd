from __future__ import annotations

from itertools import combinations

import pytest
from stats_rows import marked, outcomes

from orchestrator.stats.passes import pass_at_k, pass_hat_k


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
