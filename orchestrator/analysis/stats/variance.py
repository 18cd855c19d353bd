"""Where the spread of outcomes comes from, and how many repeats are worth it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from arena_core.names import counted
from orchestrator.analysis.stats.results import EpisodeResult

LEAST_GAIN = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceComponents:
    """Components of the variance of one episode's outcome (0 or 1), by analysis of variance.

    Attributes:
        task_count: how many tasks have a scored episode in every world: these count.
        tasks: between tasks; `worlds`: between worlds; `tasks_by_worlds`: a task being harder in
            one world than its share; `repeats`: between repeats of a task in one world.
            Worlds are None where one world was played. An estimate below 0 stands as 0.
        undefined: why there are none.
    """

    task_count: int
    tasks: float | None = None
    worlds: float | None = None
    tasks_by_worlds: float | None = None
    repeats: float | None = None
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
        standard_error: of the mean over these tasks, as a sample of tasks.
        gain: how much smaller than with one repeat less, as a share; 0 for the first.
    """

    repeats: int
    standard_error: float
    gain: float


def variance_components(results: Iterable[EpisodeResult]) -> VarianceComponents:
    """Return the components of one agent's outcomes in one world or several.

    Analysis of variance on the means of cells task × world (unweighted means; Searle, Casella and
    McCulloch 1992, chapter 4), with the variance within a cell estimated from the cells of at
    least two scored repeats. Tasks that lack a scored episode in a world are left out.
    """
    rows = [row for row in results if row.success is not None]
    worlds = sorted({row.world for row in rows})
    cells: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row in rows:
        task = cells.setdefault((row.suite, row.task), {})
        task.setdefault(row.world, []).append(float(row.success or 0))
    whole = [
        [of_task[world] for world in worlds]
        for of_task in cells.values()
        if len(of_task) == len(worlds)
    ]
    within = [_variance(cell) for task in whole for cell in task if len(cell) > 1]
    undefined = None
    if len(whole) <= 1:
        undefined = (
            f"only {counted(len(whole), 'task has', 'tasks have')} a scored episode in every world"
        )
    elif not within:
        undefined = "no task was scored twice in a world, so tasks and repeats cannot be separated"
    if undefined is not None:
        return VarianceComponents(task_count=len(whole), undefined=undefined)
    return _components(whole, math.fsum(within) / len(within))


def repeats_worth(
    components: VarianceComponents, *, tasks: int, up_to: int = 10
) -> tuple[RepeatsWorth, ...]:
    """Return the standard error of a cell's rate for 1 to `up_to` repeats of so many tasks.

    √((tasks + tasks_by_worlds + repeats/r) ÷ tasks): what lies between tasks, no repeat makes
    smaller (Miller 2024, arXiv 2411.00640, section 3). Empty where the components are undefined.
    """
    if components.tasks is None or components.repeats is None or tasks < 1:
        return ()
    between = components.tasks + (components.tasks_by_worlds or 0.0)
    worth: list[RepeatsWorth] = []
    for repeats in range(1, up_to + 1):
        error = math.sqrt((between + components.repeats / repeats) / tasks)
        before = worth[-1].standard_error if worth else error
        gain = 1 - error / before if before else 0.0
        worth.append(RepeatsWorth(repeats, error, gain))
    return tuple(worth)


def worthwhile_repeats(worth: Sequence[RepeatsWorth]) -> int | None:
    """Return the last number of repeats that still makes the error smaller by so much."""
    if not worth:
        return None
    return max(
        (one.repeats for one in worth[1:] if one.gain >= LEAST_GAIN), default=worth[0].repeats
    )


def _components(tasks: Sequence[Sequence[Sequence[float]]], within: float) -> VarianceComponents:
    task_count, world_count = len(tasks), len(tasks[0])
    counts = [len(cell) for task in tasks for cell in task]
    harmonic = len(counts) / math.fsum(1 / count for count in counts)
    means = [[_mean(cell) for cell in task] for task in tasks]
    of_tasks = [_mean(row) for row in means]
    of_worlds = [_mean([row[world] for row in means]) for world in range(world_count)]
    noise = within / harmonic
    by_task = world_count * _variance(of_tasks)
    between_worlds = together = None
    residual = noise
    if world_count > 1:
        grand = _mean(of_tasks)
        squares = math.fsum(
            (value - of_tasks[task] - of_worlds[world] + grand) ** 2
            for task, row in enumerate(means)
            for world, value in enumerate(row)
        )
        residual = squares / ((task_count - 1) * (world_count - 1))
        together = max(0.0, residual - noise)
        between_worlds = max(0.0, _variance(of_worlds) - residual / task_count)
    return VarianceComponents(
        task_count=task_count,
        tasks=max(0.0, (by_task - residual) / world_count),
        worlds=between_worlds,
        tasks_by_worlds=together,
        repeats=within,
    )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _variance(values: Sequence[float]) -> float:
    mean = _mean(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
