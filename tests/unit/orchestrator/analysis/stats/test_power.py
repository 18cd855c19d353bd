"""What a design finds or shows, against formulas, enumeration and longer simulations."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from quick_cases import SLOW
from support.studies.stats_rows import outcomes

from orchestrator.analysis.stats.design import PairedDesign, design_from, simulated
from orchestrator.analysis.stats.intervals import ScorePairs, score_pairs
from orchestrator.analysis.stats.paired import Decision, equivalence, margin_p, non_inferiority
from orchestrator.analysis.stats.power import (
    Difference,
    Margin,
    Simulation,
    scores_of,
)
from orchestrator.analysis.stats.results import TaskPair

SEED = 11


def studies(count: int, seed: int = SEED) -> Simulation:
    return Simulation(seed=seed, simulations=count)


PLAIN = PairedDesign(
    tasks=60, repeats=1, rate=0.4, task_spread=0.0, cluster_spread=0.0, side_spread=0.0
)


def exact_power(tasks: int, first: float, second: float) -> float:
    """Power of McNemar's exact test where both sides are independent, by full enumeration."""
    only, other = first * (1 - second), second * (1 - first)
    total = 0.0
    for parted in range(tasks + 1):
        weight = scipy.stats.binom.pmf(parted, tasks, only + other)
        wins = np.arange(parted + 1)
        p = 2 * scipy.stats.binom.cdf(np.minimum(wins, parted - wins), parted, 0.5)
        total += (
            weight * scipy.stats.binom.pmf(wins[p <= 0.05], parted, only / (only + other)).sum()
        )
    return float(total)


@SLOW
def test_it_is_the_power_of_mcnemars_exact_test_where_that_can_be_counted() -> None:
    found = studies(2_000).power(PLAIN, Difference(0.25))
    assert found.value == pytest.approx(exact_power(60, 0.65, 0.4), abs=0.03)
    assert found.interval.low < found.value < found.interval.high


@SLOW
def test_without_a_difference_it_is_no_more_than_alpha() -> None:
    clustered = PairedDesign(tasks=60, repeats=3, rate=0.3, cluster_size=4, side_spread=0.8)
    for design in (PLAIN, clustered):
        assert studies(1_000).power(design, Difference(0.0)).value <= 0.06


@SLOW
def test_more_tasks_and_more_repeats_find_more_and_templates_less() -> None:
    def at(**changes: float) -> float:
        made = PairedDesign(
            tasks=int(changes.get("tasks", 40)),
            repeats=int(changes.get("repeats", 1)),
            rate=0.4,
            cluster_size=changes.get("cluster_size", 1.0),
            side_spread=1.0,
        )
        return studies(600).power(made, Difference(0.15)).value

    assert at() < at(repeats=5) < at(tasks=160, repeats=5)
    assert at(tasks=160, repeats=5, cluster_size=16) < at(tasks=160, repeats=5)


@SLOW
def test_tasks_needed_are_near_the_textbooks() -> None:
    """Independent sides need about what the normal approximation for two samples gives."""
    found = studies(300).tasks_needed(PLAIN, Difference(0.2))
    effect = 2 * (np.arcsin(np.sqrt(0.6)) - np.arcsin(np.sqrt(0.4)))
    approximate = 2 * ((scipy.stats.norm.ppf(0.975) + scipy.stats.norm.ppf(0.8)) / effect) ** 2
    assert found.value == pytest.approx(approximate, rel=0.2)


@SLOW
def test_the_detectable_difference_is_found_by_that_design() -> None:
    found = studies(300).detectable_difference(PLAIN)
    assert found.value is not None
    assert exact_power(60, 0.4 + found.value, 0.4) == pytest.approx(0.8, abs=0.07)


@SLOW
def test_what_no_repeats_can_find_says_so() -> None:
    few = PairedDesign(tasks=5, repeats=1, rate=0.4)
    found = studies(100).repeats_needed(few, Difference(0.3))
    assert found.value is None
    assert found.undefined is not None
    assert found.undefined.startswith("even 20 repeats find it with a power of only 0.")
    small = studies(100).detectable_difference(few)
    assert small.undefined is not None


def test_a_seed_gives_the_same_again() -> None:
    assert studies(50, seed=1).power(PLAIN, Difference(0.2)) == studies(50, seed=1).power(
        PLAIN, Difference(0.2)
    )


@pytest.mark.parametrize(("rate", "difference"), [(0.0, 0.1), (0.9, 0.2), (0.2, -0.2)])
def test_rates_that_are_none_are_refused(rate: float, difference: float) -> None:
    with pytest.raises(ValueError, match="cannot simulate"):
        Simulation(seed=1).power(
            PairedDesign(tasks=5, repeats=1, rate=rate), Difference(difference)
        )


@SLOW
def test_a_pilot_says_how_far_tasks_are_apart() -> None:
    alike = design_from(outcomes(*["+-+-", "-+-+"] * 20), repeats=5, task_count=100)
    assert (alike.tasks, alike.repeats, alike.rate) == (100, 5, 0.5)
    assert alike.task_spread == pytest.approx(0, abs=0.01)
    apart = design_from(outcomes(*["++++", "----"] * 20), repeats=5)
    assert apart.task_spread > 3


@SLOW
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


ALIKE = PairedDesign(
    tasks=60, repeats=1, rate=0.5, task_spread=0.0, cluster_spread=0.0, side_spread=0.0
)
CLUSTERED = PairedDesign(tasks=31, repeats=3, rate=0.7, cluster_size=4, side_spread=0.8)


