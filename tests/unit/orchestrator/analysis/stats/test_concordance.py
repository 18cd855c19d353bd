from __future__ import annotations

import numpy as np
import pytest
import scipy
from quick_cases import SLOW
from support.studies.stats_rows import pairs, table

from orchestrator.analysis.stats.agreement import cohen_kappa
from orchestrator.analysis.stats.concordance import bland_altman, kappa, rank_correlation


@SLOW
def test_kappa_and_its_variance_are_statsmodels() -> None:
    counts = (40, 9, 6, 25)
    peer = pytest.importorskip("statsmodels.stats.inter_rater")
    found, expected = kappa(table(*counts)), peer.cohens_kappa([[40, 9], [6, 25]])
    assert found.value == pytest.approx(expected.kappa)
    assert found.value == pytest.approx(cohen_kappa(*counts))
    assert found.interval is not None
    # Wilson's shape is not Wald's, but its width is nearly.
    width = found.interval.high - found.interval.low
    assert width == pytest.approx(expected.kappa_upp - expected.kappa_low, rel=0.06)


def test_published_kappa() -> None:
    """Cohen's kappa of 50 proposals read by two: po = 0.7, pe = 0.5, kappa = 0.4."""
    found = kappa(table(20, 5, 10, 15))
    assert found.observed == pytest.approx(0.7)
    assert found.value == pytest.approx(0.4)
    assert found.adjusted == pytest.approx(0.4)


def test_repeats_agree_in_parts() -> None:
    """Of 3 tasks 1.25 are won on both sides, 0.25 on either alone, 1.25 on none."""
    found = kappa(pairs("+-|+-", "++|++", "--|--"))
    assert found.value == pytest.approx((2.5 / 3 - 0.5) / 0.5)


def test_full_agreement_still_says_how_little_is_known() -> None:
    found = kappa(table(5, 0, 0, 5))
    assert found.value == 1.0
    assert found.interval is not None
    assert found.interval.high == 1.0
    assert found.interval.low < 0.5


def test_one_answer_everywhere_has_no_kappa_and_says_why() -> None:
    found = kappa(table(9, 0, 0, 0))
    assert (found.value, found.observed, found.adjusted) == (None, 1.0, 1.0)
    assert found.undefined == "both sides gave one and the same outcome to every task"
    assert kappa(pairs("?|+")).undefined == "no task has a scored episode on both sides"
    assert kappa(pairs("+|+", "-|+", clusters="aa")).interval is None


def test_templates_that_stray_widen_kappas_interval() -> None:
    marks = ["+|+", "-|-"] * 8 + ["+|-"] * 4 + ["-|+"] * 4
    apart = kappa(pairs(*marks)).interval
    alike = kappa(pairs(*marks, clusters="aabbccddeeffgghhiiiijjjj")).interval
    assert apart is not None
    assert alike is not None
    assert alike.high - alike.low > 1.2 * (apart.high - apart.low)


def test_limits_of_agreement_are_bland_and_altmans() -> None:
    """Lancet 1986, table 1: 17 subjects, large Wright meter: bias -2.1, s 38.8, limits -80, 76."""
    large = [494, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423, 427]
    mini = [512, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350, 451]
    differences = np.array(large) - np.array(mini)
    assert differences.mean() == pytest.approx(-2.1, abs=0.05)
    # Flows as shares of a thousand repeats: the procedure takes outcomes.
    found = bland_altman(
        pairs(
            *(
                f"{'+' * one + '-' * (1000 - one)}|{'+' * two + '-' * (1000 - two)}"
                for one, two in zip(large, mini, strict=True)
            )
        )
    )
    assert found.bias == pytest.approx(-0.0021, abs=0.00005)
    assert found.lower == pytest.approx(-0.0781, abs=0.0002)  # -2.1 - 1.96 · 38.8
    assert found.upper == pytest.approx(0.0739, abs=0.0002)
    assert found.bias_interval is not None
    assert found.bias_interval.low == pytest.approx(-0.0220, abs=0.0002)  # the paper: -22.0 to 17.8
    assert found.bias_interval.high == pytest.approx(0.0178, abs=0.0002)
    assert found.lower_interval is not None
    # The paper's -115 to -43 is by its approximation √(3s²/n) of the same error.
    assert found.lower_interval.low == pytest.approx(-0.1150, abs=0.003)


