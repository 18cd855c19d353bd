"""The table of episodes, one row each, and the tasks and pairs of tasks that statistics take."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Final, TypeVar, assert_never

from arena_core.errors import InputError
from arena_core.worlds import World
from evaluators.collateral import Collateral
from evaluators.evidence import UnscoredReason

CLEAN: Final = "clean"  # what the arm without any variation is called

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """One agent on one suite in one world."""

    agent: str
    suite: str
    world: World


class Compared(StrEnum):
    """In what the two sides of a pair differ; in all else they are the same."""

    AGENTS = "agents"
    WORLDS = "worlds"
    ARMS = "arms"


@dataclass(frozen=True, slots=True)
class StudyArm:
    """An arm that a study names, beside its clean one.

    Attributes:
        agent: what its agent is called in the clean arm.
    """

    name: str
    agent: str


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
        first_unmet: of the checks that decide, the first that is not met; empty without one.
        path: what was done, and on which pages, in order.
        collateral: what it changed that its task does not allow; None where nothing looked.
        confidence: how likely the agent said that it did the task right; None where it did not say.
        arm: of its study; None for the clean one, and where no study names arms.
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
    first_unmet: str = ""
    path: tuple[str, ...] = ()
    collateral: Collateral | None = None
    confidence: float | None = None
    arm: StudyArm | None = None

    @property
    def player(self) -> str:
        """The label of its agent, whatever the arm."""
        return self.agent if self.arm is None else self.arm.agent

    @property
    def cost(self) -> float | None:
        """What its models cost; None where it asked one whose price is unknown."""
        return None if self.usd is None and self.tokens else (self.usd or 0.0)

    @property
    def began(self) -> float | None:
        """When it started, in seconds since 1970; None where that cannot be read."""
        return moment_of(self.started_at)


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

    @property
    def lead(self) -> int:
        """How many more of the scored repeats succeeded than failed."""
        return 2 * sum(self.scored) - len(self.scored)


@dataclass(frozen=True, slots=True)
class TaskPair:
    """One task as two sides played it: two agents, worlds or arms.

    Attributes:
        first, second: outcomes as in `TaskOutcomes`; a side without any was not played.
        is_matched: outcomes at one place are of one repeat, which counts where both are scored.
    """

    task: str
    cluster: str
    first: tuple[bool | None, ...]
    second: tuple[bool | None, ...]
    is_matched: bool = False

    @property
    def id(self) -> str:
        """The task's id: the last part of its name, after what both sides have in common."""
        return self.task.rpartition("/")[2]

    @property
    def sides(self) -> tuple[TaskOutcomes, TaskOutcomes]:
        """Return both sides as tasks of their own, with the outcomes that count."""
        first, second = self.first, self.second
        if self.is_matched:
            both = list(zip(first, second, strict=True))
            first = tuple(None if other is None else one for one, other in both)
            second = tuple(None if one is None else other for one, other in both)
        return (
            TaskOutcomes(self.task, self.cluster, first),
            TaskOutcomes(self.task, self.cluster, second),
        )

    @property
    def unscored(self) -> tuple[int, int]:
        """How many episodes of either side have no outcome, whether they count or not."""
        return self.first.count(None), self.second.count(None)

    @property
    def difference(self) -> float | None:
        """The first side's share of successes − the second's; None where one has no outcome."""
        first, second = (side.share for side in self.sides)
        return None if first is None or second is None else first - second


