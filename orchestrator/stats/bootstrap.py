"""The bias-corrected and accelerated bootstrap over clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.stats.rates import CONFIDENCE, Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

RESAMPLES = 10_000
FEWEST_CLUSTERS = 5
_CHUNK = 1_000


@dataclass(frozen=True, slots=True)
class Bootstrapped:
    """An interval, or why there is none."""

    interval: Interval | None
    undefined: str | None = None


def bca_of_ratio(
    parts: Sequence[float],
    wholes: Sequence[float],
    *,
    seed: int,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    is_expanded: bool = True,
) -> Bootstrapped:
    """Return the BCa interval of Σ parts ÷ Σ wholes, clusters drawn with replacement.

    Efron 1987 (JASA 82:171), acceleration by the jackknife over clusters; ties with the estimate
    count half. Expanded: the normal quantile is replaced by √(K/(K-1)) times Student's with K-1
    degrees of freedom, since a bootstrap of K clusters is too narrow by that (Hesterberg 2015,
    Am. Stat. 69:371, section 3.1). The same seed gives the same interval.

    Args:
        parts: a number per cluster, as the sum of its tasks' differences.
        wholes: what it is a part of, at least 0: the number of its tasks.
        seed: of the draws.
        confidence: inside (0, 1).
        resamples: how many draws.
        is_expanded: False for Efron's own quantiles.
    """
    import numpy as np

    tops, bottoms = np.asarray(parts, dtype=np.float64), np.asarray(wholes, dtype=np.float64)
    if len(tops) < FEWEST_CLUSTERS:
        return Bootstrapped(
            None, f"a bootstrap of fewer than {FEWEST_CLUSTERS} clusters says little"
        )
    without = bottoms.sum() - bottoms
    if not (without > 0).all():
        return Bootstrapped(None, "all that is divided by lies in one cluster")
    estimate = float(tops.sum() / bottoms.sum())
    left_out = (tops.sum() - tops) / without
    pull = left_out.mean() - left_out
    squares = float(pull @ pull)
    if squares <= _NOTHING * max(1.0, estimate**2):
        return Bootstrapped(None, "all clusters say the same, so that every resample does")
    acceleration = float((pull**3).sum()) / (6 * squares**1.5)
    drawn = _draws(tops, bottoms, seed, resamples)
    if not np.isfinite(drawn).all():
        return Bootstrapped(None, "a resample may have nothing to divide by")
    levels = _levels(drawn, estimate, acceleration, confidence, len(tops) if is_expanded else None)
    low, high = np.quantile(drawn, levels)
    return Bootstrapped(Interval(float(low), float(high)))


def _draws(tops: Numbers, bottoms: Numbers, seed: int, resamples: int) -> Numbers:
    """Return the estimate of each resample, infinite or none where its denominator is 0."""
    import numpy as np

    random = np.random.default_rng(seed)
    drawn = np.empty(resamples)
    for start in range(0, resamples, _CHUNK):
        size = min(_CHUNK, resamples - start)
        chosen = random.integers(0, len(tops), (size, len(tops)), dtype=np.int32)
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn[start : start + size] = tops[chosen].sum(axis=1) / bottoms[chosen].sum(axis=1)
    return drawn


def _levels(
    drawn: Numbers, estimate: float, acceleration: float, confidence: float, clusters: int | None
) -> tuple[float, float]:
    """Return which quantiles of the draws are the interval's ends."""
    from scipy import special

    tie = 1e-12 * max(1.0, abs(estimate))
    below = float((drawn < estimate - tie).sum() + (drawn <= estimate + tie).sum()) / 2
    # An estimate beyond all draws has no finite place among them.
    share = min(max(below, 0.5), len(drawn) - 0.5) / len(drawn)
    bias = float(special.ndtri(share))
    tail = (1 + confidence) / 2
    quantile = float(special.ndtri(tail))
    if clusters is not None:
        wider = (clusters / (clusters - 1)) ** 0.5
        quantile = wider * float(special.stdtrit(clusters - 1, tail))
    ends = []
    for side in (-quantile, quantile):
        shifted = bias + side
        scale = 1 - acceleration * shifted
        place = bias + shifted / scale if scale > 0 else shifted * float("inf")
        ends.append(float(special.ndtr(place)))
    return ends[0], ends[1]


_NOTHING = 1e-20
