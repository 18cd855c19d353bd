"""How often procedures are right where what they take for granted does not hold.

`python tests/support/studies/stats_shortfalls.py` prints the table of
`docs/what-the-numbers-mean.md` (minutes).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from orchestrator.analysis.stats.intervals import ScorePairs, score_pairs
from orchestrator.analysis.stats.paired import Decision, equivalence, paired_test
from orchestrator.analysis.stats.rates import Interval, clustered_rate, rate_of
from orchestrator.analysis.stats.results import TaskOutcomes, TaskPair
from support.studies.stats_simulated import Shape, paired_studies, rate_studies

SEED: Final = 20_262
LOST_FAILURE, LOST_SUCCESS = 0.3, 0.05
MARGIN: Final = 0.1
DAY: Final = 0.25  # a day's shift on the logistic scale, as a standard deviation
SITE: Final = 0.5  # a site's
SHAPE: Final = Shape(30, 4, 5)


@dataclass(frozen=True, slots=True)
class Lost:
    """Two sides of one rate, where failures go unscored more often than successes.

    Attributes:
        covered: of the true difference by the score interval; `wolf`: p at most 0.05.
    """

    covered: float
    wolf: float


def bimodal(templates: int, rate: float, count: int) -> float:
    """Return the coverage of a rate of templates of unequal sizes, each won always or never."""
    random = np.random.default_rng(SEED)
    found = []
    for _ in range(count):
        sizes = np.maximum(1, np.round(random.lognormal(np.log(4) - 0.5, 1, templates)))
        won = random.random(templates) < rate
        study = [
            TaskOutcomes(f"{template}-{n}", str(template), (bool(won[template]),) * 5)
            for template, size in enumerate(sizes)
            for n in range(int(size))
        ]
        found.append(_has(clustered_rate(study).interval, rate))
    return _share(found)


def failures_lost(shape: Shape, rate: float, count: int) -> float:
    """Return the coverage of a rate whose failures go unscored six times as often."""
    random = np.random.default_rng(SEED)
    return _share(
        _has(clustered_rate([_losing(task, random) for task in study]).interval, rate)
        for study in rate_studies(shape, rate, count, SEED)
    )


def failures_lost_of_sides(shape: Shape, rate: float, count: int, *, both: bool) -> Lost:
    """Return what comes of two sides of one rate, of which one or both lose failures."""
    random = np.random.default_rng(SEED)
    covered, wolf = [], []
    for number, study in enumerate(paired_studies(shape, (rate, rate), count, SEED)):
        pairs = [_pair_losing(pair, random, both=both) for pair in study]
        found = score_pairs(pairs)
        covered.append(isinstance(found, ScorePairs) and _has(found.interval(0.95), 0.0))
        wolf.append(_rejects(pairs, number))
    return Lost(_share(covered), _share(wolf))


def false_equivalence_of_a_side(shape: Shape, rate: float, count: int) -> float:
    """Return how often a side one margin worse is called equivalent where its failures are lost."""
    random = np.random.default_rng(SEED)
    studies = paired_studies(shape, (rate, rate + MARGIN), count, SEED)
    return _share(
        equivalence([_pair_losing(pair, random, both=False) for pair in study], MARGIN).decision
        is Decision.YES
        for study in studies
    )


def shocks_of_days(days: int, count: int) -> float:
    """Return the coverage of a rate where each day makes all of its episodes easier or harder."""
    random = np.random.default_rng(SEED)
    found = []
    for _ in range(count):
        ease = 0.8 * np.repeat(random.standard_normal(30), 4)
        ease += 1.2 * random.standard_normal(120)
        day = DAY * random.standard_normal(days)[np.arange(5) * days // 5]
        chance = 1 / (1 + np.exp(-ease[:, None] - day[None, :]))
        wins = random.random((120, 5)) < chance
        study = [
            TaskOutcomes(str(n), str(n // 4), tuple(map(bool, row))) for n, row in enumerate(wins)
        ]
        found.append(_has(clustered_rate(study).interval, 0.5))
    return _share(found)


def shocks_of_sites(sites: int, count: int) -> float:
    """Return the coverage of a rate over sites, each of which makes its templates alike."""
    random = np.random.default_rng(SEED)
    found = []
    for _ in range(count):
        ease = SITE * np.repeat(random.standard_normal(sites), 120 // sites)
        ease += 0.8 * np.repeat(random.standard_normal(30), 4) + 1.2 * random.standard_normal(120)
        wins = random.random((120, 5)) < (1 / (1 + np.exp(-ease)))[:, None]
        study = [
            TaskOutcomes(str(n), str(n // 4), tuple(map(bool, row))) for n, row in enumerate(wins)
        ]
        found.append(_has(clustered_rate(study).interval, 0.5))
    return _share(found)


def day_of_a_side(count: int) -> float:
    """Return how often two agents of one rate differ at 5 %, each played on a day of its own."""
    random = np.random.default_rng(SEED)
    found = []
    for number in range(count):
        ease = 0.8 * np.repeat(random.standard_normal(30), 4)
        ease += 1.2 * random.standard_normal(120)
        sides = [
            random.random((120, 5)) < (1 / (1 + np.exp(-ease - shift)))[:, None]
            for shift in DAY * random.standard_normal(2)
        ]
        found.append(_rejects(_pairs(sides, 4), number))
    return _share(found)


def skewed(templates: int, won_by: float, count: int) -> float:
    """Return how often equal sides differ at 5 %: a few templates won by far, many lost by little.

    One side loses most templates by 10 points, and wins the others by so much that it evens out.
    """
    chance = 0.1 / (won_by + 0.1)
    random = np.random.default_rng(SEED)
    found = []
    for number in range(count):
        lead = np.where(random.random(templates) < chance, won_by, -0.1)
        chances = [np.repeat(0.5 + side * lead / 2, 4) for side in (1, -1)]
        sides = [random.random((4 * templates, 5)) < one[:, None] for one in chances]
        found.append(_rejects(_pairs(sides, 4), number))
    return _share(found)


def agreement_coverage(shape: Shape, count: int) -> tuple[float, float]:
    """Return how often plain Wilson's interval and the clustered one cover an agreement."""

    def same(pairs: Sequence[TaskPair]) -> list[TaskOutcomes]:
        return [
            TaskOutcomes(pair.task, pair.cluster, (pair.first[0] is pair.second[0],))
            for pair in pairs
        ]

    [whole] = paired_studies(replace(shape, templates=20_000), (0.3, 0.3), 1, SEED, side=0.1)
    truth = clustered_rate(same(whole)).value or 0.0
    plain, clustered = [], []
    for study in paired_studies(shape, (0.3, 0.3), count, SEED, side=0.1):
        agreed = same(study)
        plain.append(_has(rate_of([one.share or 0.0 for one in agreed]).interval, truth))
        clustered.append(_has(clustered_rate(agreed).interval, truth))
    return _share(plain), _share(clustered)


