"""A baseline: what an agent achieved on a suite, in a file small enough for a repository."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field

from arena_core.errors import (
    InputError,
    NothingScoredError,
    StoreError,
    UsageError,
    VerificationError,
)
from arena_core.names import counted, listed
from arena_core.worlds import World
from evaluators.verdicts import OutcomeKind
from orchestrator.agents.interface import AgentLock
from orchestrator.analysis.run_report.run_report import RunReport, TaskRow, read_run
from orchestrator.analysis.studies.comparison import identity
from orchestrator.gateway.variations import arm_label
from orchestrator.runs.spec import RunSettings
from orchestrator.runs.store.digests import canonical_digest
from orchestrator.runs.store.lock import RunLock, hash_suite, require_whole
from orchestrator.runs.store.run_folder import RunFolder
from sites.documents import read_document
from sites.fields import Strict
from tasks.schema import Suite, Task

ALLOWABLE: Final = ("suite", "tasks", "worlds", "arm", "staged", "tapes")
_LISTED: Final = 100_000


class TaskBaseline(Strict):
    """One task in one world.

    Attributes:
        template: its id where it is an instance of none.
        same: SHA-256 over what decides how it is played and scored.
        outcomes: one a repeat, in their order.
    """

    task: str
    world: World
    template: str
    same: str
    outcomes: Annotated[tuple[OutcomeKind, ...], Field(min_length=1, max_length=_LISTED)]


def _each_once(tasks: tuple[TaskBaseline, ...]) -> tuple[TaskBaseline, ...]:
    seen = {(one.world, one.task) for one in tasks}
    if len(seen) < len(tasks):
        raise ValueError("names a task twice in one world")
    return tasks


class Baseline(Strict):
    """What an agent achieved on a suite, and the essentials of the run's lock.

    Attributes:
        digest: SHA-256 over all else: an edit shows, though whoever edits may compute it anew.
        images: by local tag; `tapes`: by site.
        tasks: each once in each world.
    """

    baseline: Literal[1] = 1
    digest: str = ""
    run: str
    created_at: str
    suite: str
    suite_version: int
    suite_hash: str
    agent: AgentLock
    worlds: tuple[World, ...]
    repeats: int
    arm: str | None = None
    staged: bool = False
    tapes: dict[str, str] = Field(default_factory=dict)
    images: dict[str, str]
    browser: str
    tasks: Annotated[
        tuple[TaskBaseline, ...],
        Field(min_length=1, max_length=_LISTED),
        AfterValidator(_each_once),
    ]

    @classmethod
    def read(cls, path: Path | str) -> Self:
        """Read a baseline from its file, or make it of the folder of a finished run.

        Raises:
            InputError: the file is no baseline.
            VerificationError: it is not as it was written, or the run's evidence is not.
            UsageError: the run is not finished, a shard, or of rollouts.
            NothingScoredError: none of its episodes has a score.
            StoreError: the run cannot be read.
        """
        named = Path(path)
        if named.is_dir():
            return cls._of(read_run(RunFolder.open(named)))
        found = read_document(named, cls, InputError)
        if found.digest != _digest(found):
            message = f"{path}: the baseline is not as it was written: its digest differs"
            hint = "take it from version control, or write a new one: arena ci --write-baseline"
            raise VerificationError(message, hint=hint)
        return found

    def write(self, path: Path | str) -> None:
        """Write it as JSON, which a review can read line by line.

        Raises:
            StoreError: the file cannot be written.
        """
        write_text(Path(path), self.model_dump_json(indent=1) + "\n")

    def of(self, world: World) -> Mapping[str, TaskBaseline]:
        """Return the tasks of a world, by id."""
        return {one.task: one for one in self.tasks if one.world is world}

    @classmethod
    def _of(cls, report: RunReport) -> Self:
        require_finished(report)
        lock = report.lock
        if not any(one.score.outcome.reason is None for one in report.episodes):
            raise NothingScoredError(f"{report.folder.path}: is no baseline: nothing is scored")
        found = cls(
            run=lock.run,
            created_at=lock.created_at,
            suite=lock.suite,
            suite_version=lock.suite_version,
            suite_hash=lock.suite_hash,
            agent=lock.agent,
            worlds=lock.worlds,
            repeats=lock.repeats,
            arm=lock.arm,
            staged=bool(lock.staged),
            tapes=lock.taped,
            images=lock.images,
            browser=lock.browser,
            tasks=tuple(one for row in report.rows for one in _tasks(row)),
        )
        return found.model_copy(update={"digest": _digest(found)})


def require_finished(report: RunReport) -> None:
    """Refuse a run whose figures are not of all that it was to play, or not what it recorded."""
    path = report.folder.path
    require_whole(path, report.lock)
    if report.lock.rollouts is not None:
        message = f"{path}: goes on from steps of another run, which are no attempts at tasks"
        raise UsageError(message, hint="name a run of arena eval")
    if report.pending:
        message = f"{path}: {counted(report.pending, 'episode is', 'episodes are')} not played yet"
        raise UsageError(message, hint=f"arena eval --resume {path} plays them")
    if report.changed_evidence:
        raise VerificationError(f"{path}: {report.changed_evidence}")


def differences(
    baseline: Baseline, suite: Suite, tasks: Sequence[Task], terms: RunSettings | RunLock
) -> dict[str, str]:
    """Return in what a run is no repetition of a baseline's, by what `allow` calls it.

    Args:
        baseline: what the agent is held to.
        suite: that the run plays, of which it chose `tasks`.
    """
    here = {
        (world, task.id): digest_of_task(task)
        for task in tasks
        for world in terms.worlds
        if world in task.worlds
    }
    there = {(one.world, one.task): one.same for one in baseline.tasks}
    changed = [
        task for (world, task), same in here.items() if there.get((world, task), same) != same
    ]
    found: dict[str, str] = {}
    if changed:
        hashes = f"{baseline.suite_hash[:12]}, not {hash_suite(suite)[:12]}"
        versions = f"{baseline.suite} version {baseline.suite_version} ({hashes})"
        found["suite"] = f"it is of {versions}; changed: {listed(changed)}"
    if apart := _apart([task for _, task in here], [task for _, task in there]):
        found["tasks"] = apart
    taped = _said(terms.taped) if isinstance(terms, RunLock) else None
    for name, was, now in (
        ("worlds", listed(baseline.worlds), listed(terms.worlds)),
        ("arm", baseline.arm or "clean", arm_label(terms.vary) or "clean"),
        ("staged", str(baseline.staged), str(bool(terms.staged))),
        ("tapes", _said(baseline.tapes), taped),
    ):
        if now is not None and was != now:
            found[name] = f"its {name}: {was}, not {now}"
    return found


def require_alike(
    baseline: Baseline, found: Mapping[str, str], allow: Collection[str], suite: Suite
) -> None:
    """Refuse a baseline that was played otherwise, unless that is allowed."""
    if unknown := sorted(set(allow) - set(ALLOWABLE)):
        message = f"nothing that may differ is called {listed(unknown)}"
        raise UsageError(message, hint=f"known: {', '.join(ALLOWABLE)}")
    ours, theirs = {task.id for task in suite.tasks}, {one.task for one in baseline.tasks}
    if not ours & theirs:
        message = f"the baseline is of another suite: {baseline.suite} has no task of {suite.suite}"
        raise UsageError(message, hint="write one of this suite: arena ci --write-baseline FILE")
    refused = {name: said for name, said in found.items() if name not in allow}
    if refused:
        message = f"the baseline of run {baseline.run} was played otherwise: "
        hint = f"write a new one, or: --allow {','.join(refused)}"
        raise UsageError(message + "; ".join(refused.values()), hint=hint)


def write_text(path: Path, text: str) -> None:
    """Write a file that a person named."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as cause:
        raise StoreError(f"{path}: cannot be written: {cause.strerror}") from cause


def _tasks(row: TaskRow) -> Iterator[TaskBaseline]:
    same = digest_of_task(row.task)
    for world, episodes in row.episodes.items():
        if episodes:
            yield TaskBaseline(
                task=row.task.id,
                world=world,
                template=row.task.template or row.task.id,
                same=same,
                outcomes=tuple(one.score.outcome.kind for one in episodes),
            )


def _digest(baseline: Baseline) -> str:
    return canonical_digest(baseline.model_copy(update={"digest": ""}))


def digest_of_task(task: Task) -> str:
    """Return `TaskBaseline.same` of a task."""
    return hashlib.sha256(identity(task).encode()).hexdigest()


def _apart(ours: Sequence[str], theirs: Sequence[str]) -> str:
    missing = [task for task in dict.fromkeys(ours) if task not in theirs]
    left = [task for task in dict.fromkeys(theirs) if task not in ours]
    said = [f"it lacks {listed(missing)}"] if missing else []
    return "; ".join([*said, *([f"not played now: {listed(left)}"] if left else [])])


def _said(tapes: Mapping[str, str]) -> str:
    return ", ".join(f"{site} {tape}" for site, tape in tapes.items()) or "none"
