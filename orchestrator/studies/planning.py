"""What a study will take, and what it can show: reckoned from past runs; unknown stays unknown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from arena_core.worlds import World
from orchestrator.agent_interface import AgentClass
from orchestrator.store.lock import AgentLock
from orchestrator.studies.past_runs import PastRun, is_same_agent
from orchestrator.studies.question_planning import QuestionPlan
from orchestrator.studies.questions import QuestionKind
from tasks.schema import Task


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
                    "kind": one.kind.value,
                    "margin": one.margin,
                    "tasks": one.design.tasks,
                    "repeats": one.design.repeats,
                    "rate": one.design.rate,
                    "measured_on": one.measured_on,
                    "alpha": one.alpha,
                    "detectable_difference": one.least_of(QuestionKind.DIFFERENCE),
                    "showable_margin": one.least_of(
                        QuestionKind.EQUIVALENCE, QuestionKind.NON_INFERIORITY
                    ),
                    "power": None if one.wanted is None else one.wanted.value,
                    "power_uncorrected": None if one.alone is None else one.alone.value,
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
    named: str,
    repeats: int,
    past: Sequence[PastRun],
) -> CellPlan:
    """Return one cell with what past episodes of the same agent on the same tasks took.

    The same agent is one of the same kind and options, whatever its seed. Where its episodes are of
    other tasks than these, nothing is known.

    Args:
        label: of the agent in the study.
        agent: what a lock says of it.
        suite: its label in the study.
        world: of the cell.
        tasks: those of the suite that are chosen.
        named: how the suite's file names itself.
        repeats: of each task.
        past: runs that were played.
    """
    names = {task.id for task in tasks if world in task.worlds}
    told = [
        one
        for run in past
        if run.lock.suite == named and is_same_agent(run.lock.agent, agent)
        for one in run.episodes
        if one.trial.world is world and one.trial.task in names
    ]
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


def carried_over(tasks: Iterable[Task], plays: int) -> tuple[str, ...]:
    """Return the tasks that write on a live origin, which no reset takes back, and play again."""
    writing = [one.id for one in tasks if one.live_writes and World.ONLINE in one.worlds]
    return tuple(dict.fromkeys(writing)) if plays > 1 else ()
