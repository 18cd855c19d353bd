"""Is a difference small enough not to matter: equivalence and non-inferiority with a margin."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from orchestrator.stats.rates import Interval


class Decision(StrEnum):
    """What the data say of a question. `undecided`: they fit both answers."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginTest:
    """Two one-sided tests (TOST), or one of them for non-inferiority.

    Attributes:
        margin: the registered one, as a share; the difference must lie within ±margin, or, for
            non-inferiority, above -margin.
        effect: first − second over the pairs.
        interval: at confidence 1 - 2·alpha, what the decision goes by.
        p: of the larger of the one-sided tests; None where undefined.
        decision: `yes` where the interval lies inside the margin, `no` where it lies outside of it.
    """

    margin: float
    alpha: float
    pairs: int
    clusters: int
    effect: float | None
    interval: Interval | None
    p: float | None
    decision: Decision
    method: str
    undefined: str | None = None
