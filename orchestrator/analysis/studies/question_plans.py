"""What a question can find, or show of its margin, before it is played; from past runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from arena_core.worlds import World
from evaluators.verdicts import OutcomeKind
from orchestrator.agents.interface import AgentLock
from orchestrator.agents.options import name_now
from orchestrator.analysis.stats.design import PairedDesign, design_from
from orchestrator.analysis.stats.power import (
    Difference,
    Goal,
    Margin,
    Needed,
    Power,
    Simulation,
)
from orchestrator.analysis.stats.results import TaskOutcomes
from orchestrator.analysis.studies.questions import QuestionKind
from orchestrator.runs.store.ledger import FinishedEpisode
from orchestrator.runs.store.lock import RunLock
from orchestrator.runs.store.run_folder import RunFolder

_WITHOUT_EFFECT: Final = frozenset(
    {"seed"}
)  # it changes neither how long an episode takes nor its price
_EVEN: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """A run that was played: a pilot, or any earlier one.

    Attributes:
        templates: by task, its template, or the task's id.
    """

    path: str
    lock: RunLock
    episodes: tuple[FinishedEpisode, ...]
    templates: Mapping[str, str]

    @classmethod
    def read(cls, folder: RunFolder) -> PastRun:
        """Read a run's lock and ledger."""
        with folder.reading() as ledger:
            episodes = ledger.finished_episodes()
        templates = {task.id: task.template or task.id for task in folder.suite().tasks}
        return cls(
            path=str(folder.path), lock=folder.lock(), episodes=episodes, templates=templates
        )


def is_same_agent(one: AgentLock, other: AgentLock) -> bool:
    """Whether two agents are of the same kind and options, whatever their seeds."""
    return one.kind == other.kind and _counting(one) == _counting(other)


def _counting(agent: AgentLock) -> dict[str, object]:
    options = {name_now(agent.kind, name): value for name, value in agent.options.items()}
    return {name: value for name, value in options.items() if name not in _WITHOUT_EFFECT}


@dataclass(frozen=True, slots=True)
class PlannedPair:
    """One task that both sides of a question play.

    Attributes:
        suite: as its file names itself.
        cluster: tasks with the same word here may be alike.
    """

    suite: str
    task: str
    cluster: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """What a question compares, as far as past episodes can be like it.

    Attributes:
        pairs: one for each task that is compared, in each world or of each agent.
        repeats: of each side.
        second: the agents of the second side, whose past episodes say how hard tasks are.
        worlds: in which these play.
    """

    pairs: tuple[PlannedPair, ...]
    repeats: int
    second: tuple[AgentLock, ...]
    worlds: frozenset[World]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionPlan:
    """What can be found about one question, or shown of its margin.

    Attributes:
        margin: the registered one; None of a difference.
        design: what was reckoned with; `measured_on` says how many past episodes it is like, 0
            where it is assumed.
        alpha: the strictest level that Holm's correction holds the question to: that of the study ÷
            the questions of its family.
        least: the least true difference that is found with a chance of 80 %, or the least margin
            that is shown with it where there is no difference; None without a pair.
        wanted: the chance that a wanted difference is found, or that the margin is shown where
            there is no difference; None where none is named. `alone`: the same if nothing had to be
            corrected for the other questions of the family.
        tasks, repeats: how many of them would do so with a chance of 80 %.
    """

    id: str
    kind: QuestionKind
    margin: float | None
    design: PairedDesign
    measured_on: int
    alpha: float
    least: Needed | None
    wanted: Power | None
    alone: Power | None
    tasks: Needed | None
    repeats: Needed | None

    def least_of(self, *kinds: QuestionKind) -> float | None:
        """Return the least difference or margin, where the question is of one of these kinds."""
        return self.least.value if self.least is not None and self.kind in kinds else None

    @property
    def is_hopeless(self) -> bool:
        """Whether the margin is more often not shown than shown, even without a difference."""
        return self.margin is not None and self.alone is not None and self.alone.value < _EVEN


