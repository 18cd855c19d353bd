"""What a study will take, and what it can show: reckoned from past runs; unknown stays unknown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from arena_core.worlds import World
from orchestrator.agent_interface import AgentClass
from orchestrator.stats.power import (
    Needed,
    PairedDesign,
    Power,
    design_from,
    detectable_difference,
    power,
    repeats_needed,
    tasks_needed,
)
from orchestrator.stats.results import TaskOutcomes
from orchestrator.store.ledger import FinishedEpisode
from orchestrator.store.lock import AgentLock, RunLock
from orchestrator.store.run_folder import RunFolder
from tasks.schema import Task

_UNTOLD: Final = frozenset({"seed"})  # it changes neither how long an episode takes nor its price


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
        """Read a run's lock and ledger.

        Raises:
            StoreError: it cannot be read.
        """
        with folder.reading() as ledger:
            episodes = ledger.finished_episodes()
        templates = {task.id: task.template or task.id for task in folder.suite().tasks}
        return cls(
            path=str(folder.path), lock=folder.lock(), episodes=episodes, templates=templates
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CellPlan:
    """One agent on one suite in one world.

    Attributes:
        episodes: tasks × repeats.
        seconds, usd: of one episode, on average of past ones; None where nothing is known.
        known_from: how many past episodes say that.
    """

    agent: str
    suite: str
    world: World
    tasks: int
    repeats: int
    seconds: float | None
    usd: float | None
    known_from: int

    @property
    def episodes(self) -> int:
        """How many there are to be."""
        return self.tasks * self.repeats


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionPlan:
    """What can be found about one question.

    Attributes:
        design: what was reckoned with; `measured_on` says how many past episodes it is like, 0
            where it is assumed.
        detectable: the least true difference that is found with a chance of 80 %.
        wanted: the chance that a wanted difference is found; None where none is named.
        tasks, repeats: how many of them would find it with a chance of 80 %.
    """

    id: str
    design: PairedDesign
    measured_on: int
    detectable: Needed
    wanted: Power | None
    tasks: Needed | None
    repeats: Needed | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlan:
    """What a study will take, and what it can show.

    Attributes:
        workers: episodes of each world side by side.
        warnings: what would make its figures mean something else.
    """

    name: str
    cells: tuple[CellPlan, ...]
    workers: int
    questions: tuple[QuestionPlan, ...]
    warnings: tuple[str, ...]

    @property
    def episodes(self) -> int:
        """How many there are to be."""
        return sum(cell.episodes for cell in self.cells)

    @property
    def hours(self) -> float | None:
        """How long it takes, worlds side by side; None where a cell's part is unknown."""
        taken: dict[World, float] = {}
        for cell in self.cells:
            if cell.seconds is None:
                return None
            taken[cell.world] = taken.get(cell.world, 0.0) + cell.episodes * cell.seconds
        return max(taken.values(), default=0.0) / self.workers / 3600

    @property
    def usd(self) -> float | None:
        """What its models cost; None where a cell's part is unknown."""
        parts = [None if one.usd is None else one.usd * one.episodes for one in self.cells]
        known = [part for part in parts if part is not None]
        return sum(known) if len(known) == len(parts) else None

    def document(self) -> dict[str, Any]:
        """Return it as a JSON document."""
        return {
            "name": self.name,
            "episodes": self.episodes,
            "workers": self.workers,
            "hours": self.hours,
            "usd": self.usd,
            "cells": [
                {
                    "agent": one.agent,
                    "suite": one.suite,
                    "world": one.world.value,
                    "episodes": one.episodes,
                    "seconds_an_episode": one.seconds,
                    "usd_an_episode": one.usd,
                    "known_from": one.known_from,
                }
                for one in self.cells
            ],
            "questions": [
                {
                    "id": one.id,
                    "tasks": one.design.tasks,
                    "repeats": one.design.repeats,
                    "rate": one.design.rate,
                    "measured_on": one.measured_on,
                    "detectable_difference": one.detectable.value,
                    "power": None if one.wanted is None else one.wanted.value,
                    "tasks_needed": None if one.tasks is None else one.tasks.value,
                    "repeats_needed": None if one.repeats is None else one.repeats.value,
                }
                for one in self.questions
            ],
            "warnings": list(self.warnings),
        }


