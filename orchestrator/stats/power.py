"""Which difference a design finds, and what a wanted difference needs: by simulation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from orchestrator.stats.design import PairedDesign, simulated
from orchestrator.stats.rates import Interval, wilson

ALPHA = 0.05
POWER = 0.8
SIMULATIONS = 1_000
MOST_TASKS = 5_000
MOST_REPEATS = 20
_FLIPS = 999
_MOST_FLIPS = 9_999
_TAIL = 5  # flips that a p of alpha must be able to count
_NEAREST = 0.005
_TIE = 1e-9
_EDGE = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """How often a true difference is found, or a margin is shown.

    Attributes:
        difference: the true one; first − second.
        margin: what is to be shown; None where the difference is to be found.
        value: share of simulated studies with p <= alpha, with Wilson's interval for the number of
            simulations.
    """

    design: PairedDesign
    difference: float
    margin: float | None = None
    alpha: float
    value: float
    interval: Interval
    simulations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """What a design must be to reach the wanted power.

    Attributes:
        value: the smallest difference or margin, number of tasks or of repeats; None where none
            within the search does, and `undefined` says so.
        power: of the design with that value, or of the best that was tried.
    """

    value: float | None
    power: Power | None
    undefined: str | None = None


def power(
    design: PairedDesign,
    difference: float,
    *,
    seed: int,
    alpha: float = ALPHA,
    simulations: int = SIMULATIONS,
) -> Power:
    """Return how often a study of this design finds a true difference of the rates.

    Each simulated study is tested by sign flips over templates (for single repeats of tasks without
    templates that is McNemar's exact test), as `paired_test` does; 999 flips, more where alpha is
    small, the same for all studies.

    Raises:
        ValueError: a rate or count of the design, or the rate of the first side, makes no sense.
    """
    import numpy as np

    check_design(design, difference, alpha, simulations)
    random = np.random.default_rng(seed)
    sums = np.concatenate(
        [
            np.add.reduceat((first - second) / design.repeats, design.begins, axis=1)
            for first, second in simulated(design, difference, random, simulations)
        ]
    )
    flips = min(_MOST_FLIPS, max(_FLIPS, math.ceil(_TAIL / alpha) - 1))
    signs = random.integers(0, 2, (flips, sums.shape[1]), dtype=np.int8) * 2.0 - 1
    seen = abs(sums.sum(axis=1)) - _TIE
    beyond = (abs(sums @ signs.T) >= seen[:, None]).sum(axis=1)
    found = int(((beyond + 1) / (flips + 1) <= alpha).sum())
    return power_of(design, found, simulations, difference=difference, alpha=alpha)


def detectable_difference(
    design: PairedDesign,
    *,
    seed: int,
    wanted: float = POWER,
    alpha: float = ALPHA,
    simulations: int = SIMULATIONS,
) -> Needed:
    """Return the smallest difference that the design finds with the wanted power, to 0.005.

    It is looked for on the side of the second rate where there is more room, and returned without
    its sign.
    """
    direction = 1 if design.rate <= 1 - design.rate else -1
    room = max(design.rate, 1 - design.rate) - _EDGE

    def at(size: float) -> Power:
        return power(design, direction * size, seed=seed, alpha=alpha, simulations=simulations)

    return least(at, wanted, room, "a difference of {room:.2f} is found")


def tasks_needed(
    design: PairedDesign,
    difference: float,
    *,
    seed: int,
    wanted: float = POWER,
    alpha: float = ALPHA,
    simulations: int = SIMULATIONS,
) -> Needed:
    """Return how many tasks find a difference with the wanted power, up to 5,000."""

    def at(tasks: int) -> Power:
        larger = replace(design, tasks=tasks)
        return power(larger, difference, seed=seed, alpha=alpha, simulations=simulations)

    return smallest(at, wanted, MOST_TASKS, "tasks find")


def repeats_needed(
    design: PairedDesign,
    difference: float,
    *,
    seed: int,
    wanted: float = POWER,
    alpha: float = ALPHA,
    simulations: int = SIMULATIONS,
) -> Needed:
    """Return how many repeats of these tasks find a difference with the wanted power, up to 20.

    Repeats make no task more: where tasks differ much from side to side, none are enough.
    """

    def at(repeats: int) -> Power:
        larger = replace(design, repeats=repeats)
        return power(larger, difference, seed=seed, alpha=alpha, simulations=simulations)

    return smallest(at, wanted, MOST_REPEATS, "repeats find")


def least(at: Callable[[float], Power], wanted: float, room: float, what: str) -> Needed:
    """Return the smallest size with the wanted power, to 0.005."""
    best = at(room)
    if best.value < wanted:
        said = what.format(room=room)
        because = f"even {said} with a power of {best.value:.2f} only"
        return Needed(value=None, power=best, undefined=because)
    low, high = 0.0, room
    while high - low > _NEAREST:
        middle = (low + high) / 2
        tried = at(middle)
        if tried.value >= wanted:
            high, best = middle, tried
        else:
            low = middle
    return Needed(value=high, power=best)


def smallest(at: Callable[[int], Power], wanted: float, most: int, what: str) -> Needed:
    """Return the smallest number up to `most` with the wanted power, to a fiftieth of it."""
    low, high = 0, 1
    tried = at(high)
    while tried.value < wanted:
        if high == most:
            because = f"even {most:,} {what} it with a power of {tried.value:.2f} only"
            return Needed(value=None, power=tried, undefined=because)
        low, high = high, min(2 * high, most)
        tried = at(high)
    best = tried
    # Numbers far apart tell more than the simulation can.
    while high - low > max(1, high // 50):
        middle = (low + high) // 2
        tried = at(middle)
        if tried.value >= wanted:
            high, best = middle, tried
        else:
            low = middle
    return Needed(value=high, power=best)


def power_of(
    design: PairedDesign,
    found: int,
    simulations: int,
    *,
    alpha: float,
    difference: float = 0.0,
    margin: float | None = None,
) -> Power:
    """Return the power of a design that found or showed it in so many simulated studies."""
    return Power(
        design=design,
        difference=difference,
        margin=margin,
        alpha=alpha,
        value=found / simulations,
        interval=wilson(found / simulations, simulations),
        simulations=simulations,
    )


def check_design(design: PairedDesign, difference: float, alpha: float, simulations: int) -> None:
    """Refuse what cannot be simulated.

    Raises:
        ValueError: a rate or count of the design, or the rate of the first side, makes no sense.
    """
    rates = (design.rate, design.rate + difference, alpha)
    counts = (design.tasks, design.repeats, design.cluster_size, simulations)
    if not (all(0 < one < 1 for one in rates) and min(counts) >= 1):
        message = f"no power of {design} with a difference of {difference} at alpha {alpha}"
        raise ValueError(message)
