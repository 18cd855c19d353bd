"""Do two worlds say the same: chance-corrected agreement, rates per template, ranks of agents."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.stats.rates import CONFIDENCE, Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Kappa:
    """Cohen's kappa over episodes paired by task, repeats averaged inside it.

    Attributes:
        both, first_only, second_only, neither: tasks, in parts where repeats part.
        observed: share of agreement; `value`: kappa, None where undefined.
        adjusted: 2·observed - 1 (PABAK), which rates near 0 and 1 do not pull down.
    """

    tasks: int
    clusters: int
    left_out: int
    both: float
    first_only: float
    second_only: float
    neither: float
    observed: float | None
    value: float | None
    interval: Interval | None
    adjusted: float | None
    undefined: str | None = None
    confidence: float = CONFIDENCE


@dataclass(frozen=True, slots=True)
class RatePoint:
    """One cluster (a template): the mean of both sides' rates and first − second."""

    cluster: str
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

    points: tuple[RatePoint, ...]
    bias: float | None
    bias_interval: Interval | None
    lower: float | None
    lower_interval: Interval | None
    upper: float | None
    upper_interval: Interval | None
    undefined: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RankCorrelation:
    """Do two worlds order agents alike: Kendall's tau-b and Spearman's rho.

    `p` is exact over all orders of the agents, two-sided, of tau.
    """

    agents: tuple[str, ...]
    tau: float | None
    rho: float | None
    p: float | None
    undefined: str | None = None
