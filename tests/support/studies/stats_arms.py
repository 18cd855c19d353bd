"""How often questions about arms are answered wrongly, over studies in which repeats are void.

`python tests/support/studies/stats_arms.py` prints the table of `docs/what-the-numbers-mean.md`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from orchestrator.analysis.stats.paired import Decision, non_inferiority, paired_test
from orchestrator.analysis.stats.results import CLEAN, Compared, EpisodeTable, TaskPair
from orchestrator.analysis.studies.questions import Question, QuestionKind, pairs_of
from support.studies.arm_rows import in_arm_of
from support.studies.stats_rows import row
from support.studies.stats_simulated import SIDE, TASK, TEMPLATE, Shape, intercept

SHAPES: Final = (
    Shape(50, 1, 1),
    Shape(50, 1, 5),
    Shape(12, 4, 5),
    Shape(30, 4, 5),
    Shape(12, 10, 5, is_equal=True),
)
MARGIN: Final = 0.1
SEED: Final = 20_270
_REPEAT: Final = 1.0  # what both plays of a repeat have in common, such as the agent's seed
_VOID: Final = 0.3
_QUESTION: Final = Question(
    id="q", kind=QuestionKind.DIFFERENCE, of=Compared.ARMS, first="dark", second=CLEAN
)


@dataclass(frozen=True, slots=True)
class Wrong:
    """Shares of studies without a difference, or exactly a margin apart, that find something.

    Attributes:
        wolf: a difference; `unmatched`: the same if void repeats left their clean twins behind.
        robust: that the arm is worse by less than the margin.
    """

    wolf: float
    unmatched: float
    robust: float


def wrong(shape: Shape, rate: float, count: int) -> Wrong:
    """Return how often studies are wrong in which hard repeats are void in the arm, or any are."""
    wolf, unmatched, robust = 0, 0, 0
    for place, pairs in enumerate(_studies(shape, (rate, rate), count, is_hard=True)):
        wolf += _is_found(pairs, place)
        lone = [TaskPair(one.task, one.cluster, one.first, one.second) for one in pairs]
        unmatched += _is_found(lone, place)
    for pairs in _studies(shape, (rate - MARGIN, rate), count, is_hard=False):
        robust += non_inferiority(pairs, MARGIN).decision is Decision.YES
    return Wrong(wolf / count, unmatched / count, robust / count)


def _is_found(pairs: list[TaskPair], seed: int) -> bool:
    return (paired_test(pairs, seed=seed, permutations=999).p or 1) <= 0.05


def _studies(
    shape: Shape, rates: tuple[float, float], count: int, *, is_hard: bool
) -> Iterator[list[TaskPair]]:
    """Yield the pairs of studies of one agent in an arm and the clean one, of these true rates.

    Args:
        shape: of the study.
        rates: in the arm, and in the clean one.
        count: how many studies.
        is_hard: whether the hardest repeats are void, and not just any; of these the rates are
            not what was asked for, but the two are still equal where they were.
    """
    random = np.random.default_rng(SEED)
    spread = float(np.sqrt(TEMPLATE**2 + TASK**2 + 2 * SIDE**2 + _REPEAT**2))
    starts = [intercept(one, spread) for one in rates]
    for _ in range(count):
        template = np.repeat(np.arange(shape.templates), _sizes(shape, random))
        size = (len(template), shape.repeats)
        shared = _REPEAT * random.standard_normal(size)
        drawn = shared if is_hard else random.standard_normal(size)
        void = drawn < np.quantile(drawn, _VOID)
        ease = shared + TASK * random.standard_normal(len(template))[:, None]
        ease += TEMPLATE * random.standard_normal(shape.templates)[template][:, None]
        rows = []
        for arm, start in zip(("dark", ""), starts, strict=True):
            own = SIDE * random.standard_normal(shape.templates)[template]
            own += SIDE * random.standard_normal(len(template))
            won = random.random(size) < 1 / (1 + np.exp(-(start + ease + own[:, None])))
            rows += [
                in_arm_of(
                    row(
                        str(task),
                        template=str(template[task]),
                        repeat=repeat,
                        success=None if arm and void[task, repeat] else bool(won[task, repeat]),
                    ),
                    arm,
                )
                for task, repeat in np.ndindex(*size)
            ]
        yield list(pairs_of(_QUESTION, EpisodeTable(rows)))


def _sizes(shape: Shape, random: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    if shape.tasks == 1 or shape.is_equal:
        return np.full(shape.templates, shape.tasks)
    drawn = random.lognormal(np.log(shape.tasks) - 0.5, 1, shape.templates)
    return np.maximum(1, np.round(drawn).astype(np.int64))


def main() -> None:
    """Print the table."""
    for shape in SHAPES:
        for rate in (0.6, 0.3):
            found = wrong(shape, rate, 1_000)
            figures = (found.wolf, found.unmatched, found.robust)
            shares = " | ".join(f"{100 * one:.1f}" for one in figures)
            sys.stdout.write(f"| {shape} | {rate} | {shares} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
