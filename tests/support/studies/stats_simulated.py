"""Simulated studies whose truth is known: how often intervals cover it and tests cry wolf.

Tasks are of logistic-normal ease: what a template, a task, and a side of a comparison add to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

from orchestrator.analysis.stats.results import TaskOutcomes, TaskPair

Numbers = NDArray[np.float64]
TEMPLATE, TASK, SIDE = 0.8, 1.2, 0.5


@dataclass(frozen=True, slots=True)
class Shape:
    """How many templates, of how many tasks on average (unequal unless said), and repeats."""

    templates: int
    tasks: int
    repeats: int
    is_equal: bool = False

    def __str__(self) -> str:
        sizes = "" if self.tasks == 1 else (" equal" if self.is_equal else " unequal")
        return f"{self.templates} templates of {self.tasks}{sizes}, {self.repeats} repeats"


def rate_studies(shape: Shape, rate: float, count: int, seed: int) -> Iterator[list[TaskOutcomes]]:
    """Yield studies of one agent whose true rate, over all templates, is `rate`."""
    random = np.random.default_rng(seed)
    start = intercept(rate, float(np.hypot(TEMPLATE, TASK)))
    for _ in range(count):
        template = _templates(shape, random)
        wins = random.binomial(1, _chance(start + _ease(template, random), shape.repeats))
        yield [
            TaskOutcomes(str(task), str(template[task]), tuple(map(bool, row)))
            for task, row in enumerate(wins)
        ]


def paired_studies(
    shape: Shape, rates: tuple[float, float], count: int, seed: int, *, side: float = SIDE
) -> Iterator[list[TaskPair]]:
    """Yield studies of two sides whose true rates are these; `side` sets them apart by task."""
    random = np.random.default_rng(seed)
    spread = float(np.sqrt(TEMPLATE**2 + TASK**2 + 2 * side**2))
    starts = [intercept(rate, spread) for rate in rates]
    for _ in range(count):
        template = _templates(shape, random)
        ease = _ease(template, random)
        sides = []
        for start in starts:
            own = side * random.standard_normal(template.max() + 1)[template]
            own += side * random.standard_normal(len(template))
            sides.append(random.binomial(1, _chance(start + ease + own, shape.repeats)))
        yield [
            TaskPair(str(task), str(template[task]), tuple(map(bool, one)), tuple(map(bool, two)))
            for task, (one, two) in enumerate(zip(*sides, strict=True))
        ]


@dataclass(frozen=True, slots=True)
class StatedTask:
    """A task whose agent said in each repeat how sure it was."""

    cluster: str
    confidences: tuple[float, ...]
    outcomes: tuple[bool, ...]


def stated_studies(shape: Shape, rate: float, count: int, seed: int) -> Iterator[list[StatedTask]]:
    """Yield studies of one agent that has a noisy idea of a task's ease, and is too sure.

    It says tenths, as models do.
    """
    random = np.random.default_rng(seed)
    start = intercept(rate, float(np.hypot(TEMPLATE, TASK)))
    for _ in range(count):
        template = _templates(shape, random)
        logits = start + _ease(template, random)
        wins = random.binomial(1, _chance(logits, shape.repeats))
        noise = random.standard_normal((len(template), shape.repeats))
        sure = np.round(1 / (1 + np.exp(-(0.8 + 0.7 * logits[:, None] + noise))), 1)
        yield [
            StatedTask(str(template[task]), tuple(map(float, said)), tuple(map(bool, row)))
            for task, (said, row) in enumerate(zip(sure, wins, strict=True))
        ]


@lru_cache
def intercept(rate: float, spread: float) -> float:
    """Return the logit around which tasks of that spread have that mean rate."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)

    def off(start: float) -> float:
        return float(weights @ (1 / (1 + np.exp(-start - spread * nodes))) / weights.sum()) - rate

    return float(scipy.optimize.brentq(off, -40, 40))


def _templates(shape: Shape, random: np.random.Generator) -> NDArray[np.int64]:
    sizes = np.full(shape.templates, shape.tasks)
    if shape.tasks > 1 and not shape.is_equal:
        drawn = random.lognormal(np.log(shape.tasks) - 0.5, 1, shape.templates)
        sizes = np.maximum(1, np.round(drawn).astype(np.int64))
    return np.repeat(np.arange(shape.templates), sizes)


def _ease(template: NDArray[np.int64], random: np.random.Generator) -> Numbers:
    shared = TEMPLATE * random.standard_normal(template.max() + 1)[template]
    return np.asarray(shared + TASK * random.standard_normal(len(template)), dtype=np.float64)


def _chance(logits: Numbers, repeats: int) -> Numbers:
    chance = 1 / (1 + np.exp(-logits))
    return np.asarray(np.repeat(chance[:, None], repeats, axis=1), dtype=np.float64)
