"""How often a margin is shown where nothing differs, held to enumeration and to the tests."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from orchestrator.stats.design import PairedDesign, simulated
from orchestrator.stats.equivalence import Decision, equivalence, margin_p, non_inferiority
from orchestrator.stats.margin_power import (
    margin_power,
    repeats_for_margin,
    scores_of,
    showable_margin,
    tasks_for_margin,
)
from orchestrator.stats.results import TaskPair
from orchestrator.stats.score_interval import ScorePairs, score_pairs

SEED = 11
PLAIN = PairedDesign(
    tasks=60, repeats=1, rate=0.5, task_spread=0.0, cluster_spread=0.0, side_spread=0.0
)
CLUSTERED = PairedDesign(tasks=31, repeats=3, rate=0.7, cluster_size=4, side_spread=0.8)


def enumerated(tasks: int, discordance: float, margin: float, *, is_two_sided: bool) -> float:
    """Power where each side alone succeeds with half of the discordance, by full enumeration."""
    total = 0.0
    for parted in range(tasks + 1):
        weight = stats.binom.pmf(parted, tasks, discordance)
        for wins in range(parted + 1):
            score = ScorePairs((2 * wins - parted) / tasks, parted / tasks, tasks, np.inf)
            if margin_p(score, margin, is_two_sided=is_two_sided) <= 0.05:
                total += weight * stats.binom.pmf(wins, parted, 0.5)
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


@pytest.mark.parametrize("is_two_sided", [True, False])
def test_it_is_what_enumeration_gives_where_that_can_be_counted(*, is_two_sided: bool) -> None:
    found = margin_power(PLAIN, 0.25, is_two_sided=is_two_sided, seed=SEED, simulations=2_000)
    counted = enumerated(60, 0.5, 0.25, is_two_sided=is_two_sided)
    assert found.value == pytest.approx(counted, abs=0.03)
    assert 0.7 < counted < 0.95
    assert (found.margin, found.difference, found.simulations) == (0.25, 0.0, 2_000)


@pytest.mark.parametrize("design", [PLAIN, CLUSTERED, PairedDesign(tasks=9, repeats=2, rate=0.99)])
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


def test_a_margin_is_shown_more_often_the_wider_it_is_and_from_one_side_alone() -> None:
    def at(margin: float, *, is_two_sided: bool = True, design: PairedDesign = CLUSTERED) -> float:
        found = margin_power(design, margin, is_two_sided=is_two_sided, seed=SEED, simulations=400)
        return found.value

    assert at(0.05) < at(0.15) < at(0.15, is_two_sided=False) < at(0.3, is_two_sided=False)


def test_the_tasks_that_a_margin_needs_are_near_the_textbooks() -> None:
    """Where nothing differs: (z at alpha + z at half of beta)² × discordance ÷ margin²."""
    found = tasks_for_margin(PLAIN, 0.2, is_two_sided=True, seed=SEED, simulations=400)
    quantiles = stats.norm.ppf(0.95) + stats.norm.ppf(0.9)
    assert found.value == pytest.approx(quantiles**2 * 0.5 / 0.2**2, rel=0.15)


def test_the_repeats_and_the_margin_that_are_needed_have_that_power() -> None:
    margin = showable_margin(CLUSTERED, is_two_sided=True, seed=SEED, simulations=200)
    assert margin.value is not None
    again = margin_power(CLUSTERED, margin.value, is_two_sided=True, seed=SEED, simulations=200)
    assert again.value >= 0.8
    below = margin_power(
        CLUSTERED, margin.value - 0.006, is_two_sided=True, seed=SEED, simulations=200
    )
    assert below.value < 0.8
    repeats = repeats_for_margin(PLAIN, 0.15, is_two_sided=True, seed=SEED, simulations=200)
    assert repeats.value is not None
    # Repeats of tasks that are all alike are as good as tasks: 190 pairs in all.
    assert repeats.value * PLAIN.tasks == pytest.approx(190, abs=60)


def test_what_no_number_can_show_says_so() -> None:
    one = PairedDesign(tasks=1, repeats=5, rate=0.5)
    assert margin_power(one, 0.3, is_two_sided=True, seed=SEED).value == 0
    none = repeats_for_margin(one, 0.3, is_two_sided=True, seed=SEED, simulations=50)
    assert none.undefined == "even 20 repeats show it with a power of 0.00 only"
    least = showable_margin(one, is_two_sided=True, seed=SEED, simulations=50)
    assert least.undefined == "even a margin of 1.00 is shown with a power of 0.00 only"


@pytest.mark.parametrize("margin", [0.0, 1.0, -0.1])
def test_margins_that_are_none_are_refused(margin: float) -> None:
    with pytest.raises(ValueError, match="no power of a margin"):
        margin_power(PLAIN, margin, is_two_sided=True, seed=SEED)
