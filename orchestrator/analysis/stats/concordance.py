"""Do two worlds say the same: chance-corrected agreement, rates per template, ranks of agents."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, permutations

from arena_core.names import counted
from orchestrator.analysis.stats.intervals import NO_PAIR
from orchestrator.analysis.stats.rates import (
    CONFIDENCE,
    NOTHING,
    ONE_CLUSTER,
    Interval,
    cluster_sums,
    effective_count,
    student_quantile,
    wilson_at,
)
from orchestrator.analysis.stats.results import TaskPair

FEWEST_POINTS = 3
_EXACT_AGENTS = 7
_TIE = 1e-9


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa, and the share of agreement.

    Attributes:
        undefined: why there is no kappa (`value`), or no interval of it.
    """

    observed: float | None
    value: float | None
    interval: Interval | None
    undefined: str | None = None

    @property
    def adjusted(self) -> float | None:
        """2·observed - 1 (PABAK), which rates near 0 and 1 do not pull down."""
        return None if self.observed is None else 2 * self.observed - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplatePoint:
    """One template in a Bland-Altman plot: the mean of both sides' rates, and first - second."""

    template: str
    tasks: int
    mean: float
    difference: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BlandAltman:
    """Bland and Altman's limits of agreement over the clusters' rates.

    Attributes:
        bias: mean difference first − second with its interval.
        lower, upper: bias ∓ 1.96 standard deviations: where 95 % of templates' differences lie,
            each with its interval.
    """

    points: tuple[TemplatePoint, ...]
    bias: float | None = None
    bias_interval: Interval | None = None
    lower: float | None = None
    lower_interval: Interval | None = None
    upper: float | None = None
    upper_interval: Interval | None = None
    undefined: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RankCorrelation:
    """Do two worlds order agents alike: Kendall's tau-b and Spearman's rho.

    Attributes:
        agents: those with a rate in both.
        is_same_order: whether every pair of agents has the same order, or the same rate, in both.
        p: of tau, two-sided: exact over all orders of up to 7 agents, scipy's for more.
    """

    agents: tuple[str, ...]
    tau: float | None = None
    rho: float | None = None
    p: float | None = None
    is_same_order: bool = False
    undefined: str | None = None


def kappa(pairs: Sequence[TaskPair], *, confidence: float = CONFIDENCE) -> Kappa:
    """Return Cohen's kappa (1960) of two sides, over pairs of one episode a side of one task.

    Its interval is Wilson's of the agreement, at the effective number of pairs that kappa's own
    variance (delta method, jackknife over clusters) comes from, carried over to kappa with the
    agreement by chance as it is.
    """
    known = [pair for pair in pairs if pair.difference is not None]
    if not known:
        return Kappa(None, None, None, NO_PAIR)
    cells = [_cells(pair) for pair in known]
    both, first_only, second_only, neither = (
        math.fsum(cell[place] for cell in cells) for place in range(4)
    )
    observed = min(1.0, (both + neither) / len(known))
    first, second = (both + first_only) / len(known), (both + second_only) / len(known)
    chance = first * second + (1 - first) * (1 - second)
    if 1 - chance <= NOTHING:
        same = "both sides gave one and the same outcome to every task"
        return Kappa(observed, None, None, same)
    value = (observed - chance) / (1 - chance)
    if len({pair.cluster for pair in known}) == 1:
        return Kappa(observed, value, None, ONE_CLUSTER)
    return Kappa(observed, value, _kappa_interval(known, (first, second), observed, confidence))


def bland_altman(pairs: Sequence[TaskPair], *, confidence: float = CONFIDENCE) -> BlandAltman:
    """Return the limits of agreement of two sides' rates per cluster, each counting once.

    Bland and Altman 1986 (Lancet 327:307) and 1999 (Stat. Methods Med. Res. 8:135), whose
    standard error of a limit is s·√(1/n + 1.96²/(2(n-1))).
    """
    points = _points(pairs)
    count = len(points)
    if count < FEWEST_POINTS:
        few = counted(count, "template has", "templates have")
        return BlandAltman(points=points, undefined=f"only {few} both sides")
    bias = math.fsum(point.difference for point in points) / count
    squares = math.fsum((point.difference - bias) ** 2 for point in points)
    spread = math.sqrt(squares / (count - 1))
    if spread <= _TIE:
        same = "all templates differ by the same amount, so there is no spread"
        return BlandAltman(points=points, bias=bias, undefined=same)
    width = student_quantile(CONFIDENCE, math.inf)
    quantile = student_quantile(confidence, count - 1)
    around_bias = quantile * spread / math.sqrt(count)
    around_limit = quantile * spread * math.sqrt(1 / count + width**2 / (2 * (count - 1)))
    lower, upper = bias - width * spread, bias + width * spread
    return BlandAltman(
        points=points,
        bias=bias,
        bias_interval=Interval(bias - around_bias, bias + around_bias),
        lower=lower,
        lower_interval=Interval(lower - around_limit, lower + around_limit),
        upper=upper,
        upper_interval=Interval(upper - around_limit, upper + around_limit),
    )


