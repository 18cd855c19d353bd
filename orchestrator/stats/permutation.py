"""The sign-flip permutation test of paired differences, whole clusters at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

PERMUTATIONS = 10_000
_CHUNK = 1_000


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


_TIE = 1e-9
