"""Which difference a design finds, and what a wanted difference needs: by simulation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from orchestrator.stats.clustered import cluster_sums
from orchestrator.stats.rates import Interval, wilson
from orchestrator.stats.results import TaskOutcomes, success_rate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

ALPHA = 0.05
POWER = 0.8
SIMULATIONS = 1_000
MOST_TASKS = 5_000
MOST_REPEATS = 20
_FLIPS = 999
_CHUNK = 100
_NODES = 41
_WIDEST = 6.0
_NEAREST = 0.005
_TIE = 1e-9
_EDGE = 1e-3


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """How often a true difference is found.

    Attributes:
        difference: the true one; first − second.
        value: share of simulated studies with p <= alpha, with Wilson's interval for the number of
            simulations.
    """

    design: PairedDesign
    difference: float
    alpha: float
    value: float
    interval: Interval
    simulations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """What a design must be to reach the wanted power.

    Attributes:
        value: the smallest difference, number of tasks or number of repeats; None where none within
            the search does, and `undefined` says so.
        power: of the design with that value, or of the best that was tried.
    """

    value: float | None
    power: Power | None
    undefined: str | None = None


def power(
    design: PairedDesign,
    difference: float,
    *,
    seed: int,
    alpha: float = ALPHA,
    simulations: int = SIMULATIONS,
) -> Power:
    """Return how often a study of this design finds a true difference of the rates.

    Each simulated study draws templates and tasks of logistic-normal ease, plays both sides and
    tests by sign flips over templates (for single repeats of tasks without templates that is
    McNemar's exact test), as `paired_test` does; 999 flips, the same for all studies.

    Raises:
        ValueError: a rate or count of the design, or the rate of the first side, makes no sense.
    """
    import numpy as np

    _check(design, difference, alpha, simulations)
    random = np.random.default_rng(seed)
    sums = _simulated(design, difference, random, simulations)
    signs = random.integers(0, 2, (_FLIPS, sums.shape[1]), dtype=np.int8) * 2.0 - 1
    seen = abs(sums.sum(axis=1)) - _TIE
    beyond = (abs(sums @ signs.T) >= seen[:, None]).sum(axis=1)
    found = int(((beyond + 1) / (_FLIPS + 1) <= alpha).sum())
    return Power(
        design=design,
        difference=difference,
        alpha=alpha,
        value=found / simulations,
        interval=wilson(found / simulations, simulations),
        simulations=simulations,
    )


def detectable_difference(
    design: PairedDesign,
    *,
    seed: int,
    wanted: float = POWER,
    alpha: float = ALPHA,
    simulations: int = SIMULATIONS,
) -> Needed:
    """Return the smallest difference that the design finds with the wanted power, to 0.005.

    It is looked for on the side of the second rate where there is more room, and returned without
    its sign.
    """
    direction = 1 if design.rate <= 1 - design.rate else -1
    room = max(design.rate, 1 - design.rate) - _EDGE

    def at(size: float) -> Power:
        return power(design, direction * size, seed=seed, alpha=alpha, simulations=simulations)

    best = at(room)
    if best.value < wanted:
        because = f"even a difference of {room:.2f} is found with a power of {best.value:.2f} only"
        return Needed(value=None, power=best, undefined=because)
    low, high = 0.0, room
    while high - low > _NEAREST:
        middle = (low + high) / 2
        tried = at(middle)
        if tried.value >= wanted:
            high, best = middle, tried
        else:
            low = middle
    return Needed(value=high, power=best)


def tasks_needed(
    design: PairedDesign,
    difference: float,
    *,
    seed: int,
    wanted: float = POWER,
    alpha: float = ALPHA,
    simulations: int = SIMULATIONS,
) -> Needed:
    """Return how many tasks find a difference with the wanted power, up to 5,000."""

    def at(tasks: int) -> Power:
        larger = replace(design, tasks=tasks)
        return power(larger, difference, seed=seed, alpha=alpha, simulations=simulations)

    return _smallest(at, wanted, MOST_TASKS, "tasks")


def repeats_needed(
    design: PairedDesign,
    difference: float,
    *,
    seed: int,
    wanted: float = POWER,
    alpha: float = ALPHA,
    simulations: int = SIMULATIONS,
) -> Needed:
    """Return how many repeats of these tasks find a difference with the wanted power, up to 20.

    Repeats make no task more: where tasks differ much from side to side, none are enough.
    """

    def at(repeats: int) -> Power:
        larger = replace(design, repeats=repeats)
        return power(larger, difference, seed=seed, alpha=alpha, simulations=simulations)

    return _smallest(at, wanted, MOST_REPEATS, "repeats")


def design_from(
    tasks: Sequence[TaskOutcomes], *, repeats: int, task_count: int | None = None
) -> PairedDesign:
    """Return a design like a pilot or an earlier run of one agent.

    How far tasks and templates are apart is estimated where tasks were repeated and templates have
    several tasks; else the usual values stand. What differs from side to side, one agent cannot
    tell.

    Raises:
        ValueError: no episode is scored.
    """
    rate = success_rate(tasks)
    if rate is None:
        message = "no design can be had from a run without a scored episode"
        raise ValueError(message)
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


def _smallest(at: Callable[[int], Power], wanted: float, most: int, what: str) -> Needed:
    low, high = 0, 1
    tried = at(high)
    while tried.value < wanted:
        if high == most:
            because = f"even {most:,} {what} find it with a power of {tried.value:.2f} only"
            return Needed(value=None, power=tried, undefined=because)
        low, high = high, min(2 * high, most)
        tried = at(high)
    best = tried
    # Numbers far apart tell more than the simulation can.
    while high - low > max(1, high // 50):
        middle = (low + high) // 2
        tried = at(middle)
        if tried.value >= wanted:
            high, best = middle, tried
        else:
            low = middle
    return Needed(value=high, power=best)


def _check(design: PairedDesign, difference: float, alpha: float, simulations: int) -> None:
    rates = (design.rate, design.rate + difference, alpha)
    counts = (design.tasks, design.repeats, design.cluster_size, simulations)
    if not (all(0 < one < 1 for one in rates) and min(counts) >= 1):
        message = f"no power of {design} with a difference of {difference} at alpha {alpha}"
        raise ValueError(message)


def _simulated(
    design: PairedDesign, difference: float, random: np.random.Generator, simulations: int
) -> Numbers:
    """Return each study's sums of differences, one a template."""
    import numpy as np

    clusters = min(design.tasks, max(1, round(design.tasks / design.cluster_size)))
    of_task = np.sort(np.arange(design.tasks) % clusters)
    begins = np.searchsorted(of_task, np.arange(clusters))
    own = design.side_spread
    spread = math.sqrt(design.task_spread**2 + design.cluster_spread**2 + 2 * own**2)
    starts = [_intercept(rate, spread) for rate in (design.rate + difference, design.rate)]
    sums = np.empty((simulations, clusters))
    for begin in range(0, simulations, _CHUNK):
        studies = min(_CHUNK, simulations - begin)

        def drawn(of_cluster: float, of_one: float, studies: int = studies) -> Numbers:
            shared = of_cluster * random.standard_normal((studies, clusters))[:, of_task]
            return shared + of_one * random.standard_normal((studies, design.tasks))

        ease = drawn(design.cluster_spread, design.task_spread)
        first, second = (
            random.binomial(design.repeats, 1 / (1 + np.exp(-(start + ease + drawn(own, own)))))
            for start in starts
        )
        apart = (first - second) / design.repeats
        sums[begin : begin + studies] = np.add.reduceat(apart, begins, axis=1)
    return sums


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