def slice_coverage(count: int) -> tuple[float, float]:
    """Return the same of a rate over 12 templates of about 10 tasks, as a slice may have them."""
    plain, clustered = [], []
    for study in rate_studies(Shape(12, 10, 1), 0.5, count, SEED):
        plain.append(_has(rate_of([one.share or 0.0 for one in study]).interval, 0.5))
        clustered.append(_has(clustered_rate(study).interval, 0.5))
    return _share(plain), _share(clustered)


def _losing(task: TaskOutcomes, random: np.random.Generator) -> TaskOutcomes:
    return replace(task, outcomes=_lost(task.outcomes, random))


def _pair_losing(pair: TaskPair, random: np.random.Generator, *, both: bool) -> TaskPair:
    second = _lost(pair.second, random) if both else pair.second
    return replace(pair, first=_lost(pair.first, random), second=second)


def _lost(outcomes: Iterable[bool | None], random: np.random.Generator) -> tuple[bool | None, ...]:
    return tuple(
        None if random.random() < (LOST_SUCCESS if one else LOST_FAILURE) else one
        for one in outcomes
    )


def _pairs(sides: Sequence[np.ndarray], a_template: int) -> list[TaskPair]:
    return [
        TaskPair(str(n), str(n // a_template), tuple(map(bool, one)), tuple(map(bool, two)))
        for n, (one, two) in enumerate(zip(*sides, strict=True))
    ]


def _rejects(pairs: Sequence[TaskPair], seed: int) -> bool:
    return (paired_test(pairs, seed=seed, permutations=1_999).p or 1.0) <= 0.05


def _has(interval: Interval | None, truth: float) -> bool:
    return interval is not None and interval.low - 1e-9 <= truth <= interval.high + 1e-9


def _share(hits: Iterable[bool]) -> float:
    counted = list(hits)
    return sum(counted) / len(counted)


def figures(count: int) -> Iterator[tuple[str, object]]:
    """Yield each figure of the page by name."""
    for templates in (12, 30, 60):
        for rate in (0.05, 0.1, 0.2):
            yield f"bimodal, {templates} templates, {rate}", bimodal(templates, rate, count)
    for rate in (0.5, 0.2):
        yield f"failures lost, {rate}", failures_lost(SHAPE, rate, count)
        for both in (True, False):
            name = f"failures lost of {'both sides' if both else 'one side'}, {rate}"
            yield name, failures_lost_of_sides(SHAPE, rate, count, both=both)
    yield "false equivalence", false_equivalence_of_a_side(SHAPE, 0.4, count)
    for days in (1, 2, 5):
        yield f"{days} days", shocks_of_days(days, count)
    for sites in (5, 10):
        yield f"{sites} sites", shocks_of_sites(sites, count)
    yield "a day a side", day_of_a_side(count)
    for templates in (12, 20, 30, 60):
        for won_by in (0.5, 0.8):
            name = f"skewed, {templates} templates, won by {won_by}"
            yield name, skewed(templates, won_by, count)
    for shape in (Shape(12, 4, 1), Shape(12, 10, 1), Shape(30, 4, 1)):
        yield f"agreement, {shape}", agreement_coverage(shape, count)
    yield "slice", slice_coverage(count)


def main() -> None:
    """Print every figure."""
    for name, figure in figures(1_000):
        sys.stdout.write(f"{name}: {figure}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
