"""Two sides on the same tasks: what a study is like, by a pilot, and simulated studies of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from orchestrator.analysis.stats.rates import cluster_sums
from orchestrator.analysis.stats.results import TaskOutcomes, success_rate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Wins = NDArray[np.int64]

_CHUNK = 100
_NODES = 41
_WIDEST = 6.0
_TIE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDesign:
    """Two sides on the same tasks.

    Attributes:
        tasks, repeats: how many of each side; `cluster_size`: tasks a template, on average.
        rate: success of the second side, over all tasks.
        task_spread, cluster_spread: standard deviations of the tasks' and the templates' ease on
            the logit scale, which both sides share; 0 makes all alike.
        side_spread: of what makes a template, and a task, easier for one side alone.
    """

    tasks: int
    repeats: int
    rate: float
    cluster_size: float = 1.0
    task_spread: float = 1.5
    cluster_spread: float = 0.5
    side_spread: float = 0.5

    @property
    def begins(self) -> NDArray[np.int64]:
        """Where each template's tasks begin; sizes differ by one at most."""
        import numpy as np

        clusters = min(self.tasks, max(1, round(self.tasks / self.cluster_size)))
        of_task = np.sort(np.arange(self.tasks) % clusters)
        return np.searchsorted(of_task, np.arange(clusters))


def design_from(
    tasks: Sequence[TaskOutcomes], *, repeats: int, task_count: int | None = None
) -> PairedDesign:
    """Return a design like a pilot or an earlier run of one agent.

    How far tasks and templates are apart is estimated where tasks were repeated and templates have
    several tasks; else the usual values stand. What differs from side to side, one agent cannot
    tell.
    """
    rate = success_rate(tasks)
    if rate is None:
        raise ValueError("a run without a scored episode gives no design")
    known = [(task, share) for task in tasks if (share := task.share) is not None]
    size = len(known) / len({task.cluster for task, _ in known})
    # At 0 and 1 half an episode keeps the rate off the edge.
    edge = 0.5 / sum(len(task.scored) for task, _ in known)
    design = PairedDesign(
        tasks=task_count or len(known),
        repeats=repeats,
        rate=min(max(rate, edge), 1 - edge),
        cluster_size=size,
    )
    return _spread_as(design, [task for task, _ in known])


def simulated(
    design: PairedDesign, difference: float, random: np.random.Generator, simulations: int
) -> Iterator[tuple[Wins, Wins]]:
    """Yield studies in which the first side's rate is the second's + `difference`.

    Each study draws templates and tasks of logistic-normal ease and plays both sides. Arrays are of
    (studies, tasks): how many repeats succeeded; the tasks of a template stand side by side, as
    `design.begins` says.
    """
    import numpy as np

    begins = design.begins
    of_task = np.searchsorted(begins, np.arange(design.tasks), side="right") - 1
    own = design.side_spread
    spread = math.sqrt(design.task_spread**2 + design.cluster_spread**2 + 2 * own**2)
    starts = [_intercept(rate, spread) for rate in (design.rate + difference, design.rate)]
    for begin in range(0, simulations, _CHUNK):
        studies = min(_CHUNK, simulations - begin)

        def drawn(of_cluster: float, of_one: float, studies: int = studies) -> Numbers:
            shared = of_cluster * random.standard_normal((studies, len(begins)))[:, of_task]
            return shared + of_one * random.standard_normal((studies, design.tasks))

        ease = drawn(design.cluster_spread, design.task_spread)
        first, second = (
            random.binomial(design.repeats, 1 / (1 + np.exp(-(start + ease + drawn(own, own)))))
            for start in starts
        )
        yield first, second


def _intercept(rate: float, spread: float) -> float:
    """Return the logit around which tasks of that spread have that mean rate."""
    from scipy import optimize

    return float(optimize.brentq(lambda start: _moments(start, spread)[0] - rate, -60, 60))


def _moments(start: float, spread: float) -> tuple[float, float]:
    """Return mean and variance of logistic-normal rates, by Gauss and Hermite's quadrature."""
    import numpy as np

    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    rates = 1 / (1 + np.exp(-(start + spread * nodes)))
    mean = float(weights @ rates / weights.sum())
    return mean, float(weights @ (rates - mean) ** 2 / weights.sum())


def _spread_as(design: PairedDesign, tasks: Sequence[TaskOutcomes]) -> PairedDesign:
    """Return the design with the spreads that the tasks show."""
    often = [task for task in tasks if len(task.scored) > 1]
    if len(often) != len(tasks) or len(tasks) <= 1:
        return design
    shares = [task.share or 0.0 for task in tasks]
    mean = math.fsum(shares) / len(shares)
    chance = [
        share * (1 - share) / (len(task.scored) - 1)
        for task, share in zip(tasks, shares, strict=True)
    ]
    total = math.fsum((share - mean) ** 2 for share in shares) / (len(shares) - 1)
    between = max(0.0, total - math.fsum(chance) / len(chance))
    spread = _spread_of(design.rate, between)
    pairs = [(task.cluster, share) for task, share in zip(tasks, shares, strict=True)]
    part = 0.0
    if 1 < len({cluster for cluster, _ in pairs}) < len(pairs) and between > 0:
        # Mean squares of templates beyond what tasks alone would give, spread over their size.
        excess = cluster_sums(pairs).variance * len(pairs) / total - 1
        part = min(1.0, max(0.0, excess / max(design.cluster_size - 1, _TIE) * total / between))
    return replace(
        design,
        task_spread=spread * math.sqrt(1 - part),
        cluster_spread=spread * math.sqrt(part),
    )


def _spread_of(rate: float, variance: float) -> float:
    """Return the logit spread that gives rates of that mean that variance."""
    low, high = 0.0, _WIDEST
    for _ in range(_NODES):
        middle = (low + high) / 2
        if _moments(_intercept(rate, middle), middle)[1] < variance:
            low = middle
        else:
            high = middle
    return (low + high) / 2
