"""What a design finds or shows, and what a wanted difference or margin needs: by simulation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from orchestrator.analysis.stats.design import PairedDesign, simulated
from orchestrator.analysis.stats.intervals import ScorePairs
from orchestrator.analysis.stats.paired import margin_p
from orchestrator.analysis.stats.rates import (
    NOTHING,
    ClusterSums,
    Interval,
    effective_count,
    wilson,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Wins = NDArray[np.int64]

ALPHA = 0.05
POWER = 0.8
SIMULATIONS = 1_000
MOST_TASKS = 5_000
MOST_REPEATS = 20
_FLIPS = 999
_MOST_FLIPS = 9_999
_TAIL = 5  # flips that a p of alpha must be able to count
_NEAREST = 0.005
_TIE = 1e-9
_EDGE = 1e-3


@dataclass(frozen=True, slots=True)
class Difference:
    """To find this true difference of the rates: first − second."""

    size: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """To show this margin where there is no difference.

    Attributes:
        is_two_sided: an equivalence; else a non-inferiority.
    """

    size: float
    is_two_sided: bool


Goal = Difference | Margin


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """How often a study of a design reaches a goal.

    Attributes:
        value: share of simulated studies with p <= alpha, with Wilson's interval for the number of
            simulations.
    """

    design: PairedDesign
    goal: Goal
    alpha: float
    value: float
    interval: Interval
    simulations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """What a design must be to reach the wanted power.

    Attributes:
        value: the smallest difference or margin, number of tasks or of repeats; None if no value
            within the search is enough; `undefined` says so.
        power: of the design with that value, or of the best that was tried.
    """

    value: float | None
    power: Power | None
    undefined: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """How studies are simulated, and how often they must reach their goal.

    Attributes:
        seed: of the draws: the same gives the same again.
        alpha: the level of their test.
        wanted: the power that a search looks for.
        simulations: how many studies each power rests on.
    """

    seed: int
    alpha: float = ALPHA
    wanted: float = POWER
    simulations: int = SIMULATIONS

    def power(self, design: PairedDesign, goal: Goal) -> Power:
        """Return how often a study of this design reaches a goal."""
        import numpy as np

        difference = goal.size if isinstance(goal, Difference) else 0.0
        _check(design, goal, difference, self.alpha, self.simulations)
        random = np.random.default_rng(self.seed)
        studies = simulated(design, difference, random, self.simulations)
        if isinstance(goal, Difference):
            reached = _found(design, studies, random, self.alpha)
        else:
            reached = _shown(design, studies, goal, self.alpha)
        return Power(
            design=design,
            goal=goal,
            alpha=self.alpha,
            value=reached / self.simulations,
            interval=wilson(reached / self.simulations, self.simulations),
            simulations=self.simulations,
        )

    def detectable_difference(self, design: PairedDesign) -> Needed:
        """Return the smallest difference found with the wanted power, to 0.005.

        The search is on the side of the second rate where there is more room; the value has no
        sign.
        """
        direction = 1 if design.rate <= 1 - design.rate else -1
        room = max(design.rate, 1 - design.rate) - _EDGE

        def at(size: float) -> Power:
            return self.power(design, Difference(direction * size))

        return _least(at, self.wanted, room, f"a difference of {room:.2f} is found")

    def showable_margin(self, design: PairedDesign, *, is_two_sided: bool) -> Needed:
        """Return the smallest margin shown with the wanted power if nothing differs, to 0.005."""
        room = 1 - _EDGE

        def at(size: float) -> Power:
            return self.power(design, Margin(size=size, is_two_sided=is_two_sided))

        return _least(at, self.wanted, room, f"a margin of {room:.2f} is shown")

    def tasks_needed(self, design: PairedDesign, goal: Goal) -> Needed:
        """Return how many tasks reach a goal with the wanted power, up to 5,000."""

        def at(tasks: int) -> Power:
            return self.power(replace(design, tasks=tasks), goal)

        return _smallest(at, self.wanted, MOST_TASKS, f"tasks {_verb(goal)}")

    def repeats_needed(self, design: PairedDesign, goal: Goal) -> Needed:
        """Return how many repeats of these tasks reach a goal with the wanted power, up to 20.

        Repeats add no tasks: where tasks differ much from side to side, no number is enough.
        """

        def at(repeats: int) -> Power:
            return self.power(replace(design, repeats=repeats), goal)

        return _smallest(at, self.wanted, MOST_REPEATS, f"repeats {_verb(goal)}")


def _found(
    design: PairedDesign,
    studies: Iterator[tuple[Wins, Wins]],
    random: np.random.Generator,
    alpha: float,
) -> int:
    """Return how many studies find their difference, by sign flips over templates.

    For single repeats of tasks without templates that is McNemar's exact test, as `paired_test`
    does; 999 flips, more where alpha is small, the same for all studies.
    """
    import numpy as np

    sums = np.concatenate(
        [
            np.add.reduceat((first - second) / design.repeats, design.begins, axis=1)
            for first, second in studies
        ]
    )
    flips = min(_MOST_FLIPS, max(_FLIPS, math.ceil(_TAIL / alpha) - 1))
    signs = random.integers(0, 2, (flips, sums.shape[1]), dtype=np.int8) * 2.0 - 1
    seen = abs(sums.sum(axis=1)) - _TIE
    beyond = (abs(sums @ signs.T) >= seen[:, None]).sum(axis=1)
    return int(((beyond + 1) / (flips + 1) <= alpha).sum())


def _shown(
    design: PairedDesign, studies: Iterator[tuple[Wins, Wins]], goal: Margin, alpha: float
) -> int:
    """Return how many studies show the margin, by `equivalence` or `non_inferiority`.

    A study of one template shows nothing.
    """
    if len(design.begins) <= 1:
        return 0
    return sum(
        margin_p(score, goal.size, is_two_sided=goal.is_two_sided) <= alpha
        for first, second in studies
        for score in scores_of(design, first, second)
    )


def scores_of(design: PairedDesign, first: Wins, second: Wins) -> Iterator[ScorePairs]:
    """Yield what `score_pairs` returns for each simulated study, computed for all at once.

    The design has at least two templates; both sides are as `simulated` yields them.
    """
    import numpy as np

    one, other = first / design.repeats, second / design.repeats
    tasks, begins = design.tasks, design.begins
    sizes = np.diff(np.append(begins, tasks))
    clusters = len(begins)
    effective = tasks**2 / float((sizes**2).sum())
    effects = (one - other).mean(axis=1)
    discordance = (one * (1 - other) + other * (1 - one)).mean(axis=1)
    off = np.add.reduceat(one - other - effects[:, None], begins, axis=1)
    squares = ((off / (1 - sizes / tasks)) ** 2).sum(axis=1)
    variances = squares * (clusters - 1) / clusters / tasks**2
    is_plain = design.repeats == 1 and clusters == tasks
    for effect, apart, variance in zip(
        effects.tolist(), discordance.tolist(), variances.tolist(), strict=True
    ):
        if is_plain:
            yield ScorePairs(effect, apart, float(tasks), math.inf)
            continue
        sums = ClusterSums(effect, variance if variance > NOTHING else 0.0, effective)
        spread = max(0.0, apart - effect**2)
        count = effective_count(spread, sums, tasks * design.repeats)
        yield ScorePairs(effect, apart, count, sums.freedom)


def _least(at: Callable[[float], Power], wanted: float, room: float, what: str) -> Needed:
    """Return the smallest size with the wanted power, to 0.005."""
    best = at(room)
    if best.value < wanted:
        because = f"even {what} with a power of only {best.value:.2f}"
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


def _smallest(at: Callable[[int], Power], wanted: float, most: int, what: str) -> Needed:
    """Return the smallest number up to `most` with the wanted power, to a fiftieth of it."""
    low, high = 0, 1
    tried = at(high)
    while tried.value < wanted:
        if high >= most:
            because = f"even {most:,} {what} it with a power of only {tried.value:.2f}"
            return Needed(value=None, power=tried, undefined=because)
        low, high = high, min(2 * high, most)
        tried = at(high)
    best = tried
    # The simulation cannot tell closer numbers apart.
    while high - low > max(1, high // 50):
        middle = (low + high) // 2
        tried = at(middle)
        if tried.value >= wanted:
            high, best = middle, tried
        else:
            low = middle
    return Needed(value=high, power=best)


def _verb(goal: Goal) -> str:
    return "find" if isinstance(goal, Difference) else "show"


def _check(
    design: PairedDesign, goal: Goal, difference: float, alpha: float, simulations: int
) -> None:
    rates = (design.rate, design.rate + difference, alpha)
    counts = (design.tasks, design.repeats, design.cluster_size, simulations)
    if not (all(0 < one < 1 for one in rates) and min(counts) >= 1):
        raise ValueError(
            f"cannot simulate {design} with a difference of {difference}, alpha {alpha}"
        )
    if isinstance(goal, Margin) and not 0 < goal.size < 1:
        raise ValueError(f"a margin must lie between 0 and 1, not {goal.size}")
