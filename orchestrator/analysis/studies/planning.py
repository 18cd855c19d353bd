"""What a study will take and can show, reckoned from past runs; and in which order it is played."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, assert_never

from arena_core.errors import StoreError, UsageError
from arena_core.worlds import World
from orchestrator.agents.interface import AgentClass, AgentLock
from orchestrator.analysis.stats.results import CLEAN, Compared
from orchestrator.analysis.studies.new_study import NewStudy
from orchestrator.analysis.studies.question_plans import (
    PastRun,
    PlannedPair,
    QuestionPlan,
    Sides,
    is_same_agent,
    plan_question,
)
from orchestrator.analysis.studies.questions import Question, QuestionKind
from orchestrator.analysis.studies.registration import StudyFolder
from orchestrator.analysis.studies.study_file import StudyFile
from orchestrator.gateway.variations import in_arm
from orchestrator.runs.jobs import Job
from orchestrator.runs.request import tasks_of
from orchestrator.runs.run import InOrder
from orchestrator.runs.store.run_folder import RunFolder, runs_at
from sites.registry import SiteRegistry
from tasks.schema import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class CellPlan:
    """One agent on one suite in one world.

    Attributes:
        episodes: tasks × repeats.
        seconds, usd: of one episode, on average of past ones; None where nothing is known. Seconds
            are those of the ledger, with the wait for a replica; a report's are without it.
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
                    "seconds_with_waiting": one.seconds,
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
    """
    names = {task.id for task in tasks if world in task.worlds}
    told = [
        one
        for run in past
        if run.lock.suite == named and is_same_agent(run.lock.agent, agent)
        for one in run.episodes
        if one.key.world is world and one.key.task in names
    ]
    priced = [one.usd for one in told if one.usd is not None]
    is_free = agent.agent_class in {AgentClass.REFERENCE, AgentClass.BASELINE}
    usd = sum(priced) / len(priced) if priced and len(priced) == len(told) else None
    taken = [one.seconds for one in told if one.seconds is not None]
    seconds = sum(taken) / len(taken) if taken else None
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


def interleaved(seed: int) -> InOrder:
    """Return what brings episodes into a study's order: by repeat, then task, then agent.

    Within a repeat tasks come in an order drawn anew, and so do the agents of each task: no agent
    is always the first on a fresh replica. Both worlds have the same order, side by side.
    """

    def in_order(jobs: Iterable[Job]) -> Iterable[Job]:
        return sorted(jobs, key=lambda job: _place(seed, job))

    return in_order


def _place(seed: int, job: Job) -> tuple[int, str, str]:
    key = job.key
    task = f"{seed}/{key.repeat}/{job.run.request.suite.suite}/{key.task}"
    return key.repeat, _drawn(task), _drawn(f"{task}/{job.run.name}")


def _drawn(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def plan_study(
    path: Path,
    pilots: Sequence[Path],
    difference: float | None,
    *,
    registry: SiteRegistry,
    runs: Path,
    studies: Path,
) -> StudyPlan:
    """Plan a study; arguments and errors are those of `arena.studies.plan`."""
    if difference is not None and not 0 < difference < 1:
        raise UsageError(
            f"a difference must lie between 0 and 1, not {difference:g}: 0.1 is ten points"
        )
    past = tuple(_past(pilots) if pilots else _around(runs, studies))
    planner = _of_folder(path, past) if path.is_dir() else _of_file(path, registry, past)
    questions = tuple(planner.question(one, difference) for one in planner.questions)
    return StudyPlan(
        name=planner.file.name,
        cells=tuple(planner.cells()),
        workers=planner.file.workers_at_first,
        questions=questions,
        warnings=(*planner.warnings(), *_hopeless(questions)),
    )


def _of_file(path: Path, registry: SiteRegistry, past: Sequence[PastRun]) -> _Planner:
    new = NewStudy.read(path).on_tapes(registry)
    file = new.file
    return _Planner(
        file=file,
        repeats=file.repeats,
        questions=tuple(one.asked(registered=True) for one in file.questions),
        runs=tuple(
            _PlannedRun(
                agent=run.agent,
                arm=run.arm,
                lock=run.request.agent_lock,
                label=run.suite.label,
                suite=run.suite.suite.suite,
                tasks=run.suite.tasks,
            )
            for run in new.runs
        ),
        past=past,
    )


def _of_folder(path: Path, past: Sequence[PastRun]) -> _Planner:
    """Plan a registered study as it stands, with all that was added."""
    folder = StudyFolder.open(path)
    study = folder.study()
    runs: list[_PlannedRun] = []
    for one in study.runs:
        run = folder.run_folder(one.folder)
        lock = run.lock()
        runs.append(
            _PlannedRun(
                agent=one.agent,
                arm=one.arm,
                lock=lock.agent,
                label=one.suite,
                suite=lock.suite,
                tasks=tasks_of(lock, run.suite()),
            )
        )
    return _Planner(
        file=study.file,
        repeats=study.repeats,
        questions=study.questions,
        runs=tuple(runs),
        past=past,
    )


def _hopeless(questions: Sequence[QuestionPlan]) -> Iterator[str]:
    for one in questions:
        if one.is_hopeless and one.alone is not None and one.margin is not None:
            yield (
                f"{one.id}: a margin of {100 * one.margin:g} points is unlikely to be shown: even"
                f" if there is no difference at all, {one.alone.value:.0%} of such studies show it"
            )


def _past(pilots: Sequence[Path]) -> Iterator[PastRun]:
    for pilot in pilots:
        for run in runs_at(pilot):
            yield PastRun.read(run)


def _around(runs: Path, studies: Path) -> Iterator[PastRun]:
    """Yield the runs here; one that cannot be read, or was not begun, is skipped."""
    for path in sorted((*runs.glob("*/lock.json"), *studies.glob("*/runs/*/lock.json"))):
        try:
            yield PastRun.read(RunFolder.open(path.parent))
        except StoreError:
            continue


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlannedRun:
    """One agent on one suite in one arm, '' for the clean one.

    `suite` is how the suite's file names itself, `label` how the study does.
    """

    agent: str
    arm: str
    lock: AgentLock
    label: str
    suite: str
    tasks: tuple[Task, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Planner:
    file: StudyFile
    repeats: int
    questions: tuple[Question, ...]
    runs: tuple[_PlannedRun, ...]
    past: Sequence[PastRun]

    def told(self, arm: str) -> list[PastRun]:
        """Return the past runs of an arm, '' for the clean one: others say nothing of it."""
        vary, _ = self.file.in_arm(arm)
        return [one for one in self.past if one.lock.vary == vary]

    def cells(self) -> Iterator[CellPlan]:
        for run in self.runs:
            _, worlds = self.file.in_arm(run.arm)
            for world in worlds:
                cell = plan_cell(
                    in_arm(run.agent, run.arm),
                    run.lock,
                    run.label,
                    world,
                    run.tasks,
                    named=run.suite,
                    repeats=self.repeats,
                    past=self.told(run.arm),
                )
                if cell.episodes:
                    yield cell

    def question(self, asked: Question, difference: float | None) -> QuestionPlan:
        family = sum(one.registered is asked.registered for one in self.questions)
        return plan_question(
            asked.id,
            asked.kind,
            self._sides(asked),
            self.told(_second_arm(asked)),
            margin=asked.margin,
            difference=difference,
            alpha=self.file.alpha,
            family=family,
            seed=self.file.seed,
        )

    def warnings(self) -> Iterator[str]:
        tasks = [task for run in self._suites().values() for task in run.tasks]
        if World.ONLINE in self.file.worlds:
            plays = self.repeats * len({run.agent for run in self.runs})
            written = carried_over(tasks, plays)
            if written:
                yield (
                    f"{len(written)} tasks write to a live origin, which no reset can undo: what"
                    f" one episode writes, the next one finds ({', '.join(written)})"
                )
        if not self.questions:
            yield "the study registers no question, so all it finds is exploratory"

    def _suites(self) -> Mapping[str, _PlannedRun]:
        return {run.label: run for run in self.runs}

    def _sides(self, asked: Question) -> Sides:
        match asked.of:
            case Compared.AGENTS:
                held = set(self.file.worlds) & ({asked.world} if asked.world else set(World))
                second, worlds = {asked.second}, held
            case Compared.WORLDS:
                second = {asked.agent} if asked.agent else self._agents(asked)
                worlds = {World(asked.second)}
            case Compared.ARMS:
                second = {asked.agent} if asked.agent else self._agents(asked)
                worlds = {World.OFFLINE}
            case _:
                assert_never(asked.of)
        locks = {run.agent: run.lock for run in self.runs if run.agent in second}
        return Sides(
            pairs=tuple(self._pairs(asked, len(locks))),
            repeats=self.repeats if asked.repeats is None else asked.repeats,
            second=tuple(locks.values()),
            worlds=frozenset(worlds),
        )

    def _agents(self, asked: Question) -> set[str]:
        return set(asked.agents) or {run.agent for run in self.runs}

    def _pairs(self, asked: Question, agents: int) -> Iterator[PlannedPair]:
        """Yield a pair for each task that both sides play: in each world, or for each agent."""
        for run in self._suites().values():
            if asked.suite not in {None, run.label}:
                continue
            for task in run.tasks:
                worlds = set(self.file.worlds) & set(task.worlds)
                held = worlds if asked.world is None else worlds & {asked.world}
                match asked.of:
                    case Compared.AGENTS:
                        count = len(held)
                    case Compared.WORLDS:
                        count = agents if len(worlds) == len(World) else 0
                    case Compared.ARMS:
                        count = agents * len(held)
                    case _:
                        assert_never(asked.of)
                template = f"{run.suite}/{task.template or task.id}"
                for _ in range(count):
                    yield PlannedPair(run.suite, task.id, template)


def _second_arm(asked: Question) -> str:
    """Return in which arm the second side plays, '' for the clean one."""
    arm = asked.second if asked.of is Compared.ARMS else asked.arm
    return "" if arm is None or arm == CLEAN else arm
