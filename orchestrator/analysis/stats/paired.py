"""Two sides on the same tasks: how far apart, whether by chance, and within which margin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product

from orchestrator.analysis.stats.agreement import mcnemar_exact
from orchestrator.analysis.stats.intervals import (
    RESAMPLES,
    ScorePairs,
    are_apart,
    are_single,
    bca_of_ratio,
    score_pairs,
)
from orchestrator.analysis.stats.rates import CONFIDENCE, NOTHING, Interval
from orchestrator.analysis.stats.results import TaskPair
from orchestrator.analysis.stats.unscored import difference_bounds

PERMUTATIONS = 10_000
_CHUNK = 1_000
_TIE = 1e-9
TANGO = "Tango's score interval"
CLUSTERED_TANGO = "Tango's score interval at the effective number of pairs"
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class SignFlip:
    """Its result.

    Attributes:
        p: two-sided: (b + 1) / (m + 1), with b of m flips at least as far from 0 as what was seen.
        flips: m; `is_exact`: whether these are all other flips that there are.
        smallest: the smallest p that so many differing clusters allow.
    """

    p: float
    flips: int
    is_exact: bool
    smallest: float


def sign_flip(sums: Sequence[float], *, seed: int, permutations: int = PERMUTATIONS) -> SignFlip:
    """Return the p of no difference, from the sum of differences of each cluster.

    Where neither side were better, a cluster's difference were as likely of the other sign (Fisher
    1935; Good 2005). All flips are counted where there are no more than `permutations` of them,
    which for single pairs of binary outcomes is McNemar's exact test. Clusters without a
    difference stay as they are.
    """
    import numpy as np

    differing = np.asarray([one for one in sums if abs(one) > _TIE])
    # Whatever rounding makes of equal sums, they are as far from 0.
    seen = abs(float(differing.sum())) - _TIE
    ways = 2 ** len(differing)
    smallest = min(1.0, 2 / ways)
    if ways <= permutations + 1:
        signs = np.array(list(product((1, -1), repeat=len(differing))), dtype=np.float64)
        beyond = int((abs(signs @ differing) >= seen).sum()) if len(differing) else 1
        return SignFlip(beyond / ways, ways - 1, is_exact=True, smallest=smallest)
    random = np.random.default_rng(seed)
    beyond = 0
    for start in range(0, permutations, _CHUNK):
        size = (min(_CHUNK, permutations - start), len(differing))
        signs = (random.integers(0, 2, size, dtype=np.int8) * 2 - 1).astype(np.float64)
        beyond += int((abs(signs @ differing) >= seen).sum())
    p = (beyond + 1) / (permutations + 1)
    smallest = max(smallest, 1 / (permutations + 1))
    return SignFlip(p, permutations, is_exact=False, smallest=smallest)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedTest:
    """A test of no difference between two sides.

    Attributes:
        p: two-sided; None where there is no pair.
        test: its name.
        smallest: the smallest p that so few clusters that differ allow; None as `p`.
    """

    p: float | None
    test: str
    smallest: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedComparison:
    """The paired comparison of two sides.

    Attributes:
        pairs: tasks that both sides have an outcome of; `clusters`: of how many clusters.
        first, second: mean of the tasks' shares of successes over the pairs.
        effect: first − second, from -1 to 1.
        interval: of the effect, at `confidence`; `interval_method` names how it was made.
        bca: the clustered bootstrap's interval beside it; None where `bca_of_ratio` has none.
        p: two-sided, of no difference; `test` names the test; `smallest`: as in `PairedTest`.
        bounds: the effect with all unscored episodes failed or succeeded against, and for, the
            first side.
        undefined: why there is no effect or interval; None where there is.
    """

    pairs: int
    clusters: int
    first: float | None
    second: float | None
    effect: float | None
    interval: Interval | None
    interval_method: str
    bca: Interval | None
    p: float | None
    test: str
    smallest: float | None
    bounds: Interval | None
    undefined: str | None = None


def compare_pairs(
    pairs: Sequence[TaskPair],
    *,
    seed: int,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    permutations: int = PERMUTATIONS,
) -> PairedComparison:
    """Compare two sides over the tasks that both have an outcome of.

    The interval is that of `score_pairs`, which keeps its coverage where few clusters differ; the
    BCa bootstrap stands beside it. See `paired_test` for the p.
    """
    known = _known(pairs)
    score = score_pairs(known)
    is_plain = are_single(known) and are_apart(known)
    test = paired_test(known, seed=seed, permutations=permutations)
    sums, counts = cluster_differences(known)
    bca = bca_of_ratio(sums, counts, seed=seed, confidence=confidence, resamples=resamples)
    first, second = (_mean([pair.sides[side].share or 0.0 for pair in known]) for side in (0, 1))
    return PairedComparison(
        pairs=len(known),
        clusters=len({pair.cluster for pair in known}),
        first=first,
        second=second,
        effect=_effect(known),
        interval=None if isinstance(score, str) else score.interval(confidence),
        interval_method=TANGO if is_plain else CLUSTERED_TANGO,
        bca=bca.interval,
        p=test.p,
        test=test.test,
        smallest=test.smallest,
        bounds=difference_bounds(pairs),
        undefined=score if isinstance(score, str) else None,
    )


def paired_test(
    pairs: Sequence[TaskPair], *, seed: int, permutations: int = PERMUTATIONS
) -> PairedTest:
    """Test that two sides do not differ, over the tasks that both have an outcome of.

    McNemar's exact test where each pair is a cluster of its own and each side was scored once;
    otherwise the sign-flip permutation test over clusters, whose p is (b + 1) / (m + 1).
    """
    known = _known(pairs)
    if not known:
        return PairedTest(p=None, test="none", smallest=None)
    flips = sign_flip(list(cluster_differences(known)[0]), seed=seed, permutations=permutations)
    if are_single(known) and are_apart(known):
        first_only = sum((pair.difference or 0.0) > 0 for pair in known)
        second_only = sum((pair.difference or 0.0) < 0 for pair in known)
        p, test = mcnemar_exact(first_only, second_only), "McNemar's exact test"
    else:
        how = "exact" if flips.is_exact else f"{flips.flips:,} permutations"
        p, test = flips.p, f"sign-flip test over clusters, {how}"
    return PairedTest(p=p, test=test, smallest=flips.smallest)


def cluster_differences(pairs: Sequence[TaskPair]) -> tuple[list[float], list[float]]:
    """Return, per cluster, the sum of its tasks' differences and how many tasks there are."""
    clusters: dict[str, list[float]] = {}
    for pair in pairs:
        if (difference := pair.difference) is not None:
            clusters.setdefault(pair.cluster, []).append(difference)
    return [math.fsum(one) for one in clusters.values()], [float(len(o)) for o in clusters.values()]


