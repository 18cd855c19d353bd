"""Where the spread of outcomes comes from, and how many repeats are worth it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceComponents:
    """Components of the variance of one episode's outcome (0 or 1), by analysis of variance.

    Attributes:
        tasks: between tasks; `worlds`: between worlds; `tasks_by_worlds`: a task being harder in
            one world than its share; `repeats`: between repeats of a task in one world.
            Worlds are None where one world was played.
        repeat_count: the mean number of scored repeats, as it counts.
    """

    task_count: int
    world_count: int
    episodes: int
    repeat_count: float | None
    tasks: float | None
    worlds: float | None
    tasks_by_worlds: float | None
    repeats: float | None
    undefined: str | None = None

    @property
    def total(self) -> float | None:
        """Sum of the components; None where undefined."""
        parts = (self.tasks, self.worlds, self.tasks_by_worlds, self.repeats)
        return None if self.tasks is None else sum(part for part in parts if part is not None)


@dataclass(frozen=True, slots=True)
class RepeatsWorth:
    """What a number of repeats gives.

    Attributes:
        standard_error: of the mean over these tasks.
        gain: how much smaller than with one repeat less, as a share; 0 for the first.
        episodes: how many that costs.
    """

    repeats: int
    standard_error: float
    gain: float
    episodes: int