def test_a_template_counts_once_whatever_its_tasks() -> None:
    found = bland_altman(pairs("+|-", "+|-", "+|-", "-|+", "+|+", clusters="aaabc"))
    assert [(point.tasks, point.difference) for point in found.points] == [
        (3, 1.0),
        (1, -1.0),
        (1, 0.0),
    ]
    assert found.bias == 0.0


def test_too_few_templates_or_none_that_differ_have_no_limits() -> None:
    few = bland_altman(pairs("+|-", "+|+"))
    assert few.undefined == "only 2 templates have both sides"
    same = bland_altman(table(5, 0, 0, 2))
    assert (same.bias, same.lower) == (0.0, None)
    assert same.undefined == "all templates differ by the same amount, so there is no spread"


def test_ranks_are_scipys_with_an_exact_p() -> None:
    first = {"a": 0.1, "b": 0.4, "c": 0.35, "d": 0.8, "e": 0.9}
    second = {"a": 0.2, "b": 0.3, "c": 0.5, "d": 0.6, "e": 0.7}
    found = rank_correlation(first, second)
    expected = scipy.stats.kendalltau(list(first.values()), list(second.values()), method="exact")
    assert found.tau == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.rho == pytest.approx(
        scipy.stats.spearmanr(list(first.values()), list(second.values())).statistic
    )


def test_three_agents_in_one_order_are_no_proof() -> None:
    found = rank_correlation({"a": 0.1, "b": 0.2, "c": 0.3}, {"a": 0.3, "b": 0.5, "c": 0.6})
    assert found.tau == pytest.approx(1.0)
    assert found.p == pytest.approx(1 / 3)


def test_ranks_of_few_or_equal_agents_are_undefined() -> None:
    two = rank_correlation({"a": 0.1, "b": 0.2, "c": None}, {"a": 0.3, "b": 0.5, "c": 0.6})
    assert (two.tau, two.undefined) == (
        None,
        "only 2 agents have a rate in both",
    )
    same = rank_correlation(dict.fromkeys("abc", 0.5), {"a": 0.1, "b": 0.2, "c": 0.3})
    assert same.undefined == "all agents have the same rate in one of them"


def test_agents_with_the_same_rates_in_both_worlds_are_in_one_order_with_a_tau_of_one() -> None:
    rates = {"a": 0.5, "b": 0.5, "c": 0.9}
    found = rank_correlation(rates, rates)
    assert (found.tau, found.is_same_order) == (1.0, True)
    other = rank_correlation(rates, {"a": 0.5, "b": 0.6, "c": 0.9})
    assert not other.is_same_order
    assert other.tau == pytest.approx(2 / 6**0.5)


def test_rates_that_rounding_alone_tells_apart_are_tied() -> None:
    nearly = 0.1 + 0.2
    assert nearly != 0.3
    found = rank_correlation({"a": nearly, "b": 0.3, "c": 0.9}, {"a": 0.3, "b": nearly, "c": 0.9})
    assert (found.tau, found.is_same_order) == (1.0, True)
    assert found.rho == pytest.approx(1.0)


def test_the_order_of_more_agents_than_are_counted_out_is_scipys_too() -> None:
    first = {f"agent{n}": n / 10 for n in range(9)}
    second = {f"agent{n}": ((n * 4) % 9) / 10 for n in range(9)}
    expected = scipy.stats.kendalltau(list(first.values()), list(second.values()))
    found = rank_correlation(first, second)
    assert found.tau == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue)