def plan_question(
    name: str,
    kind: QuestionKind,
    sides: Sides,
    past: Sequence[PastRun],
    *,
    margin: float | None,
    difference: float | None,
    alpha: float,
    family: int,
    seed: int,
) -> QuestionPlan:
    """Return what a comparison on these tasks can find, or show of its margin.

    Args:
        past: runs that were played.
        margin: the registered one; None of a difference.
        difference: what one wants to find; None where nothing is wanted.
        family: how many questions are corrected for together.
    """
    design, measured = _design(sides, past)
    level = alpha / family
    is_two_sided = kind is QuestionKind.EQUIVALENCE
    least = goal = wanted = alone = tasks = repeats = None
    studies = Simulation(seed=seed, alpha=level)
    if sides.pairs and margin is None:
        least = studies.detectable_difference(design)
        goal = _wanted_difference(design, difference)
    elif sides.pairs and margin is not None:
        least = studies.showable_margin(design, is_two_sided=is_two_sided)
        goal = Margin(size=margin, is_two_sided=is_two_sided)
    if goal is not None:
        wanted = studies.power(design, goal)
        alone = Simulation(seed=seed, alpha=alpha).power(design, goal)
        tasks = studies.tasks_needed(design, goal)
        repeats = studies.repeats_needed(design, goal)
    return QuestionPlan(
        id=name,
        kind=kind,
        margin=margin,
        design=design,
        measured_on=measured,
        alpha=level,
        least=least,
        wanted=wanted,
        alone=alone,
        tasks=tasks,
        repeats=repeats,
    )


def _wanted_difference(design: PairedDesign, difference: float | None) -> Goal | None:
    """Return the difference to be found; None where none is wanted or possible."""
    if difference is None:
        return None
    # Where there is no room above the second side's rate, the first side is taken as worse.
    signed = difference if design.rate + difference < 1 else -difference
    return Difference(signed) if 0 < design.rate + signed < 1 else None


def _design(sides: Sides, past: Sequence[PastRun]) -> tuple[PairedDesign, int]:
    """Return the design, and on how many scored past episodes it rests.

    Templates are those of the planned tasks, whatever part of them was played.
    """
    count = max(1, len(sides.pairs))
    size = count / max(1, len({one.cluster for one in sides.pairs}))
    outcomes = _outcomes(sides, past)
    measured = sum(len(one.scored) for one in outcomes)
    if not measured:
        design = PairedDesign(tasks=count, repeats=sides.repeats, rate=0.5, cluster_size=size)
        return design, 0
    design = design_from(outcomes, repeats=sides.repeats, task_count=count)
    return replace(design, cluster_size=size), measured


def _outcomes(sides: Sides, past: Sequence[PastRun]) -> tuple[TaskOutcomes, ...]:
    wanted = {(one.suite, one.task) for one in sides.pairs}
    found: dict[tuple[int, World, str, str], list[bool | None]] = {}
    clusters: dict[tuple[int, World, str, str], str] = {}
    for run in past:
        number = _place(run.lock.agent, sides.second)
        if number is None:
            continue
        suite = run.lock.suite
        for one in run.episodes:
            task = one.key.task
            if one.key.world not in sides.worlds or (suite, task) not in wanted:
                continue
            key = (number, one.key.world, suite, task)
            found.setdefault(key, []).append(_success(one.outcome))
            clusters[key] = f"{suite}/{run.templates.get(task, task)}"
    return tuple(
        TaskOutcomes("/".join(map(str, key)), clusters[key], tuple(one))
        for key, one in found.items()
    )


def _place(agent: AgentLock, among: Sequence[AgentLock]) -> int | None:
    """Return the number of the first agent that is the same one."""
    return next((place for place, one in enumerate(among) if is_same_agent(agent, one)), None)


def _success(outcome: str) -> bool | None:
    return None if outcome.startswith(OutcomeKind.UNSCORED) else outcome == OutcomeKind.SUCCESS
