"""Several questions and several looks: Holm's correction, and alpha spent over interim looks.

Lan and DeMets 1983 (Biometrika 70:659): a function says how much of alpha is spent by when, so the
number of looks and their times need not be known beforehand. The levels come from the joint
distribution of the looks by numerical integration (Armitage, McPherson and Rowe 1969): the
statistic moves as a Brownian motion in the share of information. Where information comes faster
than the fraction says, as where repeats follow each other, looks are more alike and the levels are
stricter than need be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

LEAST_STEP: Final = 0.01  # looks closer together add nothing and cannot be separated
_NODES: Final = 240
_REACH: Final = 8.5  # standard deviations, beyond which a normal has nothing
_HALVINGS: Final = 40


class Spending(StrEnum):
    """How alpha is spent: O'Brien and Fleming's kind hardly any early, Pocock's nearly evenly."""

    OBRIEN_FLEMING = "obrien_fleming"
    POCOCK = "pocock"


def spent(spending: Spending, alpha: float, fraction: float) -> float:
    """Return how much of a one-sided alpha may be spent by a fraction of the information."""
    from scipy import special

    if not (0 < alpha < 1 and 0 < fraction <= 1):
        raise ValueError(f"cannot spend alpha {alpha} at the fraction {fraction}")
    match spending:
        case Spending.OBRIEN_FLEMING:
            return 2 * float(special.ndtr(special.ndtri(alpha / 2) / math.sqrt(fraction)))
        case Spending.POCOCK:
            return alpha * math.log(1 + (math.e - 1) * fraction)


@lru_cache(maxsize=1024)
def nominal_level(spending: Spending, alpha: float, fractions: tuple[float, ...]) -> float:
    """Return what a one-sided p of the last look is held to.

    Args:
        alpha: over all looks.
        fractions: of the information at each look so far, this one last, growing by at least
            `LEAST_STEP`, up to 1.
    """
    import numpy as np
    from scipy import special

    steps = [after - before for before, after in pairwise((0.0, *fractions))]
    if not steps or min(steps) < LEAST_STEP / 2:
        raise ValueError(f"looks need growing fractions, not {fractions}")
    level = alpha
    places, masses = np.zeros(1), np.ones(1)  # where the statistic may be, not stopped so far
    last, gone = 0.0, 0.0
    for fraction in fractions:
        now = spent(spending, alpha, fraction)
        step, scale = max(now - gone, 0.0), math.sqrt(fraction - last)
        bound = _bound(places, masses, scale, step, _REACH * math.sqrt(fraction))
        level = float(special.ndtr(-bound / math.sqrt(fraction)))
        nodes, weights = _quadrature()
        low = -_REACH * math.sqrt(fraction)
        half = (bound - low) / 2
        moved = low + half * (nodes + 1)
        density = np.exp(-(((moved[:, None] - places) / scale) ** 2) / 2) @ masses
        places, masses = moved, half * weights * density / (scale * math.sqrt(2 * math.pi))
        last, gone = fraction, now
    return level


def overall_p(
    p: float, spending: Spending, fractions: tuple[float, ...], *, is_two_sided: bool
) -> float:
    """Return the p of the last look with all looks counted: the least alpha that it rejects at.

    Liu and Anderson 2008 (JASA 103:1621), of the last look alone.
    """
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        is_rejected = p <= level_of(spending, middle, fractions, is_two_sided=is_two_sided)
        low, high = (low, middle) if is_rejected else (middle, high)
    return high


def level_of(
    spending: Spending, alpha: float, fractions: tuple[float, ...], *, is_two_sided: bool
) -> float:
    """Return what a p of the last look is held to, one- or two-sided; alpha is halved for both."""
    if is_two_sided:
        return 2 * nominal_level(spending, alpha / 2, fractions)
    return nominal_level(spending, alpha, fractions)


@lru_cache(maxsize=1)
def _quadrature() -> tuple[Numbers, Numbers]:
    import numpy as np

    return np.polynomial.legendre.leggauss(_NODES)


def _bound(places: Numbers, masses: Numbers, scale: float, wanted: float, most: float) -> float:
    """Return where so much lies above, after one step more; `most` where there is next to none."""
    from scipy import optimize, special

    def off(bound: float) -> float:
        return float(masses @ special.ndtr((places - bound) / scale)) - wanted

    if off(most) >= 0:
        return most
    return float(optimize.brentq(off, -most, most, xtol=1e-10)) if off(-most) > 0 else -most


def holm(values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Return p-values adjusted by Holm's step-down procedure (1979), in the given order.

    A question without a p-value stays None. It still counts in the family that was registered: to
    leave it out would make the others easier to pass for what could not be answered.
    """
    if not all(value is None or 0 <= value <= 1 for value in values):
        raise ValueError(f"not all are p-values: {list(values)}")
    known = sorted((value, place) for place, value in enumerate(values) if value is not None)
    adjusted: list[float | None] = [None] * len(values)
    largest = 0.0
    for rank, (value, place) in enumerate(known):
        largest = max(largest, min(1.0, value * (len(values) - rank)))
        adjusted[place] = largest
    return tuple(adjusted)
