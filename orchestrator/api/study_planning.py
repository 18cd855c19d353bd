"""Plans a study from its file or folder, and from runs that were played before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from arena_core.errors import StoreError, UsageError
from arena_core.worlds import World
from orchestrator.api.new_study import NewStudy
from orchestrator.runner.request import tasks_of
from orchestrator.stats.results import Compared
from orchestrator.store.lock import AgentLock
from orchestrator.store.run_folder import RunFolder
from orchestrator.store.run_folders import runs_at
from orchestrator.studies.past_runs import PastRun
from orchestrator.studies.planning import CellPlan, StudyPlan, carried_over, plan_cell
from orchestrator.studies.question_planning import (
    PlannedPair,
    QuestionPlan,
    Sides,
    plan_question,
)
from orchestrator.studies.questions import Question
from orchestrator.studies.study_file import StudyFile
from orchestrator.studies.study_folder import StudyFolder
from tasks.schema import Task


def plan_study(
    path: Path, pilots: Sequence[Path], difference: float | None, runs: Path, studies: Path
) -> StudyPlan:
    """Plan a study; arguments and errors are those of `Arena.plan_study`."""
    if difference is not None and not 0 < difference < 1:
        message = f"a difference of {difference:g} is none: 0.1 is ten points"
        raise UsageError(message)
    past = tuple(_past(pilots) if pilots else _around(runs, studies))
    planner = _of_folder(path, past) if path.is_dir() else _of_file(path, past)
    questions = tuple(planner.question(one, difference) for one in planner.questions)
    return StudyPlan(
        name=planner.file.name,
        cells=tuple(planner.cells()),
        workers=planner.file.workers,
        questions=questions,
        warnings=(*planner.warnings(), *_hopeless(questions)),
    )


def _of_file(path: Path, past: Sequence[PastRun]) -> _Planner:
    new = NewStudy.read(path)
    file = new.file
    return _Planner(
        file=file,
        repeats=file.repeats,
        questions=tuple(one.asked(registered=True) for one in file.questions),
        runs=tuple(
            _PlannedRun(
                agent=run.agent,
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
                f"{one.id}: a margin of {100 * one.margin:g} points can hardly be shown: even if"
                f" there is no difference at all, {one.alone.value:.0%} of such studies show it"
            )


def _past(pilots: Sequence[Path]) -> Iterator[PastRun]:
    for pilot in pilots:
        for run in runs_at(pilot):
            yield PastRun.read(run)


def _around(runs: Path, studies: Path) -> Iterator[PastRun]:
    """Yield the runs here; one that cannot be read, or was not begun, tells nothing."""
    for path in sorted((*runs.glob("*/lock.json"), *studies.glob("*/runs/*/lock.json"))):
        try:
            yield PastRun.read(RunFolder.open(path.parent))
        except StoreError:
            continue


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlannedRun:
    """One agent on one suite; `suite` is how its file names itself, `label` how the study does."""

    agent: str
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

    def cells(self) -> Iterator[CellPlan]:
        for run in self.runs:
            for world in self.file.worlds:
                cell = plan_cell(
                    run.agent,
                    run.lock,
                    run.label,
                    world,
                    run.tasks,
                    named=run.suite,
                    repeats=self.repeats,
                    past=self.past,
                )
                if cell.episodes:
                    yield cell

    def question(self, asked: Question, difference: float | None) -> QuestionPlan:
        family = sum(one.registered is asked.registered for one in self.questions)
        return plan_question(
            asked.id,
            asked.kind,
            self._sides(asked),
            self.past,
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
                    f"{len(written)} tasks write on a live origin, which no reset takes back: what"
                    f" one episode writes is there in the next ({', '.join(written)})"
                )
        if not self.questions:
            yield "the study asks no question: whatever it finds was not registered"

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
                if asked.of is Compared.WORLDS:
                    count = agents if len(worlds) == len(World) else 0
                else:
                    count = len(worlds if asked.world is None else worlds & {asked.world})
                template = f"{run.suite}/{task.template or task.id}"
                for _ in range(count):
                    yield PlannedPair(run.suite, task.id, template)
