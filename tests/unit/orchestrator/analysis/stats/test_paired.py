from __future__ import annotations

import numpy as np
import pytest
import scipy
from quick_cases import ONE_QUICK
from support.studies.stats_rows import pairs, table

from orchestrator.analysis.stats.intervals import ScorePairs, bca_of_ratio, score_pairs
from orchestrator.analysis.stats.paired import (
    CLUSTERED_TANGO,
    TANGO,
    compare_pairs,
    paired_test,
    sign_flip,
)

SEED = 7
DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]


def score_by_optimiser(counts: tuple[int, int, int, int], difference: float) -> float:
    """Tango's statistic, its constrained maximum found by scipy and not by the quadratic."""
    both, first, second, neither = counts
    total = sum(counts)

    def loss(second_only: float) -> float:
        same = max(1e-300, 1 - 2 * second_only - difference)
        value = (both + neither) * np.log(same)
        value += first * np.log(max(1e-300, second_only + difference))
        return -float(value + second * np.log(max(1e-300, second_only)))

    bounds = (max(0.0, -difference) + 1e-9, (1 - difference) / 2 - 1e-9)
    best = scipy.optimize.minimize_scalar(
        loss, bounds=bounds, method="bounded", options={"xatol": 1e-12}
    )
    variance = total * (2 * best.x + difference * (1 - difference))
    return float((first - second - total * difference) / np.sqrt(variance))


@pytest.mark.parametrize("counts", [(36, 12, 2, 5), (10, 3, 9, 20), (43, 1, 1, 5), (5, 8, 0, 7)])
@pytest.mark.parametrize("difference", [-0.3, -0.05, 0.02, 0.25])
def test_the_score_statistic_is_tangos(
    counts: tuple[int, int, int, int], difference: float
) -> None:
    score = score_pairs(table(*counts))
    assert isinstance(score, ScorePairs)
    expected = score_by_optimiser(counts, difference)
    assert score.statistic(difference) == pytest.approx(expected, abs=2e-4)


@ONE_QUICK
@pytest.mark.parametrize(
    ("counts", "confidence", "expected"),
    [
        # Airway reactivity before and after transplantation: Fagerland, Lydersen and Laake 2014,
        # Statistics in Medicine 33:2850, table II; also in R's ratesci.
        ((1, 1, 7, 12), 0.95, (-0.517, -0.026)),
        # R's PropCIs: scoreci.mp(28, 25, 618, 0.90), whose estimand is second - first.
        ((0, 25, 28, 565), 0.90, (-0.0247, 0.0148)),
    ],
)
def test_published_intervals_of_tango(
    counts: tuple[int, int, int, int], confidence: float, expected: tuple[float, float]
) -> None:
    found = compare_pairs(table(*counts), seed=SEED, confidence=confidence).interval
    assert found is not None
    digits = 0.0005 if confidence > 0.9 else 0.00005
    assert (found.low, found.high) == pytest.approx(expected, abs=digits)


def test_at_no_difference_the_score_statistic_is_mcnemars() -> None:
    score = score_pairs(table(10, 9, 3, 20))
    assert isinstance(score, ScorePairs)
    assert score.statistic(0) == pytest.approx((9 - 3) / np.sqrt(9 + 3))


def test_the_interval_turns_round_with_the_sides() -> None:
    one, other = (compare_pairs(table(*t), seed=SEED) for t in ((5, 9, 3, 8), (5, 3, 9, 8)))
    assert one.interval is not None
    assert other.interval is not None
    assert one.interval.low == pytest.approx(-other.interval.high)
    assert one.interval_method == TANGO


def test_where_no_pair_differs_the_interval_still_says_how_little_is_known() -> None:
    found = compare_pairs(table(5, 0, 0, 5), seed=SEED)
    assert found.interval is not None
    # Tango: z² ÷ (n + z²) where nothing is discordant.
    assert found.interval.high == pytest.approx(1.959964**2 / (10 + 1.959964**2), abs=1e-6)
    assert (found.effect, found.p, found.bca) == (0.0, 1.0, None)


def test_fishers_p_of_darwins_maize() -> None:
    """The Design of Experiments (1935), section 21: 1726 of 32,768 sums are so large."""
    exact = sign_flip([float(one) for one in DARWIN], seed=SEED, permutations=40_000)
    assert exact.p == pytest.approx(1726 / 32768)
    assert exact.is_exact
    drawn = sign_flip([float(one) for one in DARWIN], seed=SEED, permutations=20_000)
    assert not drawn.is_exact
    assert drawn.p == pytest.approx(1726 / 32768, abs=0.006)


