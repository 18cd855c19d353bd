"""Plans a study from its file or folder, and from runs that were played before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena_core.errors import StoreError, UsageError
from arena_core.worlds import World
from orchestrator.api.new_study import NewStudy, PlannedRun
from orchestrator.stats.results import Compared
from orchestrator.store.lock import AgentLock
from orchestrator.store.run_folder import RunFolder
from orchestrator.store.run_folders import runs_at
from orchestrator.studies.planning import (
    CellPlan,
    PastRun,
    QuestionPlan,
    StudyPlan,
    carried_over,
    plan_cell,
    plan_question,
)
from orchestrator.studies.study_file import QuestionEntry, StudyFile
from orchestrator.studies.study_folder import StudyFolder


def plan_study(
    path: Path, pilots: Sequence[Path], difference: float | None, runs: Path, studies: Path
) -> StudyPlan:
    """Plan a study; arguments and errors are those of `Arena.plan_study`."""
    if difference is not None and not 0 < difference < 1:
        message = f"a difference of {difference:g} is none: 0.1 is ten points"
        raise UsageError(message)
    new = NewStudy.read(StudyFolder.open(path).study_path if path.is_dir() else path)
    past = tuple(_past(pilots) if pilots else _around(runs, studies))
    planner = _Planner(new.file, new.runs, past, difference)
    return StudyPlan(
        name=new.file.name,
        cells=tuple(planner.cells()),
        workers=new.file.workers,
        questions=tuple(planner.question(one) for one in new.file.questions),
        warnings=tuple(planner.warnings()),
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


@dataclass(frozen=True, slots=True)
class _Planner:
    file: StudyFile
    runs: Sequence[PlannedRun]
    past: Sequence[PastRun]
    difference: float | None

    def cells(self) -> Iterator[CellPlan]:
        for run in self.runs:
            for world in self.file.worlds:
                cell = plan_cell(
                    run.agent,
                    run.request.agent_lock,
                    run.suite.label,
                    world,
                    run.suite.tasks,
                    repeats=self.file.repeats,
                    past=self.past,
                )
                if cell.episodes:
                    yield cell

    def question(self, entry: QuestionEntry) -> QuestionPlan:
        return plan_question(
            entry.id,
            self._pairs(entry),
            self.file.repeats,
            self._second(entry),
            self.past,
            difference=self.difference,
            alpha=self.file.alpha,
            seed=self.file.seed,
        )

    def warnings(self) -> Iterator[str]:
        tasks = [task for run in self._suites().values() for task in run.suite.tasks]
        if World.ONLINE in self.file.worlds:
            plays = self.file.repeats * len(self.file.agents)
            written = carried_over(tasks, plays)
            if written:
                yield (
                    f"{len(written)} tasks write on a live origin, which no reset takes back: what"
                    f" one episode writes is there in the next ({', '.join(written)})"
                )
        if not self.file.questions:
            yield "the study asks no question: whatever it finds was not registered"

    def _suites(self) -> Mapping[str, PlannedRun]:
        return {run.suite.label: run for run in self.runs}

    def _pairs(self, entry: QuestionEntry) -> list[str]:
        """Return a task's id for each pair that the question compares."""
        within, found = entry.within, list[str]()
        for label, run in self._suites().items():
            if within.suite not in {None, label}:
                continue
            for task in run.suite.tasks:
                worlds = set(self.file.worlds) & set(task.worlds)
                if entry.of is Compared.WORLDS:
                    agents = 1 if within.agent is not None else len(self.file.agents)
                    found += [task.id] * (agents if len(worlds) == len(World) else 0)
                else:
                    held = worlds if within.world is None else worlds & {within.world}
                    found += [task.id] * len(held)
        return found

    def _second(self, entry: QuestionEntry) -> AgentLock | None:
        label = entry.within.agent if entry.of is Compared.WORLDS else entry.second
        return next((run.request.agent_lock for run in self.runs if run.agent == label), None)
