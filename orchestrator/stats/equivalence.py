"""Is a difference small enough not to matter: equivalence and non-inferiority with a margin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from orchestrator.stats.rates import Interval
from orchestrator.stats.results import TaskPair
from orchestrator.stats.score_interval import ScorePairs, score_pairs

ALPHA = 0.05


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


def equivalence(pairs: Sequence[TaskPair], margin: float, *, alpha: float = ALPHA) -> MarginTest:
    """Test whether two sides differ by less than the margin, either way.

    Two one-sided tests (Schuirmann 1987), each by Tango's score statistic at the margin, which
    stays valid for binary outcomes and where no pair differs at all (Nam 1997; Liu et al. 2002).
    Clusters and repeats count by the effective number of pairs.

    Raises:
        ValueError: margin or alpha is not inside (0, 1) and (0, 0.5).
    """
    return _tested(pairs, margin, alpha, is_two_sided=True)


def non_inferiority(
    pairs: Sequence[TaskPair], margin: float, *, alpha: float = ALPHA
) -> MarginTest:
    """Test whether the first side is worse than the second by less than the margin.

    Raises:
        ValueError: as `equivalence`.
    """
    return _tested(pairs, margin, alpha, is_two_sided=False)


def margin_p(score: ScorePairs, margin: float, *, is_two_sided: bool) -> float:
    """Return the p of a margin: of the larger of both one-sided tests, or of the lower alone."""
    p = score.tail(-margin)
    return max(p, _mirrored(score).tail(-margin)) if is_two_sided else p


def _tested(
    pairs: Sequence[TaskPair], margin: float, alpha: float, *, is_two_sided: bool
) -> MarginTest:
    if not (0 < margin < 1 and 0 < alpha < 0.5):  # noqa: PLR2004
        message = f"no test with margin {margin} and alpha {alpha}"
        raise ValueError(message)
    score = score_pairs(pairs)
    known = [pair for pair in pairs if pair.difference is not None]
    interval = p = effect = undefined = None
    decision = Decision.UNDECIDED
    if isinstance(score, ScorePairs):
        interval, effect = score.interval(1 - 2 * alpha), score.effect
        p = margin_p(score, margin, is_two_sided=is_two_sided)
        decision = _decision(interval, margin, is_passed=p <= alpha, is_two_sided=is_two_sided)
    else:
        undefined = score
    return MarginTest(
        margin=margin,
        alpha=alpha,
        pairs=len(known),
        clusters=len({pair.cluster for pair in known}),
        effect=effect,
        interval=interval,
        p=p,
        decision=decision,
        method=f"{'two one-sided score tests' if is_two_sided else 'one-sided score test'} (Tango)",
        undefined=undefined,
    )


def _decision(
    interval: Interval, margin: float, *, is_passed: bool, is_two_sided: bool
) -> Decision:
    if is_passed:
        return Decision.YES
    if interval.high < -margin or (is_two_sided and interval.low > margin):
        return Decision.NO
    return Decision.UNDECIDED


def _mirrored(score: ScorePairs) -> ScorePairs:
    return ScorePairs(-score.effect, score.discordance, score.count, score.freedom)