class EpisodeTable:
    """Episodes of a study or a comparison, one row each: what every analysis takes.

    All grouping and pairing of rows is here. Parts of a table are tables too.
    """

    def __init__(self, rows: Iterable[EpisodeResult] = ()) -> None:
        self.rows: tuple[EpisodeResult, ...] = tuple(rows)
        _refuse_copies(self.rows)

    def __iter__(self) -> Iterator[EpisodeResult]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def where(self, holds: Callable[[EpisodeResult], bool]) -> EpisodeTable:
        """Return the rows for which it holds."""
        return _part(row for row in self.rows if holds(row))

    def by(self, key: Callable[[EpisodeResult], Key]) -> dict[Key, EpisodeTable]:
        """Return a table for each key, in the order in which they first appear."""
        groups: dict[Key, list[EpisodeResult]] = {}
        for row in self.rows:
            groups.setdefault(key(row), []).append(row)
        return {name: _part(rows) for name, rows in groups.items()}

    @cached_property
    def scored(self) -> EpisodeTable:
        """The rows that have an outcome."""
        return self.where(lambda row: row.success is not None)

    @cached_property
    def cells(self) -> Mapping[Cell, EpisodeTable]:
        """The rows of each cell."""
        return self.by(lambda row: Cell(row.agent, row.suite, row.world))

    @cached_property
    def by_task(self) -> tuple[EpisodeTable, ...]:
        """The rows of each task of each cell."""
        return tuple(self.by(_cell_and_task).values())

    @cached_property
    def tasks(self) -> tuple[TaskOutcomes, ...]:
        """The outcomes of each task, repeats in their order.

        Where rows are of several agents or worlds, a task counts once for each; what they have in
        common is the cluster.
        """
        return tuple(
            TaskOutcomes("/".join(_cell_and_task(one.rows[0])), one.cluster, one.outcomes)
            for one in self.by_task
        )

    @property
    def cluster(self) -> str:
        """The cluster of a task's rows."""
        return cluster_of(self.rows[0])

    @property
    def outcomes(self) -> tuple[bool | None, ...]:
        """The outcomes of a task's rows, repeats in their order."""
        ordered = sorted(self.rows, key=lambda row: (row.repeat, row.started_at))
        return tuple(row.success for row in ordered)

    def mean(self, of: Callable[[EpisodeResult], float]) -> float:
        """Return the mean of a value over the rows."""
        return math.fsum(map(of, self.rows)) / len(self.rows)

    def paired_with(
        self, other: EpisodeTable, compared: Compared, *, is_matched: bool = False
    ) -> tuple[TaskPair, ...]:
        """Pair the tasks of two sides, in the order of the first; one side may lack a task.

        Args:
            other: the second side.
            is_matched: whether repeats are paired too: one that a side has not played is left out.
        """
        ours, theirs = self.by(pair_key(compared)), other.by(pair_key(compared))
        none = EpisodeTable()
        found: list[TaskPair] = []
        for name in dict.fromkeys((*ours, *theirs)):
            first, second = ours.get(name, none), theirs.get(name, none)
            cluster = (first or second).cluster
            if is_matched:
                first, second = first.with_repeats_of(second), second.with_repeats_of(first)
            task = "/".join(name)
            found.append(TaskPair(task, cluster, first.outcomes, second.outcomes, is_matched))
        return tuple(found)

    def with_repeats_of(self, other: EpisodeTable) -> EpisodeTable:
        """Return the rows of a task whose repeat the other side has too."""
        there = {row.repeat for row in other}
        return self.where(lambda row: row.repeat in there)


def moment_of(text: str) -> float | None:
    """Return seconds since 1970; None if it is no ISO 8601 time, as foreign evidence may hold."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None


def pair_key(compared: Compared) -> Callable[[EpisodeResult], tuple[str, str, str]]:
    """Return what both sides of a pair have in common."""
    match compared:
        case Compared.AGENTS:
            return lambda row: (row.world, row.suite, row.task)
        case Compared.WORLDS | Compared.ARMS:
            return lambda row: (row.player, row.suite, row.task)
        case _:
            assert_never(compared)


def cluster_of(row: EpisodeResult) -> str:
    """Return the cluster of an episode's task, whose tasks may be alike: a template of a suite.

    A task of no template is a cluster of its own.
    """
    return f"{row.suite}/{row.template}"


def success_rate(tasks: Iterable[TaskOutcomes]) -> float | None:
    """Return the mean of the tasks' shares; None where no task has one."""
    shares = [share for task in tasks if (share := task.share) is not None]
    return math.fsum(shares) / len(shares) if shares else None


def _part(rows: Iterable[EpisodeResult]) -> EpisodeTable:
    """Return a part of a table, whose rows were held against each other before."""
    part = EpisodeTable()
    part.rows = tuple(rows)
    return part


def _refuse_copies(rows: Iterable[EpisodeResult]) -> None:
    """Refuse duplicate rows, which would count twice."""
    counted = Counter(
        (row.agent, row.suite, row.world, row.task, row.repeat, row.started_at) for row in rows
    )
    for (agent, suite, world, task, repeat, _), count in counted.items():
        if count > 1:
            message = (
                f"the same episode counts {count} times: {agent}, {suite}/{task}, {world}, "
                f"repeat {repeat}"
            )
            raise InputError(message, hint="name each run once, and leave out copies of it")


def _cell_and_task(row: EpisodeResult) -> tuple[str, ...]:
    return row.agent, row.world, row.suite, row.task
