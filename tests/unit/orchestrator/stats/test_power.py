from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from stats_rows import outcomes
from statsmodels.stats.power import NormalIndPower
from statsmodels.stats.proportion import proportion_effectsize

from orchestrator.stats.design import PairedDesign, design_from
from orchestrator.stats.power import (
    detectable_difference,
    power,
    repeats_needed,
    tasks_needed,
)

SEED = 11
PLAIN = PairedDesign(
    tasks=60, repeats=1, rate=0.4, task_spread=0.0, cluster_spread=0.0, side_spread=0.0
)


def exact_power(tasks: int, first: float, second: float) -> float:
    """Power of McNemar's exact test where both sides are independent, by full enumeration."""
    only, other = first * (1 - second), second * (1 - first)
    total = 0.0
    for parted in range(tasks + 1):
        weight = stats.binom.pmf(parted, tasks, only + other)
        wins = np.arange(parted + 1)
        p = 2 * stats.binom.cdf(np.minimum(wins, parted - wins), parted, 0.5)
        total += weight * stats.binom.pmf(wins[p <= 0.05], parted, only / (only + other)).sum()
    return float(total)


def test_it_is_the_power_of_mcnemars_exact_test_where_that_can_be_counted() -> None:
    found = power(PLAIN, 0.25, seed=SEED, simulations=2_000)
    assert found.value == pytest.approx(exact_power(60, 0.65, 0.4), abs=0.03)
    assert found.interval.low < found.value < found.interval.high


def test_without_a_difference_it_is_no_more_than_alpha() -> None:
    clustered = PairedDesign(tasks=60, repeats=3, rate=0.3, cluster_size=4, side_spread=0.8)
    for design in (PLAIN, clustered):
        assert power(design, 0.0, seed=SEED, simulations=1_000).value <= 0.06


def test_more_tasks_and_more_repeats_find_more_and_templates_less() -> None:
    def at(**changes: float) -> float:
        made = PairedDesign(
            tasks=int(changes.get("tasks", 40)),
            repeats=int(changes.get("repeats", 1)),
            rate=0.4,
            cluster_size=changes.get("cluster_size", 1.0),
            side_spread=1.0,
        )
        return power(made, 0.15, seed=SEED, simulations=600).value

    assert at() < at(repeats=5) < at(tasks=160, repeats=5)
    assert at(tasks=160, repeats=5, cluster_size=16) < at(tasks=160, repeats=5)


def test_tasks_needed_are_near_the_textbooks() -> None:
    """Independent sides need about what the normal approximation for two samples gives."""
    found = tasks_needed(PLAIN, 0.2, seed=SEED, simulations=300)
    approximate = NormalIndPower().solve_power(
        effect_size=proportion_effectsize(0.6, 0.4), alpha=0.05, power=0.8
    )
    assert found.value == pytest.approx(approximate, rel=0.2)


def test_the_detectable_difference_is_found_by_that_design() -> None:
    found = detectable_difference(PLAIN, seed=SEED, simulations=300)
    assert found.value is not None
    assert exact_power(60, 0.4 + found.value, 0.4) == pytest.approx(0.8, abs=0.07)


def test_what_no_repeats_can_find_says_so() -> None:
    few = PairedDesign(tasks=5, repeats=1, rate=0.4)
    found = repeats_needed(few, 0.3, seed=SEED, simulations=100)
    assert found.value is None
    assert found.undefined is not None
    assert found.undefined.startswith("even 20 repeats find it with a power of 0.")
    small = detectable_difference(few, seed=SEED, simulations=100)
    assert small.undefined is not None


def test_a_seed_gives_the_same_again() -> None:
    assert power(PLAIN, 0.2, seed=1, simulations=50) == power(PLAIN, 0.2, seed=1, simulations=50)


@pytest.mark.parametrize(("rate", "difference"), [(0.0, 0.1), (0.9, 0.2), (0.2, -0.2)])
def test_rates_that_are_none_are_refused(rate: float, difference: float) -> None:
    with pytest.raises(ValueError, match="no power of"):
        power(PairedDesign(tasks=5, repeats=1, rate=rate), difference, seed=1)


def test_a_pilot_says_how_far_tasks_are_apart() -> None:
    alike = design_from(outcomes(*["+-+-", "-+-+"] * 20), repeats=5, task_count=100)
    assert (alike.tasks, alike.repeats, alike.rate) == (100, 5, 0.5)
    assert alike.task_spread == pytest.approx(0, abs=0.01)
    apart = design_from(outcomes(*["++++", "----"] * 20), repeats=5)
    assert apart.task_spread > 3


def test_templates_of_a_pilot_take_their_part_of_the_spread() -> None:
    marks = ["++++"] * 20 + ["----"] * 20
    by_template = design_from(
        outcomes(*marks, clusters="aaaabbbbccccddddeeeeffffgggghhhhiiiijjjj"), repeats=1
    )
    assert by_template.cluster_size == 4
    assert by_template.cluster_spread > by_template.task_spread


def test_a_pilot_played_once_keeps_the_usual_spreads_and_stays_off_the_edge() -> None:
    found = design_from(outcomes("+", "+", "+"), repeats=2)
    assert found.rate == pytest.approx(1 - 0.5 / 3)
    assert found.task_spread == PairedDesign(tasks=1, repeats=1, rate=0.5).task_spread
    with pytest.raises(ValueError, match="without a scored episode"):
        design_from(outcomes("?"), repeats=1)
