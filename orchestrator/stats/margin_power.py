"""Which margin a design shows where nothing differs, and what a wanted one needs: by simulation."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from orchestrator.stats.clustered import NOTHING, ClusterSums, effective_count
from orchestrator.stats.design import PairedDesign, simulated
from orchestrator.stats.equivalence import margin_p
from orchestrator.stats.power import (
    ALPHA,
    MOST_REPEATS,
    MOST_TASKS,
    POWER,
    SIMULATIONS,
    Needed,
    Power,
    check_design,
    least,
    power_of,
    smallest,
)
from orchestrator.stats.score_interval import ScorePairs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Wins = NDArray[np.int64]

_WIDEST = 0.999


def margin_power(
    design: PairedDesign,
    margin: float,
    *,
    is_two_sided: bool,
    seed: int,
    alpha: float = ALPHA,
    simulations: int = SIMULATIONS,
) -> Power:
    """Return how often a study of this design shows a margin where there is no difference.

    Both sides have the design's rate; each simulated study is tested as `equivalence` does, or,
    where `is_two_sided` is false, as `non_inferiority` does. A study of one template shows nothing.

    Raises:
        ValueError: a rate or count of the design, or the margin, makes no sense.
    """
    import numpy as np

    check_design(design, 0.0, alpha, simulations)
    _check_margin(margin)
    random = np.random.default_rng(seed)
    shown = 0
    if len(design.begins) > 1:
        shown = sum(
            margin_p(score, margin, is_two_sided=is_two_sided) <= alpha
            for first, second in simulated(design, 0.0, random, simulations)
            for score in scores_of(design, first, second)
        )
    return power_of(design, shown, simulations, margin=margin, alpha=alpha)


def scores_of(design: PairedDesign, first: Wins, second: Wins) -> Iterator[ScorePairs]:
    """Yield what `score_pairs` says of each simulated study, of all studies at once.

    Args:
        design: with at least two templates.
        first: as `simulated` yields it.
        second: as `simulated` yields it.
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


def showable_margin(
    design: PairedDesign,
    *,
    is_two_sided: bool,
    seed: int,
    wanted: float = POWER,
    alpha: float = ALPHA,
    simulations: int = SIMULATIONS,
) -> Needed:
    """Return the smallest margin shown with the wanted power where nothing differs, to 0.005."""
    at = partial(
        margin_power,
        design,
        is_two_sided=is_two_sided,
        seed=seed,
        alpha=alpha,
        simulations=simulations,
    )
    return least(at, wanted, _WIDEST, "a margin of {room:.2f} is shown")


def tasks_for_margin(
    design: PairedDesign,
    margin: float,
    *,
    is_two_sided: bool,
    seed: int,
    wanted: float = POWER,
    alpha: float = ALPHA,
    simulations: int = SIMULATIONS,
) -> Needed:
    """Return how many tasks show a margin with the wanted power, up to 5,000."""

    def at(tasks: int) -> Power:
        return margin_power(
            replace(design, tasks=tasks),
            margin,
            is_two_sided=is_two_sided,
            seed=seed,
            alpha=alpha,
            simulations=simulations,
        )

    return smallest(at, wanted, MOST_TASKS, "tasks show")


def repeats_for_margin(
    design: PairedDesign,
    margin: float,
    *,
    is_two_sided: bool,
    seed: int,
    wanted: float = POWER,
    alpha: float = ALPHA,
    simulations: int = SIMULATIONS,
) -> Needed:
    """Return how many repeats of these tasks show a margin with the wanted power, up to 20."""

    def at(repeats: int) -> Power:
        return margin_power(
            replace(design, repeats=repeats),
            margin,
            is_two_sided=is_two_sided,
            seed=seed,
            alpha=alpha,
            simulations=simulations,
        )

    return smallest(at, wanted, MOST_REPEATS, "repeats show")


def _check_margin(margin: float) -> None:
    if not 0 < margin < 1:
        message = f"no power of a margin of {margin}"
        raise ValueError(message)
