"""What the receipts of a run say together: which rungs, how long, how proven, what fell back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from evaluators.evidence import Proof, Receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetFigures:
    """The receipts of one site and rung.

    Attributes:
        share: of the median in the longest median of the run, 0 to 1: the length of its bar.
        proven: how many ended golden, by the whole fingerprint or by counters that did not move.
        by_counters: how many of `proven` by counters.
        swapped: how many replicas were handed over at once, the reset being done behind an episode.
        longest_wait_s: of an episode for the replica.
    """

    site: str
    strategy: str
    count: int
    median_s: float
    max_s: float
    share: float
    proven: int
    by_counters: int
    swapped: int
    longest_wait_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fallback:
    """A rung that was not enough, and how often it was so."""

    site: str
    reason: str
    count: int


def reset_figures(receipts: Iterable[Receipt]) -> tuple[ResetFigures, ...]:
    """Sum up receipts by site and rung."""
    grouped: dict[tuple[str, str], list[Receipt]] = {}
    for receipt in receipts:
        grouped.setdefault((receipt.site, receipt.strategy), []).append(receipt)
    medians = {key: median(one.seconds for one in found) for key, found in grouped.items()}
    longest = max(medians.values(), default=0.0)
    return tuple(
        ResetFigures(
            site=key[0],
            strategy=key[1],
            count=len(found),
            median_s=medians[key],
            max_s=max(one.seconds for one in found),
            share=medians[key] / longest if longest else 0.0,
            proven=sum(one.proven for one in found),
            by_counters=sum(one.proven and one.proof is Proof.COUNTERS for one in found),
            swapped=sum(one.swapped for one in found),
            longest_wait_s=max(one.waited for one in found),
        )
        for key, found in sorted(grouped.items())
    )


def fallbacks(receipts: Iterable[Receipt]) -> tuple[Fallback, ...]:
    """Count what was tried and not enough, the most frequent first."""
    counts = Counter((receipt.site, reason) for receipt in receipts for reason in receipt.fallbacks)
    return tuple(
        Fallback(site=site, reason=reason, count=count)
        for (site, reason), count in counts.most_common()
    )