def rank_correlation(
    first: Mapping[str, float | None], second: Mapping[str, float | None]
) -> RankCorrelation:
    """Return how alike two worlds order the agents that have a rate in both."""
    agents = tuple(
        agent for agent, rate in first.items() if rate is not None and second.get(agent) is not None
    )
    ours, theirs = (_ranks([rates[agent] or 0.0 for agent in agents]) for rates in (first, second))
    undefined = None
    if len(agents) < FEWEST_POINTS:
        undefined = f"only {counted(len(agents), 'agent has', 'agents have')} a rate in both"
    elif len(set(ours)) == 1 or len(set(theirs)) == 1:
        undefined = "all agents have the same rate in one of them"
    if undefined is not None:
        return RankCorrelation(agents=agents, undefined=undefined)
    from scipy import stats

    is_few = len(agents) <= _EXACT_AGENTS
    p = _exact_p(ours, theirs) if is_few else float(stats.kendalltau(ours, theirs).pvalue)
    return RankCorrelation(
        agents=agents,
        tau=_tau_b(ours, theirs),
        rho=float(stats.spearmanr(ours, theirs).statistic),
        p=p,
        is_same_order=_orders(ours) == _orders(theirs),
    )


def _cells(pair: TaskPair) -> tuple[float, float, float, float]:
    """Return the shares of pairs of one episode a side: both, first only, second only, neither."""
    first, second = (side.share or 0.0 for side in pair.sides)
    lost, missed = 1 - first, 1 - second
    return first * second, first * missed, lost * second, lost * missed


def _kappa_interval(
    pairs: Sequence[TaskPair], rates: tuple[float, float], observed: float, confidence: float
) -> Interval:
    first, second = rates
    chance = first * second + (1 - first) * (1 - second)
    value = (observed - chance) / (1 - chance)
    pulls = []
    for pair in pairs:
        both, first_only, second_only, neither = _cells(pair)
        agreed = both + neither - observed
        # How agreement by chance moves with the rates of either side.
        moved = (both + first_only - first) * (2 * second - 1)
        moved += (both + second_only - second) * (2 * first - 1)
        pulls.append((pair.cluster, agreed - (1 - value) * moved))
    sums = cluster_sums(pulls)
    # Without this bound on the count few tasks at low rates are covered in 82 % only.
    episodes = math.fsum(min(len(side.scored) for side in pair.sides) for pair in pairs)
    count = effective_count(observed * (1 - observed), sums, episodes)
    agreement = wilson_at(observed, count, student_quantile(confidence, sums.freedom))
    low, high = ((end - chance) / (1 - chance) for end in (agreement.low, agreement.high))
    return Interval(max(-1.0, low), min(1.0, high))


def _points(pairs: Sequence[TaskPair]) -> tuple[TemplatePoint, ...]:
    clusters: dict[str, list[tuple[float, float]]] = {}
    for pair in pairs:
        first, second = (side.share for side in pair.sides)
        if first is not None and second is not None:
            clusters.setdefault(pair.cluster, []).append((first, second))
    return tuple(
        TemplatePoint(
            template=cluster,
            tasks=len(shares),
            mean=math.fsum(first + second for first, second in shares) / (2 * len(shares)),
            difference=math.fsum(first - second for first, second in shares) / len(shares),
        )
        for cluster, shares in clusters.items()
    )


def _ranks(rates: Sequence[float]) -> list[int]:
    """Return each rate's rank; rates that differ only by rounding are tied."""
    order = sorted(range(len(rates)), key=rates.__getitem__)
    ranks = [0] * len(rates)
    for before, place in pairwise(order):
        ranks[place] = ranks[before] + (rates[place] - rates[before] > _TIE)
    return ranks


def _tau_b(first: Sequence[int], second: Sequence[int]) -> float:
    """Return Kendall's tau-b (1945); neither side may be all tied."""
    ours, theirs = _orders(first), _orders(second)
    untied = sum(map(abs, ours)) * sum(map(abs, theirs))
    return _concordance(ours, theirs) / math.sqrt(untied)


def _exact_p(first: Sequence[int], second: Sequence[int]) -> float:
    """Return the share of all orders of one side that agree or part at least as much."""
    ours = _orders(first)
    seen = abs(_concordance(ours, _orders(second)))
    orders = [abs(_concordance(ours, _orders(order))) for order in permutations(second)]
    return sum(one >= seen for one in orders) / len(orders)


def _orders(ranks: Sequence[int]) -> list[int]:
    """Return the order of every pair: 1, -1, or 0 where they are tied."""
    return [(a > b) - (a < b) for a, b in combinations(ranks, 2)]


def _concordance(first: Sequence[int], second: Sequence[int]) -> int:
    return sum(one * other for one, other in zip(first, second, strict=True))
