"""The suites of a study: read, cut down to the tasks that it asks for, and to its limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from arena_core.errors import InputError
from arena_core.worlds import World
from orchestrator.store.lock import hash_suite
from orchestrator.studies.registration import RegisteredSuite
from orchestrator.studies.study_file import EpisodeLimits, SuiteEntry
from tasks.loader import load_source, suite_names
from tasks.schema import Limits, Suite, Task
from tasks.select import Selection, select_tasks
from tasks.sources import SuiteSource


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedSuite:
    """A suite as a study plays it.

    Attributes:
        label: what the study calls it.
        named: as `load_source` takes it; empty where it was read from a run's folder.
        source: its file; None where it was read from a run's folder.
    """

    label: str
    suite: Suite
    tasks: tuple[Task, ...]
    named: str = ""
    source: SuiteSource | None = None

    @property
    def registered(self) -> RegisteredSuite:
        """What the registration says of it."""
        return RegisteredSuite(
            label=self.label,
            suite=self.suite.suite,
            version=self.suite.version,
            sha256=hash_suite(self.suite),
            tasks=tuple(task.id for task in self.tasks),
        )


def tasks_by_world(tasks: Sequence[Task], worlds: Sequence[World]) -> dict[World, int]:
    """Return how many tasks run in each world."""
    return {world: sum(world in task.worlds for task in tasks) for world in worlds}


def read_suite(entry: SuiteEntry, study: Path, limits: EpisodeLimits) -> PlayedSuite:
    """Read a suite that a study names, and choose its tasks.

    Raises:
        UnknownNameError, TaskError: there is no such suite or task, or it is wrong.
    """
    named = _beside(entry.source, study)
    source = load_source(named)
    suite = _limited(source.suite, limits)
    wanted = Selection(
        ids=entry.tasks, families=frozenset(entry.families), sites=frozenset(entry.sites)
    )
    tasks = select_tasks(suite, wanted)
    if entry.templates:
        known = {task.template for task in suite.tasks if task.template is not None}
        for template in entry.templates:
            if template not in known:
                message = f"no template '{template}' in suite '{suite.suite}'"
                listed = ", ".join(sorted(known)) or "none"
                raise InputError(message, hint=f"there are: {listed}")
        tasks = tuple(task for task in tasks if task.template in entry.templates)
        if not tasks:
            message = f"suite '{entry.label}': no task fits all that the study asks for"
            raise InputError(message, hint="arena tasks list shows ids, families and sites")
    return PlayedSuite(label=entry.label, suite=suite, tasks=tasks, named=named, source=source)


def _beside(named: str, study: Path) -> str:
    """Return a suite's path as seen from here, where the study's file names it from there."""
    if named.partition("@")[0] in suite_names() or Path(named).is_absolute():
        return named
    beside = study.parent / named
    return str(beside) if Path(str(beside).partition("@")[0]).exists() else named


def _limited(suite: Suite, limits: EpisodeLimits) -> Suite:
    if limits == EpisodeLimits():
        return suite

    def limited(given: Limits) -> Limits:
        steps = given.steps if limits.steps is None else min(given.steps, limits.steps)
        seconds = given.seconds if limits.seconds is None else min(given.seconds, limits.seconds)
        return Limits(steps=steps, seconds=seconds)

    tasks = tuple(task.model_copy(update={"limits": limited(task.limits)}) for task in suite.tasks)
    return suite.model_copy(update={"tasks": tasks})