def enumerated(tasks: int, discordance: float, margin: float, *, is_two_sided: bool) -> float:
    """Power where each side alone succeeds with half of the discordance, by full enumeration."""
    total = 0.0
    for parted in range(tasks + 1):
        weight = scipy.stats.binom.pmf(parted, tasks, discordance)
        for wins in range(parted + 1):
            score = ScorePairs((2 * wins - parted) / tasks, parted / tasks, tasks, np.inf)
            if margin_p(score, margin, is_two_sided=is_two_sided) <= 0.05:
                total += weight * scipy.stats.binom.pmf(wins, parted, 0.5)
    return float(total)


def pairs_of(design: PairedDesign, first: np.ndarray, second: np.ndarray) -> tuple[TaskPair, ...]:
    """Return one simulated study as episodes that were played."""

    def played(wins: int) -> tuple[bool, ...]:
        return tuple(number < wins for number in range(design.repeats))

    cluster = np.searchsorted(design.begins, np.arange(design.tasks), side="right")
    return tuple(
        TaskPair(str(task), str(cluster[task]), played(int(one)), played(int(other)))
        for task, (one, other) in enumerate(zip(first, second, strict=True))
    )


@SLOW
@pytest.mark.parametrize("is_two_sided", [True, False])
def test_it_is_what_enumeration_gives_where_that_can_be_counted(*, is_two_sided: bool) -> None:
    found = studies(2_000).power(ALIKE, Margin(size=0.25, is_two_sided=is_two_sided))
    counted = enumerated(60, 0.5, 0.25, is_two_sided=is_two_sided)
    assert found.value == pytest.approx(counted, abs=0.03)
    assert 0.7 < counted < 0.95
    assert found.simulations == 2_000


@SLOW
@pytest.mark.parametrize("design", [ALIKE, CLUSTERED, PairedDesign(tasks=9, repeats=2, rate=0.99)])
def test_each_simulated_study_is_tested_as_a_played_one(design: PairedDesign) -> None:
    for first, second in simulated(design, 0.0, np.random.default_rng(SEED), 60):
        scores = tuple(scores_of(design, first, second))
        for score, *wins in zip(scores, first, second, strict=True):
            pairs = pairs_of(design, *wins)
            expected = score_pairs(pairs)
            assert isinstance(expected, ScorePairs)
            assert vars_of(score) == pytest.approx(vars_of(expected))
            for test, is_two_sided in ((equivalence, True), (non_inferiority, False)):
                is_shown = margin_p(score, 0.2, is_two_sided=is_two_sided) <= 0.05
                assert is_shown is (test(pairs, 0.2).decision is Decision.YES)


def vars_of(score: ScorePairs) -> tuple[float, ...]:
    return score.effect, score.discordance, score.count, score.freedom


@SLOW
def test_a_margin_is_shown_more_often_the_wider_it_is_and_from_one_side_alone() -> None:
    def at(margin: float, *, is_two_sided: bool = True, design: PairedDesign = CLUSTERED) -> float:
        found = studies(400).power(design, Margin(size=margin, is_two_sided=is_two_sided))
        return found.value

    assert at(0.05) < at(0.15) < at(0.15, is_two_sided=False) < at(0.3, is_two_sided=False)


@SLOW
def test_the_tasks_that_a_margin_needs_are_near_the_textbooks() -> None:
    """Where nothing differs: (z at alpha + z at half of beta)² × discordance ÷ margin²."""
    found = studies(400).tasks_needed(ALIKE, Margin(size=0.2, is_two_sided=True))
    quantiles = scipy.stats.norm.ppf(0.95) + scipy.stats.norm.ppf(0.9)
    assert found.value == pytest.approx(quantiles**2 * 0.5 / 0.2**2, rel=0.15)


@SLOW
def test_the_repeats_and_the_margin_that_are_needed_have_that_power() -> None:
    margin = studies(200).showable_margin(CLUSTERED, is_two_sided=True)
    assert margin.value is not None
    again = studies(200).power(CLUSTERED, Margin(size=margin.value, is_two_sided=True))
    assert again.value >= 0.8
    below = studies(200).power(CLUSTERED, Margin(size=margin.value - 0.006, is_two_sided=True))
    assert below.value < 0.8
    repeats = studies(200).repeats_needed(ALIKE, Margin(size=0.15, is_two_sided=True))
    assert repeats.value is not None
    # Repeats of tasks that are all alike are as good as tasks: 190 pairs in all.
    assert repeats.value * ALIKE.tasks == pytest.approx(190, abs=60)


def test_what_no_number_can_show_says_so() -> None:
    one = PairedDesign(tasks=1, repeats=5, rate=0.5)
    assert Simulation(seed=SEED).power(one, Margin(size=0.3, is_two_sided=True)).value == 0
    none = studies(50).repeats_needed(one, Margin(size=0.3, is_two_sided=True))
    assert none.undefined == "even 20 repeats show it with a power of only 0.00"
    least = studies(50).showable_margin(one, is_two_sided=True)
    assert least.undefined == "even a margin of 1.00 is shown with a power of only 0.00"


@pytest.mark.parametrize("margin", [0.0, 1.0, -0.1])
def test_margins_that_are_none_are_refused(margin: float) -> None:
    with pytest.raises(ValueError, match="a margin must lie between 0 and 1"):
        Simulation(seed=SEED).power(ALIKE, Margin(size=margin, is_two_sided=True))
