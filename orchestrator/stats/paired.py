"""Two agents, or two worlds, on the same tasks: how far apart, and could it be chance."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.stats.rates import CONFIDENCE, Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedComparison:
    """The paired comparison of two sides.

    Attributes:
        pairs: tasks that both sides have an outcome of; `clusters`: of how many clusters.
        left_out: tasks played by both of which one side has no outcome, so that they cannot count;
            `unpaired`: tasks that one side did not play.
        first, second: mean of the tasks' shares of successes over the pairs.
        effect: first − second, from -1 to 1.
        interval: of the effect, at `confidence`; `interval_method` names how it was made.
        bca: the clustered bootstrap's interval beside it; None where `bca_undefined` says why.
        p: two-sided, of no difference; `test` names the test.
        first_only, second_only: pairs won by one side only, where each was played once; else None.
        bounds: the effect with all unscored episodes failed or succeeded against, and for, the
            first side.
        undefined: why there is no effect or interval; None where there is.
    """

    pairs: int
    clusters: int
    left_out: int
    unpaired: int
    first: float | None
    second: float | None
    effect: float | None
    interval: Interval | None
    interval_method: str
    bca: Interval | None
    bca_undefined: str | None
    p: float | None
    test: str
    first_only: int | None
    second_only: int | None
    bounds: Interval | None
    undefined: str | None = None
    confidence: float = CONFIDENCE
