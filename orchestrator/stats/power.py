"""Which difference a design finds, and what a wanted difference needs: by simulation."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.stats.rates import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDesign:
    """Two sides on the same tasks.

    Attributes:
        tasks, repeats: how many of each side; `cluster_size`: tasks a template, on average.
        rate: success of the second side, over all tasks.
        task_spread, cluster_spread: standard deviations of the tasks' and the templates' ease on
            the logit scale, which both sides share; 0 makes all alike.
        side_spread: of what makes a task easier for one side alone.
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
    """

    value: float | None
    power: Power | None
    undefined: str | None = None
