"""How long a paired comparison of a large study takes."""

from __future__ import annotations

import random
import time
from typing import Final

from bench.figures import Figure, Series, at_most

from orchestrator.analysis.stats.paired import compare_pairs
from orchestrator.analysis.stats.results import TaskPair

_TASKS: Final = 1_000
_REPEATS: Final = 5
_RESAMPLES: Final = 10_000
_ROUNDS: Final = 5
_GOAL: Final = 5.0


def bootstrap_figures() -> list[Figure]:
    """Compare two sides on so many tasks, each a cluster, with bootstrap and permutation test."""
    draw = random.Random(0)
    pairs = [
        TaskPair(f"task-{task}", f"template-{task}", _repeats(draw, 0.6), _repeats(draw, 0.5))
        for task in range(_TASKS)
    ]
    seconds = []
    for seed in range(_ROUNDS):
        began = time.perf_counter()
        compare_pairs(pairs, seed=seed, resamples=_RESAMPLES, permutations=_RESAMPLES)
        seconds.append(time.perf_counter() - began)
    what = f"BCa and permutations, {_RESAMPLES:,} each, {_TASKS:,} tasks x {_REPEATS}, s"
    return [at_most(what, Series(seconds), _GOAL, "s")]


def _repeats(draw: random.Random, chance: float) -> tuple[bool, ...]:
    return tuple(draw.random() < chance for _ in range(_REPEATS))
