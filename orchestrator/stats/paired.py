"""Two agents, or two worlds, on the same tasks: how far apart, and could it be chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.stats.agreement import mcnemar_exact
from orchestrator.stats.bootstrap import RESAMPLES, Bootstrapped, bca_of_ratio
from orchestrator.stats.permutation import PERMUTATIONS, sign_flip
from orchestrator.stats.rates import CONFIDENCE, Interval
from orchestrator.stats.results import TaskPair
from orchestrator.stats.score_interval import NO_PAIR, are_apart, are_single, score_pairs
from orchestrator.stats.unscored import difference_bounds

TANGO = "Tango's score interval"
CLUSTERED_TANGO = "Tango's score interval at the effective number of pairs"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedTest:
    """A test of no difference between two sides.

    Attributes:
        p: two-sided; None where there is no pair.
        test: its name.
        first_only, second_only: pairs won by one side only, where each was played once; else None.
        mcnemar: McNemar's exact p where each side of each pair has one outcome, whatever clusters
            there are; None otherwise.
        smallest: the smallest p that so few clusters that differ allow; None as `p`.
    """

    p: float | None
    test: str
    first_only: int | None
    second_only: int | None
    mcnemar: float | None
    smallest: float | None


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
        first_only, second_only, mcnemar, smallest: as in `PairedTest`.
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
    mcnemar: float | None = None
    smallest: float | None = None
    undefined: str | None = None
    confidence: float = CONFIDENCE


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
    bca = _bca(known, seed, confidence, resamples)
    shares = [_mean([pair.sides[side].share or 0.0 for pair in known]) for side in (0, 1)]
    first, second = shares
    played = [pair for pair in pairs if pair.first and pair.second]
    return PairedComparison(
        pairs=len(known),
        clusters=len({pair.cluster for pair in known}),
        left_out=len(played) - len(known),
        unpaired=len(pairs) - len(played),
        first=first,
        second=second,
        effect=_mean([pair.difference or 0.0 for pair in known]),
        interval=None if isinstance(score, str) else score.interval(confidence),
        interval_method=TANGO if is_plain else CLUSTERED_TANGO,
        bca=bca.interval,
        bca_undefined=bca.undefined,
        p=test.p,
        test=test.test,
        first_only=test.first_only,
        second_only=test.second_only,
        bounds=difference_bounds(pairs),
        mcnemar=test.mcnemar,
        smallest=test.smallest,
        undefined=score if isinstance(score, str) else None,
        confidence=confidence,
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
        return PairedTest(
            p=None, test="none", first_only=None, second_only=None, mcnemar=None, smallest=None
        )
    flips = sign_flip(list(cluster_differences(known)[0]), seed=seed, permutations=permutations)
    first_only = second_only = mcnemar = None
    if are_single(known):
        first_only = sum((pair.difference or 0.0) > 0 for pair in known)
        second_only = sum((pair.difference or 0.0) < 0 for pair in known)
        mcnemar = mcnemar_exact(first_only, second_only)
    is_plain = mcnemar is not None and are_apart(known)
    how = "exact" if flips.is_exact else f"{flips.flips:,} permutations"
    return PairedTest(
        p=mcnemar if is_plain else flips.p,
        test="McNemar's exact test" if is_plain else f"sign-flip test over clusters, {how}",
        first_only=first_only,
        second_only=second_only,
        mcnemar=mcnemar,
        smallest=flips.smallest,
    )


def cluster_differences(pairs: Sequence[TaskPair]) -> tuple[list[float], list[float]]:
    """Return, per cluster, the sum of its tasks' differences and how many tasks there are."""
    clusters: dict[str, list[float]] = {}
    for pair in pairs:
        if (difference := pair.difference) is not None:
            clusters.setdefault(pair.cluster, []).append(difference)
    return [math.fsum(one) for one in clusters.values()], [float(len(o)) for o in clusters.values()]


def _known(pairs: Sequence[TaskPair]) -> list[TaskPair]:
    return [pair for pair in pairs if pair.difference is not None]


def _bca(pairs: Sequence[TaskPair], seed: int, confidence: float, resamples: int) -> Bootstrapped:
    if not pairs:
        return Bootstrapped(None, NO_PAIR)
    sums, counts = cluster_differences(pairs)
    return bca_of_ratio(sums, counts, seed=seed, confidence=confidence, resamples=resamples)


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