def _known(pairs: Sequence[TaskPair]) -> list[TaskPair]:
    return [pair for pair in pairs if pair.difference is not None]


def _effect(pairs: Sequence[TaskPair]) -> float | None:
    """Return the mean difference; a rounding residue counts as 0."""
    mean = _mean([pair.difference or 0.0 for pair in pairs])
    return 0.0 if mean is not None and abs(mean) <= NOTHING else mean


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


class Decision(StrEnum):
    """What the data say of a question. `undecided`: they fit both answers."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginTest:
    """Two one-sided tests (TOST), or one of them for non-inferiority.

    Attributes:
        interval: at confidence 1 - 2·alpha, what the decision goes by.
        p: of the larger of the one-sided tests; None where `undefined` says why.
        p_against: of the opposite, that the difference lies beyond the margin; None as `p`.
        decision: `yes` where the interval lies inside the margin, `no` where it lies outside of it.
    """

    method: str
    interval: Interval | None = None
    p: float | None = None
    p_against: float | None = None
    decision: Decision = Decision.UNDECIDED
    undefined: str | None = None


def equivalence(pairs: Sequence[TaskPair], margin: float, *, alpha: float = ALPHA) -> MarginTest:
    """Test whether two sides differ by less than the margin, a share, either way.

    Two one-sided tests (Schuirmann 1987), each by Tango's score statistic at the margin, which
    stays valid for binary outcomes and where no pair differs at all (Nam 1997; Liu et al. 2002).
    Clusters and repeats count by the effective number of pairs.
    """
    return _tested(pairs, margin, alpha, is_two_sided=True)


def non_inferiority(
    pairs: Sequence[TaskPair], margin: float, *, alpha: float = ALPHA
) -> MarginTest:
    """Test whether the first side is worse than the second by less than the margin."""
    return _tested(pairs, margin, alpha, is_two_sided=False)


def margin_p(score: ScorePairs, margin: float, *, is_two_sided: bool) -> float:
    """Return the p of a margin: of the larger of both one-sided tests, or of the lower alone."""
    p = score.tail(-margin)
    return max(p, _mirrored(score).tail(-margin)) if is_two_sided else p


def against_p(score: ScorePairs, margin: float, *, is_two_sided: bool) -> float:
    """Return the p of lying beyond a margin: at either end of it, or at the lower alone."""
    p = _mirrored(score).tail(margin)
    return min(p, score.tail(margin)) if is_two_sided else p


def _tested(
    pairs: Sequence[TaskPair], margin: float, alpha: float, *, is_two_sided: bool
) -> MarginTest:
    if not (0 < margin < 1 and 0 < alpha < 0.5):  # noqa: PLR2004
        raise ValueError(f"cannot test a margin of {margin} at alpha {alpha}")
    score = score_pairs(pairs)
    method = f"{'two one-sided score tests' if is_two_sided else 'one-sided score test'} (Tango)"
    if isinstance(score, str):
        return MarginTest(method=method, undefined=score)
    interval = score.interval(1 - 2 * alpha)
    p = margin_p(score, margin, is_two_sided=is_two_sided)
    return MarginTest(
        method=method,
        interval=interval,
        p=p,
        p_against=against_p(score, margin, is_two_sided=is_two_sided),
        decision=_decision(interval, margin, is_passed=p <= alpha, is_two_sided=is_two_sided),
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