def plan_cell(
    label: str,
    agent: AgentLock,
    suite: str,
    world: World,
    tasks: Sequence[Task],
    *,
    repeats: int,
    past: Sequence[PastRun],
) -> CellPlan:
    """Return one cell with what past episodes of the same agent on the same tasks took.

    The same agent is one of the same kind and options, whatever its seed. Where its episodes are of
    other tasks than these, nothing is known.
    """
    names = {task.id for task in tasks if world in task.worlds}
    told = [one for one in _alike(agent, past, world) if one.trial.task in names]
    priced = [one.usd for one in told if one.usd is not None]
    is_free = agent.agent_class in {AgentClass.REFERENCE, AgentClass.BASELINE}
    usd = sum(priced) / len(priced) if priced and len(priced) == len(told) else None
    seconds = sum(one.seconds for one in told) / len(told) if told else None
    return CellPlan(
        agent=label,
        suite=suite,
        world=world,
        tasks=len(names),
        repeats=repeats,
        seconds=seconds,
        usd=0.0 if is_free else usd,
        known_from=len(told),
    )


def plan_question(
    name: str,
    tasks: Sequence[str],
    repeats: int,
    second: AgentLock | None,
    past: Sequence[PastRun],
    *,
    difference: float | None,
    alpha: float,
    seed: int,
) -> QuestionPlan:
    """Return what a comparison on these tasks can find.

    Args:
        name: of the question.
        tasks: ids, one for each pair that is compared.
        repeats: of each side.
        second: the agent of the second side, whose past episodes say how hard tasks are for it;
            None takes those of all agents.
        past: runs that were played.
        difference: what one wants to find; None where nothing is wanted.
        alpha: of the study.
        seed: of the study.
    """
    outcomes = _outcomes(set(tasks), second, past)
    measured = sum(len(one.scored) for one in outcomes)
    design = PairedDesign(tasks=len(tasks), repeats=repeats, rate=0.5)
    if measured:
        design = design_from(outcomes, repeats=repeats, task_count=len(tasks))
    wanted = more_tasks = more_repeats = None
    if difference is not None:
        # Where there is no room above the second side's rate, the first side is taken as worse.
        signed = difference if design.rate + difference < 1 else -difference
        if 0 < design.rate + signed < 1:
            wanted = power(design, signed, seed=seed, alpha=alpha)
            more_tasks = tasks_needed(design, signed, seed=seed, alpha=alpha)
            more_repeats = repeats_needed(design, signed, seed=seed, alpha=alpha)
    return QuestionPlan(
        id=name,
        design=design,
        measured_on=measured,
        detectable=detectable_difference(design, seed=seed, alpha=alpha),
        wanted=wanted,
        tasks=more_tasks,
        repeats=more_repeats,
    )


def carried_over(tasks: Iterable[Task], plays: int) -> tuple[str, ...]:
    """Return the tasks that write on a live origin, which no reset takes back, and play again."""
    writing = [one.id for one in tasks if one.live_writes and World.ONLINE in one.worlds]
    return tuple(dict.fromkeys(writing)) if plays > 1 else ()


def _alike(agent: AgentLock, past: Sequence[PastRun], world: World) -> list[FinishedEpisode]:
    return [
        one
        for run in past
        if is_same_agent(run.lock.agent, agent)
        for one in run.episodes
        if one.trial.world is world
    ]


def is_same_agent(one: AgentLock, other: AgentLock) -> bool:
    """Whether two agents are of the same kind and options, whatever their seeds."""
    return one.kind == other.kind and _counting(one) == _counting(other)


def _counting(agent: AgentLock) -> dict[str, object]:
    return {name: value for name, value in agent.options.items() if name not in _UNTOLD}


def _outcomes(
    tasks: set[str], second: AgentLock | None, past: Sequence[PastRun]
) -> tuple[TaskOutcomes, ...]:
    found: dict[str, list[bool | None]] = {}
    clusters: dict[str, str] = {}
    for run in past:
        if second is not None and not is_same_agent(run.lock.agent, second):
            continue
        for one in run.episodes:
            if one.trial.task in tasks:
                name = f"{run.lock.agent.name}/{one.trial.world}/{one.trial.task}"
                scored = None if one.outcome.startswith("unscored") else one.outcome == "success"
                found.setdefault(name, []).append(scored)
                clusters[name] = run.templates.get(one.trial.task, one.trial.task)
    return tuple(TaskOutcomes(name, clusters[name], tuple(one)) for name, one in found.items())