def test_scipys_permutation_test_agrees() -> None:
    random = np.random.default_rng(SEED)
    values = random.normal(0.4, 1, 11)
    expected = scipy.stats.permutation_test(
        (values,), np.sum, permutation_type="samples", n_resamples=np.inf
    ).pvalue
    assert sign_flip(list(values), seed=SEED).p == pytest.approx(expected)


def test_a_p_is_never_zero() -> None:
    found = sign_flip([1.0] * 60, seed=SEED)
    assert found.p == 1 / 10_001
    assert found.p >= found.smallest


def test_few_clusters_say_how_small_a_p_they_allow() -> None:
    found = compare_pairs(pairs(*["++|--"] * 6, clusters="aabbcc"), seed=SEED)
    assert (found.p, found.smallest) == (0.25, 0.25)
    assert found.effect == 1.0


def test_single_pairs_are_tested_by_mcnemar_and_flips_agree() -> None:
    single = table(10, 9, 2, 4)
    found = paired_test(single, seed=SEED)
    flips = sign_flip([1.0] * 9 + [-1.0] * 2 + [0.0] * 14, seed=SEED)
    assert found.test == "McNemar's exact test"
    assert found.p == pytest.approx(flips.p)
    assert found.p == pytest.approx(scipy.stats.binomtest(2, 11).pvalue)


def test_single_pairs_in_templates_are_tested_by_template() -> None:
    found = compare_pairs(pairs(*["+|-"] * 8, clusters="aaaabbbb"), seed=SEED)
    assert found.p == 0.5
    assert found.test == "sign-flip test over clusters, exact"
    assert found.interval_method == CLUSTERED_TANGO


def test_bca_agrees_with_scipys() -> None:
    random = np.random.default_rng(SEED)
    sizes = random.integers(1, 6, 30).astype(float)
    sums = random.normal(0.3, 0.5, 30) * sizes + random.exponential(1, 30)
    ours = bca_of_ratio(list(sums), list(sizes), seed=SEED, resamples=40_000, is_expanded=False)
    theirs = scipy.stats.bootstrap(
        (sums, sizes),
        lambda top, bottom, axis: top.sum(axis=axis) / bottom.sum(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=40_000,
        batch=2_000,
        method="BCa",
        rng=np.random.default_rng(1),
    ).confidence_interval
    assert ours.interval is not None
    width = theirs.high - theirs.low
    assert ours.interval.low == pytest.approx(theirs.low, abs=0.02 * width)
    assert ours.interval.high == pytest.approx(theirs.high, abs=0.02 * width)


def test_few_clusters_widen_the_bootstrap() -> None:
    sums, sizes = [0.1, 0.5, -0.2, 0.4, 0.3, 0.9], [1.0] * 6
    plain, wide = (
        bca_of_ratio(sums, sizes, seed=SEED, is_expanded=expanded).interval
        for expanded in (False, True)
    )
    assert plain is not None
    assert wide is not None
    assert wide.low < plain.low < plain.high < wide.high


def test_a_seed_gives_the_same_again_and_another_not_quite() -> None:
    many = pairs(*["++-|---", "+--|++-", "+++|++-", "---|+--"] * 8)
    assert compare_pairs(many, seed=1) == compare_pairs(many, seed=1)
    assert compare_pairs(many, seed=1).p != compare_pairs(many, seed=2).p


def test_pairs_with_an_unscored_side_are_left_out_and_bounded() -> None:
    found = compare_pairs(pairs("+|-", "-|-", "?|+", "+|", "+|-"), seed=SEED)
    assert found.pairs == 3
    assert found.effect == pytest.approx(2 / 3)
    assert found.bounds is not None
    assert [found.bounds.low, found.bounds.high] == pytest.approx([1 / 4, 2 / 4])


def test_unequal_repeats_weigh_each_task_once() -> None:
    found = compare_pairs(pairs("+++++|-----", "-|+", "+|+"), seed=SEED)
    assert found.effect == 0.0
    assert [found.first, found.second] == pytest.approx([2 / 3, 2 / 3])


@pytest.mark.parametrize(
    ("marks", "because"),
    [
        ((), "no task has a scored episode on both sides"),
        (("?|+", "-|?"), "no task has a scored episode on both sides"),
        (("+|-",), "all tasks are in one cluster, so the spread between clusters is unknown"),
    ],
)
def test_what_cannot_be_said_says_why(marks: tuple[str, ...], because: str) -> None:
    found = compare_pairs(pairs(*marks), seed=SEED)
    assert (found.interval, found.undefined) == (None, because)
    assert found.p in {None, 1.0}
    assert found.bca is None


def test_one_task_with_repeats_gives_no_small_p() -> None:
    found = compare_pairs(pairs("+++++|-----"), seed=SEED)
    assert (found.effect, found.interval, found.p) == (1.0, None, 1.0)
