"""How often procedures are right over simulated studies; `docs/what-the-numbers-mean.md` has these.

`python tests/support/studies/stats_coverage.py` prints the tables of that page (minutes).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from orchestrator.analysis.stats.concordance import bland_altman, kappa
from orchestrator.analysis.stats.costs import per_success
from orchestrator.analysis.stats.intervals import bca_of_ratio, score_pairs
from orchestrator.analysis.stats.paired import (
    Decision,
    cluster_differences,
    equivalence,
    paired_test,
)
from orchestrator.analysis.stats.rates import Interval, clustered_rate, pass_hat_k
from support.studies.stats_rows import row
from support.studies.stats_simulated import Shape, paired_studies, rate_studies

SHAPES: Final = (
    Shape(10, 1, 1),
    Shape(20, 1, 1),
    Shape(50, 1, 1),
    Shape(100, 1, 1),
    Shape(20, 1, 5),
    Shape(50, 1, 5),
    Shape(6, 4, 1),
    Shape(6, 4, 5),
    Shape(12, 4, 1),
    Shape(12, 4, 5),
    Shape(30, 4, 1),
    Shape(30, 4, 5),
    Shape(60, 4, 5),
    Shape(12, 10, 5, is_equal=True),
)
RATES: Final = (0.5, 0.2, 0.05, 0.02)
PAIRS: Final = ((0.5, 0.5), (0.6, 0.4), (0.95, 0.85), (0.05, 0.05))
MARGIN: Final = 0.2
SEED: Final = 20_260


@dataclass(frozen=True, slots=True)
class Paired:
    """Shares of simulated studies.

    Attributes:
        score, bca: whose interval covers the true difference; bca of those that have one.
        wolf: whose p is at most 0.05: false positives where the rates are equal, else power.
    """

    score: float
    bca: float
    wolf: float


def rate_coverage(shape: Shape, rate: float, count: int) -> float:
    """Return how often the clustered interval covers the true rate."""
    intervals = (clustered_rate(study).interval for study in rate_studies(shape, rate, count, SEED))
    return _covered(intervals, rate)


def pass_coverage(shape: Shape, rate: float, count: int, k: int) -> float:
    """Return how often the interval of pass^k covers what a very large study gives."""
    large = Shape(40_000, 1, shape.repeats)
    [whole] = rate_studies(large, rate, 1, SEED)
    truth = pass_hat_k(whole, k).value or 0.0
    studies = rate_studies(shape, rate, count, SEED)
    return _covered((pass_hat_k(study, k).interval for study in studies), truth)


def paired(shape: Shape, rates: tuple[float, float], count: int, resamples: int = 1_000) -> Paired:
    """Return coverage of both intervals of a difference, and how often the test rejects."""
    truth = rates[0] - rates[1]
    score, bca, wolf, known = 0, 0, 0, 0
    for place, study in enumerate(paired_studies(shape, rates, count, SEED)):
        found = score_pairs(study)
        assert not isinstance(found, str)
        score += _has(found.interval(0.95), truth)
        made = bca_of_ratio(*cluster_differences(study), seed=place, resamples=resamples)
        known += made.interval is not None
        bca += made.interval is not None and _has(made.interval, truth)
        wolf += (paired_test(study, seed=place, permutations=resamples - 1).p or 1) <= 0.05
    return Paired(score / count, bca / max(1, known), wolf / count)


def false_equivalence(shape: Shape, rate: float, count: int) -> float:
    """Return how often sides exactly one margin apart are called equivalent."""
    studies = paired_studies(shape, (rate, rate + MARGIN), count, SEED)
    return _share(equivalence(study, MARGIN).decision is Decision.YES for study in studies)


def true_equivalence(shape: Shape, rate: float, count: int, margin: float) -> float:
    """Return how often sides of equal rates and tasks are called equivalent."""
    studies = paired_studies(shape, (rate, rate), count, SEED, side=0.0)
    return _share(equivalence(study, margin).decision is Decision.YES for study in studies)


def kappa_coverage(shape: Shape, rate: float, count: int) -> float:
    """Return how often kappa's interval covers what a very large study gives."""
    [whole] = paired_studies(Shape(30_000, 1, shape.repeats), (rate, rate), 1, SEED)
    truth = kappa(whole).value or 0.0
    studies = paired_studies(shape, (rate, rate), count, SEED)
    return _covered((kappa(study).interval for study in studies), truth)


