"""One row an episode, and the tasks and pairs of tasks that procedures take."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from arena_core.errors import InputError
from arena_core.worlds import World
from evaluators.evidence import UnscoredReason


class ClusterBy(StrEnum):
    """What tasks share that makes their outcomes alike.

    `template`: tasks of one suite that are instances of one template; a task of no template is a
    cluster of its own. `sites`: tasks that use exactly the same sites. `task`: every task alone,
    so that only its repeats are alike.
    """

    TASK = "task"
    TEMPLATE = "template"
    SITES = "sites"


class Compared(StrEnum):
    """In what the two sides of a pair differ; in all else they are the same."""

    AGENTS = "agents"
    WORLDS = "worlds"


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeResult:
    """One episode as statistics see it.

    Attributes:
        agent: the label of the agent in its study.
        template: the task's id where it is an instance of none.
        success: None where the episode is unscored; it is never a zero then.
        completion, alignment: as in `evaluators.scores.Score`.
        seconds: from the agent's start to its end; `usd`: None where no price is known.
        started_at: ISO 8601; `run`: the folder of the run under its study, or its path.
        folder: the attempt's folder inside it.
    """

    agent: str
    suite: str
    world: World
    task: str
    repeat: int
    template: str
    sites: tuple[str, ...]
    family: str
    success: bool | None
    reason: UnscoredReason | None
    completion: float | None
    key_nodes_met: int
    key_nodes: int
    alignment: float | None
    steps: int
    seconds: float
    usd: float | None
    tokens: int
    started_at: str
    run: str
    folder: str


@dataclass(frozen=True, slots=True)
class TaskOutcomes:
    """One task of one cell.

    Attributes:
        task: a name that no other task of the same list has.
        cluster: tasks with the same word here may be alike.
        outcomes: one a repeat, in their order; None where it is unscored.
    """

    task: str
    cluster: str
    outcomes: tuple[bool | None, ...]

    @property
    def scored(self) -> tuple[bool, ...]:
        """The outcomes that there are."""
        return tuple(one for one in self.outcomes if one is not None)

    @property
    def unscored(self) -> int:
        """How many repeats have no outcome."""
        return self.outcomes.count(None)

    @property
    def share(self) -> float | None:
        """The share of the scored repeats that succeeded; None where none was scored."""
        scored = self.scored
        return sum(scored) / len(scored) if scored else None


@dataclass(frozen=True, slots=True)
class TaskPair:
    """One task as two sides played it: two agents, or two worlds.

    `first` and `second` are outcomes as in `TaskOutcomes`; a side without any was not played.
    """

    task: str
    cluster: str
    first: tuple[bool | None, ...]
    second: tuple[bool | None, ...]

    @property
    def sides(self) -> tuple[TaskOutcomes, TaskOutcomes]:
        """Return both sides as tasks of their own."""
        return (
            TaskOutcomes(self.task, self.cluster, self.first),
            TaskOutcomes(self.task, self.cluster, self.second),
        )

    @property
    def difference(self) -> float | None:
        """The first side's share of successes − the second's; None where one has no outcome."""
        first, second = (side.share for side in self.sides)
        return None if first is None or second is None else first - second


def outcomes_by_task(
    results: Iterable[EpisodeResult], cluster_by: ClusterBy = ClusterBy.TEMPLATE
) -> tuple[TaskOutcomes, ...]:
    """Return the tasks of a cell, repeats in their order.

    Where rows are of several agents or worlds, a task counts once for each; what they have in
    common is the cluster.

    Raises:
        InputError: the same episode stands there twice.
    """
    return tuple(
        TaskOutcomes(_name(rows[0]), cluster_of(rows[0], cluster_by), _outcomes(rows))
        for rows in _grouped(_distinct(results), _cell_and_task).values()
    )


def pair_tasks(
    first: Iterable[EpisodeResult],
    second: Iterable[EpisodeResult],
    compared: Compared,
    cluster_by: ClusterBy = ClusterBy.TEMPLATE,
) -> tuple[TaskPair, ...]:
    """Pair the tasks of two sides, in the order of the first; one side may lack a task.

    Raises:
        InputError: the same episode stands in a side twice.
    """

    def key(row: EpisodeResult) -> tuple[str, ...]:
        match compared:
            case Compared.AGENTS:
                return row.world, row.suite, row.task
            case Compared.WORLDS:
                return row.agent, row.suite, row.task

    ours, theirs = (_grouped(_distinct(side), key) for side in (first, second))
    pairs = []
    for name in dict.fromkeys((*ours, *theirs)):
        mine, other = ours.get(name, []), theirs.get(name, [])
        [row, *_] = mine or other
        pairs.append(
            TaskPair("/".join(name), cluster_of(row, cluster_by), _outcomes(mine), _outcomes(other))
        )
    return tuple(pairs)


def cluster_of(row: EpisodeResult, cluster_by: ClusterBy) -> str:
    """Return the name of the cluster that an episode's task belongs to."""
    match cluster_by:
        case ClusterBy.TASK:
            return f"{row.suite}/{row.task}"
        case ClusterBy.TEMPLATE:
            return f"{row.suite}/{row.template}"
        case ClusterBy.SITES:
            return "+".join(sorted(row.sites))


def success_rate(tasks: Iterable[TaskOutcomes]) -> float | None:
    """Return the mean of the tasks' shares; None where no task has one."""
    shares = [share for task in tasks if (share := task.share) is not None]
    return math.fsum(shares) / len(shares) if shares else None


def _distinct(results: Iterable[EpisodeResult]) -> Sequence[EpisodeResult]:
    """Return the rows as they are; a row that is there twice would count twice."""
    rows = tuple(results)
    counted = Counter(
        (row.agent, row.suite, row.world, row.task, row.repeat, row.started_at) for row in rows
    )
    for (agent, suite, world, task, repeat, _), count in counted.items():
        if count > 1:
            message = (
                f"the same episode counts {count} times: {agent}, {suite}/{task}, {world}, "
                f"repeat {repeat}"
            )
            raise InputError(message, hint="name each run once, and no copy beside it")
    return rows


def _grouped(
    rows: Iterable[EpisodeResult], key: Callable[[EpisodeResult], tuple[str, ...]]
) -> dict[tuple[str, ...], list[EpisodeResult]]:
    groups: dict[tuple[str, ...], list[EpisodeResult]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def _cell_and_task(row: EpisodeResult) -> tuple[str, ...]:
    return row.agent, row.world, row.suite, row.task


def _name(row: EpisodeResult) -> str:
    return "/".join(_cell_and_task(row))


def _outcomes(rows: Iterable[EpisodeResult]) -> tuple[bool | None, ...]:
    ordered = sorted(rows, key=lambda row: (row.repeat, row.started_at))
    return tuple(row.success for row in ordered)
