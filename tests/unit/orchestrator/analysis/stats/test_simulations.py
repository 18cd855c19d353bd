"""Intervals cover what they say, and tests cry wolf no more often than they may.

The quick ones have few studies and wide bounds; the slow ones hold what
`docs/what-the-numbers-mean.md` says, by `tests/support/studies/stats_coverage.py`.
"""

from __future__ import annotations

import pytest
from support.studies import stats_arms, stats_calibration
from support.studies.stats_coverage import (
    MARGIN,
    PAIRS,
    RATES,
    SHAPES,
    bias_coverage,
    cost_coverage,
    false_equivalence,
    kappa_coverage,
    paired,
    pass_coverage,
    rate_coverage,
    true_equivalence,
)
from support.studies.stats_shortfalls import (
    SHAPE,
    agreement_coverage,
    bimodal,
    day_of_a_side,
    failures_lost,
    failures_lost_of_sides,
    false_equivalence_of_a_side,
    shocks_of_days,
    shocks_of_sites,
    skewed,
    slice_coverage,
)
from support.studies.stats_simulated import Shape

SLOW = pytest.mark.slow(minutes=10)
QUICK = Shape(12, 3, 2)
# Small ones, many tasks, few and unequal templates, and large equal ones.
HELD = (SHAPES[1], SHAPES[3], SHAPES[4], SHAPES[6], SHAPES[9], SHAPES[11], SHAPES[13])
# Three standard errors of a share of 0.95 over 1,000 and over 500 studies.
OFF_1000, OFF_500 = 0.0207, 0.0292


def test_a_rates_interval_covers() -> None:
    assert 0.90 <= rate_coverage(QUICK, 0.3, 300) <= 1


def test_a_differences_interval_covers_and_its_test_seldom_cries_wolf() -> None:
    found = paired(QUICK, (0.4, 0.4), 200, resamples=400)
    assert found.score >= 0.90
    assert found.bca >= 0.82
    assert found.wolf <= 0.10


def test_intervals_of_stated_confidence_cover() -> None:
    found = stats_calibration.coverage(QUICK, 0.3, 200)
    assert min(found.excess, found.brier, found.auroc) >= 0.89
    assert found.none <= 0.05


def test_an_arm_whose_hard_repeats_are_void_is_seldom_called_harder_or_robust() -> None:
    found = stats_arms.wrong(Shape(12, 4, 5), 0.6, 60)
    assert found.wolf <= 0.10
    assert found.robust <= 0.13
    assert found.unmatched > 0.2  # void repeats must take their twins along


@SLOW
@pytest.mark.parametrize("shape", stats_arms.SHAPES, ids=str)
@pytest.mark.parametrize("rate", [0.6, 0.3])
def test_questions_of_arms_are_wrong_as_seldom_as_the_page_says(shape: Shape, rate: float) -> None:
    found = stats_arms.wrong(shape, rate, 1_000)
    assert found.wolf <= 0.06 + OFF_1000 / 2
    assert found.robust <= 0.06 + OFF_1000 / 2


@SLOW
@pytest.mark.parametrize("shape", stats_calibration.SHAPES, ids=str)
@pytest.mark.parametrize("rate", stats_calibration.RATES)
def test_intervals_of_stated_confidence_cover_as_the_page_says(shape: Shape, rate: float) -> None:
    found = stats_calibration.coverage(shape, rate, 1_000)
    assert min(found.excess, found.brier, found.auroc) >= 0.925 - OFF_1000


def test_what_is_a_margin_apart_is_seldom_called_equivalent() -> None:
    assert false_equivalence(Shape(40, 1, 2), 0.3, 200) <= 0.11


def test_what_is_equal_is_found_to_be() -> None:
    assert true_equivalence(Shape(60, 1, 3), 0.3, 40, MARGIN) >= 0.8


def test_the_rates_of_slices_and_of_agreement_cover_where_plain_wilson_does_not() -> None:
    plain, clustered = slice_coverage(200)
    assert plain <= 0.85
    assert clustered >= 0.93
    assert agreement_coverage(Shape(12, 4, 1), 200)[1] >= 0.93


@SLOW
def test_where_procedures_fall_short_they_do_so_by_what_the_docs_say() -> None:
    one_side = failures_lost_of_sides(SHAPE, 0.5, 1_000, both=False)
    figures = {
        "templates won always or never": (bimodal(60, 0.05, 1_000), 0.85),
        "failures lost": (failures_lost(SHAPE, 0.5, 1_000), 0.80),
        "failures lost of one side": (one_side.covered, 0.77),
        "false positives then": (one_side.wolf, 0.24),
        "false equivalence then": (false_equivalence_of_a_side(SHAPE, 0.4, 1_000), 0.27),
        "one day": (shocks_of_days(1, 1_000), 0.82),
        "five days": (shocks_of_days(5, 1_000), 0.92),
        "five sites": (shocks_of_sites(5, 1_000), 0.84),
        "a day a side": (day_of_a_side(1_000), 0.46),
        "skewed, 12 templates": (skewed(12, 0.8, 1_000), 0.12),
    }
    for name, (found, said) in figures.items():
        assert found == pytest.approx(said, abs=0.04), name


@SLOW
def test_rates_cover_whatever_clusters_and_repeats() -> None:
    for shape in SHAPES:
        covered = {rate: rate_coverage(shape, rate, 1_000) for rate in RATES}
        assert min(covered.values()) >= 0.93 - OFF_1000, (shape, covered)
        # Few clusters and rates near 0 are covered too often, never too seldom; others exactly.
        if shape.templates >= 30 and shape.repeats > 1:
            assert covered[0.5] <= 0.97 + OFF_1000, (shape, covered)


@SLOW
def test_pass_hat_k_covers() -> None:
    for shape in HELD:
        if shape.repeats > 1:
            covered = {rate: pass_coverage(shape, rate, 1_000, 3) for rate in RATES[:3]}
            assert min(covered.values()) >= 0.93 - OFF_1000, (shape, covered)


@SLOW
def test_differences_cover_and_false_positives_are_few() -> None:
    for shape in HELD:
        for rates in PAIRS:
            found = paired(shape, rates, 500, resamples=500)
            assert found.score >= 0.93 - OFF_500, (shape, rates, found)
            if rates[0] == rates[1]:
                assert found.wolf <= 0.06 + OFF_500 / 2, (shape, rates, found)


@SLOW
def test_false_equivalence_is_rare() -> None:
    for shape in HELD:
        for rate in (0.4, 0.2, 0.05):
            wrong = false_equivalence(shape, rate, 1_000)
            assert wrong <= 0.06 + OFF_1000 / 2, (shape, rate, wrong)


@SLOW
def test_kappa_covers() -> None:
    for shape in HELD:
        for rate in (0.5, 0.2):
            covered = kappa_coverage(shape, rate, 500)
            assert covered >= 0.93 - OFF_500, (shape, rate, covered)


@SLOW
def test_the_price_of_a_success_is_covered() -> None:
    for shape in SHAPES[2:]:
        for rate in (0.95, *RATES[:3]):
            covered = cost_coverage(shape, rate, 500)
            assert covered >= 0.93 - OFF_500, (shape, rate, covered)


@SLOW
def test_the_bias_of_two_worlds_is_covered() -> None:
    for shape in HELD:
        for rate in RATES[:3]:
            covered = bias_coverage(shape, rate, 1_000)
            assert covered >= 0.93 - OFF_1000, (shape, rate, covered)
