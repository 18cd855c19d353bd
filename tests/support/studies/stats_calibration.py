"""How often the intervals of stated confidence are right over simulated studies.

`python tests/support/studies/stats_calibration.py` prints the table of
`docs/what-the-numbers-mean.md` (minutes).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from orchestrator.analysis.stats.discrimination import Stated, discrimination
from orchestrator.analysis.stats.rates import Interval, mean_of
from support.studies.stats_coverage import SEED
from support.studies.stats_simulated import Shape, StatedTask, stated_studies

SHAPES: Final = (
    Shape(20, 1, 1),
    Shape(50, 1, 1),
    Shape(100, 1, 1),
    Shape(20, 1, 5),
    Shape(12, 4, 1),
    Shape(12, 4, 5),
    Shape(30, 4, 5),
    Shape(60, 4, 5),
)
RATES: Final = (0.5, 0.2)
_LARGE: Final = 40_000


@dataclass(frozen=True, slots=True)
class Figures:
    """What a study says, or how often it covers what a very large one says.

    Attributes:
        none: how often AUROC has no interval.
    """

    excess: float
    brier: float
    auroc: float
    none: float = 0.0


def coverage(shape: Shape, rate: float, count: int) -> Figures:
    """Return how often each interval covers the truth; AUROC's of those that there are."""
    [whole] = stated_studies(Shape(_LARGE, 1, shape.repeats), rate, 1, SEED)
    truth = Figures(
        fmean(_excess(task) for task in whole),
        fmean(_brier(task) for task in whole),
        discrimination(_stated(whole)).value or 0.0,
    )
    excess = brier = auroc = known = 0
    for study in stated_studies(shape, rate, count, SEED + 1):
        _, span = mean_of([(task.cluster, _excess(task)) for task in study], confidence=0.95)
        excess += _has(span, truth.excess)
        _, span = mean_of([(task.cluster, _brier(task)) for task in study], confidence=0.95)
        brier += _has(span, truth.brier)
        found = discrimination(_stated(study)).interval
        known += found is not None
        auroc += _has(found, truth.auroc)
    return Figures(excess / count, brier / count, auroc / max(1, known), 1 - known / count)


def _excess(task: StatedTask) -> float:
    return fmean(task.confidences) - fmean(task.outcomes)


def _brier(task: StatedTask) -> float:
    pairs = zip(task.confidences, task.outcomes, strict=True)
    return fmean((sure - won) ** 2 for sure, won in pairs)


def _stated(study: Sequence[StatedTask]) -> list[Stated]:
    return [
        Stated(task.cluster, sure, won, 1 / len(task.outcomes))
        for task in study
        for sure, won in zip(task.confidences, task.outcomes, strict=True)
    ]


def _has(span: Interval | None, value: float) -> bool:
    return span is not None and span.low <= value <= span.high


def main(count: int = 1_000) -> None:
    """Print the table."""
    for shape in SHAPES:
        cells = []
        for rate in RATES:
            found = coverage(shape, rate, count)
            shares = (found.excess, found.brier, found.auroc)
            cells += [*(f"{100 * share:.1f}" for share in shares), f"{100 * found.none:.1f}"]
        print(f"| {shape} | {' | '.join(cells)} |", flush=True)  # noqa: T201 - it is a script


if __name__ == "__main__":
    main()
