"""One look at a suite: plays its references, asks a flake again, and writes down what was found."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from arena_core.errors import StoreError
from orchestrator.authoring.canary.findings import (
    CanaryStatus,
    Play,
    TaskFinding,
    finding_of,
    not_played,
)
from orchestrator.authoring.canary.history import (
    CanaryEntry,
    CanaryPlace,
    History,
    LookTerms,
    Origins,
    document_of,
)
from orchestrator.episode.page_view import PageView, pages_seen
from orchestrator.runs.store.ledger import attempt_of
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.runs.store.scoring import score_task
from tasks.schema import Suite, Task

# Plays the references of tasks in the world that is looked at, as any run does; some may be left
# unplayed, where Arena gives up in the middle.
PlayTasks = Callable[[tuple[Task, ...]], Awaitable[RunFolder]]


LONGEST_PAUSE_S: Final = 120.0


def _now() -> datetime:
    return datetime.now(UTC)


def pause_s(findings: Iterable[TaskFinding], now: datetime) -> float:
    """Return for how many seconds no site of some tasks that refused wants to be asked again."""
    until = [datetime.fromisoformat(one.retry_at) for one in findings if one.retry_at is not None]
    return max(((one - now).total_seconds() for one in until if one > now), default=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedTask:
    """A task as a look found it, and as it was before.

    Attributes:
        since: the look from which on it has had this status.
        before: its status in the look before; None where there is none of the task as it is
            written now.
        first: what the first of two plays showed; None where one was enough.
        screenshot_then: of the last valid play; None where there is none.
    """

    finding: TaskFinding
    since: str
    before: CanaryStatus | None = None
    first: TaskFinding | None = None
    screenshot_then: str | None = None

    @property
    def is_flaky(self) -> bool:
        """Whether it is valid, and its first play was not."""
        return self.first is not None and self.finding.status is CanaryStatus.VALID


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryReport:
    """What one look at a suite found.

    Attributes:
        origins: what answered for the sites; each has a history of its own.
        browser: that it looked with, as `--browser` names it; so has each of them.
        at: when it began, UTC in ISO 8601.
        tasks: in the suite's order.
        not_there: the chosen tasks that do not run in this world.
        runs: the folders of its plays.
    """

    suite: str
    origins: Origins
    browser: str
    at: str
    tasks: tuple[LookedTask, ...]
    not_there: tuple[str, ...] = ()
    runs: tuple[Path, ...] = ()

    def count(self, status: CanaryStatus) -> int:
        """Return how many tasks have a status."""
        return sum(one.finding.status is status for one in self.tasks)


@dataclass(slots=True, kw_only=True)
class Looking:
    """A look under way.

    Attributes:
        history: where it is written down, and what was found before.
        play: plays references.
        clock: says what time it is, with its zone.
        pause: waits so many seconds, or until the user wants no more.
    """

    suite: Suite
    place: CanaryPlace
    history: History
    play: PlayTasks
    runs: list[RunFolder]
    clock: Callable[[], datetime] = _now
    pause: Callable[[float], Awaitable[object]] = asyncio.sleep

    async def look(self, tasks: Sequence[Task]) -> CanaryReport:
        """Play the references of tasks, write down what that shows, and return it.

        A task that would turn bad, or of which nothing was shown, is played once more: it is bad
        only where both plays say so. A site that says when it wants to be asked again is not asked
        before; if that is more than two minutes away, one play is enough.
        """
        at = self.clock().isoformat(timespec="seconds")
        there = [task for task in tasks if self.place.world in task.worlds]
        before = {task.id: self.history.last(self.place, task) for task in there}
        valid = {task.id: self.history.last(self.place, task, valid=True) for task in there}
        with_reference = [task for task in there if task.reference is not None]
        first = await self._played(with_reference, valid)
        doubted = [task for task in with_reference if _is_doubted(first[task.id], before[task.id])]
        second = await self._played(await self._when_wanted(doubted, first), valid)
        found = [
            (task, _together(first.get(task.id), second.get(task.id)) or self._without(task))
            for task in there
        ]
        entries = self.history.add(self._terms(at), found)
        return CanaryReport(
            suite=self.place.suite,
            origins=self.place.origins,
            browser=self.place.browser,
            at=at,
            tasks=tuple(
                LookedTask(
                    finding=finding,
                    since=entries[task.id].since,
                    before=was.status if (was := before[task.id]) else None,
                    first=first[task.id] if task.id in second else None,
                    screenshot_then=then.screenshot if (then := valid[task.id]) else None,
                )
                for task, finding in found
            ),
            not_there=tuple(task.id for task in tasks if task not in there),
            runs=tuple(run.path for run in self.runs),
        )

    async def _when_wanted(
        self, doubted: Sequence[Task], first: Mapping[str, TaskFinding]
    ) -> list[Task]:
        """Return what is asked again, once its sites want that; what would take too long is not."""
        now = self.clock()
        pauses = {task.id: pause_s([first[task.id]], now) for task in doubted}
        asked = [task for task in doubted if pauses[task.id] <= LONGEST_PAUSE_S]
        longest = max((pauses[task.id] for task in asked), default=0.0)
        if longest:
            await self.pause(longest)
        return asked

    def _without(self, task: Task) -> TaskFinding:
        return not_played(task, self.place.world, "it has no reference, so nobody can play it")

    def _terms(self, at: str) -> LookTerms:
        locks = [run.lock() for run in self.runs]
        images = {tag: image for lock in locks for tag, image in lock.images.items()}
        return LookTerms(
            place=self.place,
            at=at,
            suite_version=self.suite.version,
            images=images,
            browser=locks[-1].browser if locks else "",
        )

    async def _played(
        self, tasks: Sequence[Task], valid: Mapping[str, CanaryEntry | None]
    ) -> dict[str, TaskFinding]:
        """Play tasks, and what is left of them for as long as that leads on."""
        found: dict[str, TaskFinding] = {}
        left = tuple(tasks)
        while left:
            run = await self.play(left)
            self.runs.append(run)
            new = {task.id: self._read(run, task, valid[task.id]) for task in left}
            found |= {name: finding for name, finding in new.items() if finding is not None}
            still = tuple(task for task in left if task.id not in found)
            if len(still) == len(left):
                break
            left = still
        why = "it was not played: the run ended before"
        return {
            task.id: found.get(task.id) or not_played(task, self.place.world, why) for task in tasks
        }

    def _read(self, run: RunFolder, task: Task, valid: CanaryEntry | None) -> TaskFinding | None:
        """Return what a run shows of a task by its last attempt; None where there is none."""
        names = [name for name in run.evidence_names() if _is_of(name, task, self.place)]
        if not names:
            return None
        name = max(names, key=_number)
        folder = run.evidence_folder(name)
        try:
            evidence = run.evidence(name)
            pages = pages_seen(folder, evidence.steps)
        except StoreError as unreadable:
            why = f"what its play left cannot be read: {unreadable.message}"
            return replace(not_played(task, self.place.world, why), evidence=str(folder))
        play = Play(
            task=task,
            world=self.place.world,
            evidence=evidence,
            score=score_task(task, evidence),
            pages=pages,
            then=_pages_then(valid),
        )
        shown = next(
            (step.screenshot for step in reversed(evidence.steps) if step.screenshot), None
        )
        screenshot = None if shown is None else str((folder / shown).resolve())
        return replace(finding_of(play), evidence=str(folder.resolve()), screenshot=screenshot)


def _is_of(name: str, task: Task, place: CanaryPlace) -> bool:
    known = attempt_of(name)
    return known is not None and (known[0].task, known[0].world) == (task.id, place.world)


def _number(name: str) -> int:
    known = attempt_of(name)
    return 0 if known is None else known[1]


def _pages_then(valid: CanaryEntry | None) -> tuple[PageView, ...]:
    """Return the pages of the last valid play; none where they are gone or cannot be read."""
    if valid is None or valid.evidence is None:
        return ()
    try:
        return pages_seen(Path(valid.evidence), ())
    except StoreError:
        return ()


def _is_doubted(found: TaskFinding, before: CanaryEntry | None) -> bool:
    """Whether one play is not enough: nothing is asked twice that was as bad before."""
    if found.status is CanaryStatus.VALID or found.is_bug:
        return False
    return before is None or before.status is not found.status or not found.status.is_bad


def _together(first: TaskFinding | None, second: TaskFinding | None) -> TaskFinding | None:
    """Return what two plays show together: bad only where both are."""
    if first is None or second is None:
        return first
    if first.status.is_bad and second.status is CanaryStatus.UNKNOWN and not second.is_bug:
        because = f"one play of two: {first.status}: {first.because}; the other: {second.because}"
        return replace(second, because=because)
    if second.status.is_bad and not first.status.is_bad:
        because = f"one play of two: {second.status}: {second.because}; the other: {first.because}"
        return replace(second, status=CanaryStatus.UNKNOWN, because=because, drift=None, wall=None)
    return second


def report_document(report: CanaryReport) -> dict[str, Any]:
    """Return what a look found as JSON."""
    return {
        "suite": report.suite,
        "origins": report.origins,
        "browser": report.browser,
        "at": report.at,
        "tasks": [_looked(one) for one in report.tasks],
        "not_there": list(report.not_there),
        "runs": [str(run) for run in report.runs],
    }


def _looked(looked: LookedTask) -> dict[str, Any]:
    return {
        **document_of(looked.finding),
        "since": looked.since,
        "before": looked.before,
        "is_flaky": looked.is_flaky,
        "first": None if looked.first is None else document_of(looked.first),
        "screenshot_then": looked.screenshot_then,
    }
