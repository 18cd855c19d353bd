"""Looks at the tasks of a run while an agent plays: before each task, and after it failed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final

from arena_core.errors import ArenaError, InterruptedRunError
from arena_core.names import counted, listed
from arena_core.worlds import World
from evaluators.evidence import EpisodeFault, UnscoredReason
from orchestrator.authoring.canary.findings import CanaryStatus
from orchestrator.authoring.canary.kept_looks import (
    FRESH,
    Answer,
    KeptLook,
    When,
    add_looks,
    answer,
    is_fresh,
    read_looks,
)
from orchestrator.authoring.canary.looking import CanaryReport, LookedTask
from orchestrator.runs.attempts import FailedEpisode, Undone
from orchestrator.runs.store.ledger import EpisodeKey
from tasks.schema import Task

Look = Callable[[tuple[Task, ...]], Awaitable[CanaryReport]]


@dataclass(slots=True, kw_only=True)
class RunWatch:
    """Looks at a run's live tasks: one look at a time, and each for all tasks that wait for one.

    Before an episode its task is looked at, unless a look is fresh. After a failure its task is
    looked at, unless one look after a failure is fresh: then the failure waits until that has aged,
    or for `finish`. So a task has at most two looks in the time that one is fresh, and one more at
    the end. Each is written into the run's folder at once.

    Attributes:
        folder: of the run.
        tasks: of the run, by name; those without a reference are never looked at.
        look: plays references.
        clock: says what time it is, with its zone.
        age: how long a look is fresh.
        warn, note: report what a person should know, and what is under way.
    """

    folder: Path
    tasks: Mapping[str, Task]
    look: Look
    clock: Callable[[], datetime]
    warn: Callable[[str], None]
    note: Callable[[str], None]
    age: timedelta = FRESH
    _looks: dict[str, list[KeptLook]] = field(default_factory=dict)
    _failed: list[FailedEpisode] = field(default_factory=list)
    _undone: list[Undone] = field(default_factory=list)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _made: list[KeptLook] = field(default_factory=list)
    _rounds: int = 0
    _wanted: dict[str, When] = field(default_factory=dict)
    _late: set[EpisodeKey] = field(default_factory=set)

    def begin(self, failed: Iterable[FailedEpisode]) -> None:
        """Take in what an earlier part of the run left: looks, and failures without one after."""
        for look in read_looks(self.folder):
            self._looks.setdefault(look.task, []).append(look)
        self._take_in(failed)
        blind = sorted(name for name, task in self.tasks.items() if not _can_be_played(task))
        if blind:
            self.warn(f"canary: {listed(blind)} cannot be looked at: there is no reference")

    async def before(self, name: str) -> EpisodeFault | None:
        """Return why a task is not to be played now; it is looked at first where that is due."""
        was = self._last(name)
        with suppress(InterruptedRunError):  # then the episode ends as it begins
            due = partial(self._is_stale, name)
            await self._look_at(name, When.BEFORE, due)
        last = self._last(name)
        if last is None or not last.status.is_bad:
            return None
        return None if last is was and self._is_stale(name) else fault_of(last)

    async def failed(self, episode: FailedEpisode) -> None:
        """Take note of a failure, and look at its task where that is due."""
        name = episode.key.task
        if not _can_be_played(self.tasks[name]):
            return
        self._failed.append(episode)
        self._settle()
        with suppress(InterruptedRunError):  # it waits until the run goes on
            await self._look_at(name, When.AFTER, lambda: name in self._due())

    async def finish(self, failed: Iterable[FailedEpisode]) -> None:
        """Look at what no look came after, and say what nothing is known of and what was loaded."""
        self._take_in(failed)
        unseen = self._unseen()
        self._wanted |= dict.fromkeys(unseen, When.AFTER)
        for name in sorted(unseen):
            await self._look_at(name, When.AFTER, lambda name=name: name in self._unseen())  # type: ignore[misc]
        left = {one.key.task for one in self._failed}
        if left:
            names = listed(sorted(left))
            self.warn(f"canary: nothing is known of {names} after a failure: it counts")
        plays = sum(one.plays for one in self._made)
        pages = sum(one.pages for one in self._made)
        looks = counted(self._rounds, "look")
        self.note(f"canary: {looks}, {counted(plays, 'play')}, {counted(pages, 'page')} loaded")

    def take_undone(self) -> tuple[Undone, ...]:
        """Return the failures that turned out to say nothing of the agent; each once."""
        undone, self._undone = tuple(self._undone), []
        return undone

    def _take_in(self, failed: Iterable[FailedEpisode]) -> None:
        self._failed = [one for one in failed if _can_be_played(self.tasks[one.key.task])]
        self._settle()

    async def _look_at(self, name: str, when: When, is_due: Callable[[], bool]) -> None:
        """Look at a task if that is still due when its turn comes, and with it at all that wait."""
        if not _can_be_played(self.tasks[name]):
            return
        self._wanted.setdefault(name, when)
        async with self._turn:
            if not is_due():
                self._wanted.pop(name, None)
                return
            wanted = {name: when} | self._wanted | dict.fromkeys(self._due(), When.AFTER)
            self._wanted = {}
            await self._look(wanted)

    async def _look(self, wanted: Mapping[str, When]) -> None:
        chosen = tuple(task for name, task in self.tasks.items() if name in wanted)
        self.note(f"canary: looks at {listed([task.id for task in chosen])}")
        began = self.clock()
        try:
            report = await self.look(chosen)
        except InterruptedRunError:
            raise
        except ArenaError as failure:
            why = f"it could not be looked at: {failure.message}"
            self._keep([_not_made(task, began, wanted[task.id], why) for task in chosen])
            return
        found = [(one, wanted[one.finding.task]) for one in report.tasks]
        self._keep([_kept(one, began, when) for one, when in found])

    def _keep(self, found: list[KeptLook]) -> None:
        add_looks(self.folder, found)
        self._rounds += 1
        self._made.extend(found)
        for look in found:
            self._looks.setdefault(look.task, []).append(look)
            if look.status is CanaryStatus.UNKNOWN:
                self.warn(f"canary: nothing is known of {look.task}: {look.because}")
            elif look.status.is_bad:
                self.warn(f"canary: {look.when}, {look.task} did not hold: {look.because}")
        self._settle()

    def _settle(self) -> None:
        """Sort out the failures that looks have decided; the others go on waiting."""
        waiting: list[FailedEpisode] = []
        for one in self._failed:
            said, look = answer(one.at, self._looks.get(one.key.task, ()), self.clock(), self.age)
            if said is Answer.OPEN:
                waiting.append(one)
            elif said is Answer.UNDONE and look is not None:
                task = self.tasks[one.key.task]
                self._undone.append(Undone(key=one.key, task=task, fault=fault_of(look)))
            elif said is Answer.TOO_LATE and one.key not in self._late:
                self._late.add(one.key)
                why = "no look came within an hour after it failed, so it counts"
                self.warn(f"canary: {one.key.name}: {why}")
        self._failed = waiting

    def _due(self) -> set[str]:
        """Return the tasks with a failure that waits, and no fresh look after a failure."""
        now = self.clock()
        return {
            one.key.task
            for one in self._failed
            if not any(
                look.when is When.AFTER and is_fresh(look, now, self.age)
                for look in self._looks.get(one.key.task, ())
            )
        }

    def _unseen(self) -> set[str]:
        """Return the tasks with a failure after which nobody as much as tried to look."""
        return {
            one.key.task
            for one in self._failed
            if not any(look.began >= one.at for look in self._looks.get(one.key.task, ()))
        }

    def _is_stale(self, name: str) -> bool:
        return not is_fresh(self._last(name), self.clock(), self.age)

    def _last(self, name: str) -> KeptLook | None:
        looks = self._looks.get(name)
        return looks[-1] if looks else None


def fault_of(look: KeptLook) -> EpisodeFault:
    """Return why a task that did not hold says nothing of an agent."""
    message = f"the canary found {look.when}: {look.because}"
    if look.evidence is not None:
        message += f" ({'/'.join(Path(look.evidence).parts[-_SHOWN:])})"
    return EpisodeFault(reason=_REASONS[look.status], message=message)


def _can_be_played(task: Task) -> bool:
    return World.ONLINE in task.worlds and task.reference is not None


def _kept(looked: LookedTask, began: datetime, when: When) -> KeptLook:
    until = looked.finding.retry_at
    plays = [one for one in (looked.finding, looked.first) if one is not None and one.evidence]
    return KeptLook(
        task=looked.finding.task,
        began=began,
        when=when,
        status=looked.finding.status,
        because=looked.finding.because,
        evidence=looked.finding.evidence,
        plays=len(plays),
        pages=sum(one.pages for one in plays),
        retry_at=None if until is None else datetime.fromisoformat(until),
    )


def _not_made(task: Task, began: datetime, when: When, because: str) -> KeptLook:
    status = CanaryStatus.UNKNOWN
    return KeptLook(task=task.id, began=began, when=when, status=status, because=because)


_SHOWN: Final = 4  # plays/RUN/evidence/ATTEMPT, in the canary's folder
# A site that does not answer lets nobody in; `infra` would be an attempt to make again.
_REASONS: Final[Mapping[CanaryStatus, UnscoredReason]] = {
    CanaryStatus.DRIFTED: UnscoredReason.DRIFTED,
    CanaryStatus.BLOCKED: UnscoredReason.BLOCKED,
    CanaryStatus.UNREACHABLE: UnscoredReason.BLOCKED,
}