def cost_coverage(shape: Shape, rate: float, count: int) -> float:
    """Return how often the interval of a success's price covers it; a failure costs double.

    Of the studies that have one: without a success there is no price.
    """
    random = np.random.default_rng(SEED)
    truth = (2 - rate) / rate
    intervals = []
    for study in rate_studies(shape, rate, count, SEED):
        prices = iter(random.lognormal(-0.125, 0.5, len(study) * shape.repeats))
        rows = [
            row(
                task.task,
                template=task.cluster,
                repeat=repeat,
                success=won,
                usd=next(prices) * (1 if won else 2),
            )
            for task in study
            for repeat, won in enumerate(task.outcomes)
        ]
        intervals.append(per_success(rows, lambda one: one.usd).interval)
    return _covered(intervals, truth)


def bias_coverage(shape: Shape, rate: float, count: int) -> float:
    """Return how often Bland and Altman's interval of the bias covers a bias of 0."""
    studies = paired_studies(shape, (rate, rate), count, SEED)
    return _covered((bland_altman(study).bias_interval for study in studies), 0.0)


def _covered(intervals: Iterable[Interval | None], truth: float) -> float:
    known = [interval for interval in intervals if interval is not None]
    return _share(_has(interval, truth) for interval in known)


def _has(interval: Interval, truth: float) -> bool:
    return interval.low - 1e-9 <= truth <= interval.high + 1e-9


def _share(hits: Iterable[bool]) -> float:
    counted = list(hits)
    return sum(counted) / len(counted)


def _table(
    head: str, columns: Iterable[object], rows: Iterable[Shape], cell: Callable[..., str]
) -> None:
    columns = tuple(columns)
    lines = [
        f"| {head} | " + " | ".join(map(str, columns)) + " |",
        "|---" * (len(columns) + 1) + "|",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    for shape in rows:
        cells = " | ".join(cell(shape, column) for column in columns)
        sys.stdout.write(f"| {shape} | {cells} |\n")
        sys.stdout.flush()
    sys.stdout.write("\n")


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def main() -> None:
    """Print every table."""
    _table("rate", RATES, SHAPES, lambda shape, rate: _percent(rate_coverage(shape, rate, 2_000)))
    several = [shape for shape in SHAPES if shape.repeats > 1]
    _table("pass^3", RATES[:3], several, lambda s, rate: _percent(pass_coverage(s, rate, 1_000, 3)))
    _table(
        "difference: score, BCa, rejected",
        PAIRS,
        SHAPES,
        lambda shape, rates: _shown(paired(shape, rates, 1_000)),
    )
    _table(
        "equivalent at the margin",
        (0.4, 0.2, 0.05),
        SHAPES,
        lambda shape, rate: _percent(false_equivalence(shape, rate, 2_000)),
    )
    _table(
        "cost",
        (0.95, *RATES[:3]),
        SHAPES[2:],
        lambda shape, rate: _percent(cost_coverage(shape, rate, 1_000)),
    )
    _table("bias", RATES[:3], SHAPES, lambda s, rate: _percent(bias_coverage(s, rate, 2_000)))
    _table("kappa", (0.5, 0.2), SHAPES, lambda s, rate: _percent(kappa_coverage(s, rate, 1_000)))


def _shown(found: Paired) -> str:
    return f"{_percent(found.score)}, {_percent(found.bca)}, {_percent(found.wolf)}"


if __name__ == "__main__":
    main()
