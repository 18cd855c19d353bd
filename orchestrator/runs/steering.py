"""What a person changes while a run is played: when episodes begin, which one stops, how many."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Literal, Protocol

from arena_core.errors import UsageError
from arena_core.names import counted
from arena_core.worlds import World
from orchestrator.episode.episode import Episode
from orchestrator.runs.jobs import Job, PlayedRun

_LOOKAHEAD: Final = 32  # more than a machine has replicas of a site


class OwnStop(asyncio.Event):
    """Set where one episode is to stop after the step under way, or the whole run is."""

    def __init__(self, run: asyncio.Event) -> None:
        super().__init__()
        self._run = run

    @property
    def is_own(self) -> bool:
        """Whether this episode alone is to stop."""
        return super().is_set()

    def is_set(self) -> bool:
        """Whether the episode is to stop."""
        return super().is_set() or self._run.is_set()

    async def wait(self) -> Literal[True]:
        """Return when the episode is to stop."""
        await _either(super().wait(), self._run.wait())
        return True


async def _either(*waiting: Coroutine[object, object, object]) -> None:
    tasks = [asyncio.create_task(one) for one in waiting]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


@dataclass(slots=True)
class Queue:
    """A world's episodes to play, of which only the next few are listed: a run may have a billion.

    Attributes:
        readers: the workers that take episodes from it; what is put back needs one.
    """

    jobs: Iterator[Job]
    readers: set[int]
    _seen: deque[Job] = field(default_factory=deque)
    _again: deque[Job] = field(default_factory=deque)

    def next(self) -> Job | None:
        """Take the next episode; None when all are taken."""
        if self._seen:
            return self._seen.popleft()
        job = next(self.jobs, None)
        return self._again.popleft() if job is None and self._again else job

    def upcoming(self) -> Sequence[Job]:
        """Return the next few episodes, which stay in the queue."""
        self._seen.extend(islice(self.jobs, _LOOKAHEAD - len(self._seen)))
        return tuple(self._seen)

    @property
    def listed(self) -> int:
        """How many episodes it has, the next few and what was put back."""
        return len(self.upcoming()) + len(self._again)

    @property
    def is_empty(self) -> bool:
        return not self.listed

    def put_back(self, jobs: Iterable[Job]) -> None:
        """Play episodes once more, after all others."""
        self._again.extend(jobs)


class Crew(Protocol):
    """The workers of a world, whose number changes while they play.

    Attributes:
        each_bytes: the memory that one more of them takes, by its browser and replicas.
    """

    @property
    def each_bytes(self) -> int:
        """See `Crew`."""

    def require_room(self, count: int) -> None:
        """Refuse with UsageError a number of workers whose replicas do not fit."""

    def reach(self, count: int) -> None:
        """Let further workers begin until there are so many; too many leave by themselves."""


@dataclass(slots=True, eq=False)
class UnderWay:
    """An episode that is played now; `began` by the monotonic clock.

    Attributes:
        episode: the attempt under way; None before one has begun.
    """

    job: Job
    stop: OwnStop
    began: float
    episode: Episode | None = None


class Steering:
    """The controls of a run that is played, or of several side by side.

    A pause and a smaller number of workers hold back episodes that have not begun: what is under
    way ends as it would have, by the same clock.

    Attributes:
        on_end: called whenever an episode ended; None where nobody wants to know.
    """

    def __init__(self, interrupted: asyncio.Event, runs: Sequence[PlayedRun] = ()) -> None:
        self.is_paused = False
        self._interrupted = interrupted
        self._runs = runs
        self._changed = asyncio.Event()
        self.on_end: Callable[[], None] | None = None
        self._most: int | None = None
        self._began_with = 0
        self._worlds: dict[World, tuple[Queue, Crew | None]] = {}
        self._under_way: list[UnderWay] = []
        self._stopped: list[Job] = []

    @property
    def under_way(self) -> Sequence[UnderWay]:
        """The episodes that are played now, in the order in which they began."""
        return tuple(self._under_way)

    @property
    def workers(self) -> int:
        """How many episodes of a world may be played side by side."""
        return self._most or self._began_with

    def opened(self, world: World, queue: Queue, crew: Crew | None = None) -> None:
        """Take note of a world whose workers begin, and of what brings further ones."""
        self._began_with = max(self._began_with, len(queue.readers))
        self._worlds[world] = queue, crew

    async def turn(self, world: World) -> bool:
        """Wait until an episode of a world may begin; False where the worker is to leave."""
        while self._holds(world) and not self._interrupted.is_set():
            await _either(self._changed.wait(), self._interrupted.wait())
        queue = self._worlds[world][0]
        is_one_too_many = self._most is not None and len(queue.readers) > self._most
        return not self._interrupted.is_set() and not is_one_too_many

    @contextmanager
    def playing(self, job: Job) -> Iterator[UnderWay]:
        """Show an episode as under way; what is yielded says whether it is to stop."""
        one = UnderWay(job, OwnStop(self._interrupted), time.monotonic())
        self._under_way.append(one)
        try:
            yield one
        finally:
            self._under_way.remove(one)
            self._wake()
            if self.on_end is not None and not self._interrupted.is_set():
                self.on_end()

    def pause(self) -> None:
        """Let no further episode begin."""
        self.is_paused = True

    def go(self) -> None:
        """Let episodes begin again."""
        self.is_paused = False
        self._wake()

    def set_workers(self, count: int) -> None:
        """Play so many episodes of each world side by side; a world has no more than are left.

        Fewer leave after the episode under way. A world that opens later begins as was planned.

        Raises:
            UsageError: the replicas of so many do not fit; nothing was changed then.
        """
        wanted = [(crew, max(1, min(count, self._left(world)))) for world, crew in self._played()]
        for crew, number in wanted:
            crew.require_room(number)
        self._most = count
        for crew, number in wanted:
            crew.reach(number)
        self._wake()

    @property
    def left(self) -> int:
        """How many episodes are played or wait in the world that has most of them, up to a few."""
        return max((self._left(world) for world, _ in self._played()), default=0)

    @property
    def each_bytes(self) -> int:
        """The memory that one more worker in each world takes."""
        return sum(crew.each_bytes for _, crew in self._played())

    def _played(self) -> list[tuple[World, Crew]]:
        """Return the worlds that are still played, with their workers."""
        worlds = self._worlds.items()
        return [(world, crew) for world, (queue, crew) in worlds if queue.readers and crew]

    def _left(self, world: World) -> int:
        """Return how many episodes of a world are played or wait, as far as the queue lists."""
        queue = self._worlds[world][0]
        return queue.listed + sum(one.job.key.world is world for one in self._under_way)

    def named(self, name: str) -> UnderWay:
        """Return an episode that is played now; name and errors are those of `stop`."""
        found = [one for one in self._under_way if name in names_of(one.job)]
        if len(found) != 1:
            now = ", ".join(names_of(one.job)[-1] for one in self._under_way) or "none"
            what = "several episodes of this name are" if found else "no such episode is"
            raise UsageError(f"{name}: {what} played now", hint=f"played now: {now}")
        return found[0]

    def stop(self, name: str) -> str:
        """Stop one episode after the step under way; it stays open, and counts for nothing.

        Args:
            name: of the episode, `offline-TASK-r0`, or with its run: `RUN/offline-TASK-r0`.

        Returns:
            Its name in the log.

        Raises:
            UsageError: it is not played now, or several have this name.
        """
        one = self.named(name)
        if not one.stop.is_own:
            one.stop.set()
            self._stopped.append(one.job)
        return names_of(one.job)[-1]

    def requeue(self) -> str:
        """Play again what was stopped or ended unscored, in the worlds that are still played.

        Returns:
            How many episodes, in words.
        """
        busy = {id(one.job) for one in self._under_way}
        count = 0
        for world, (queue, _) in self._worlds.items():
            if not queue.readers:
                continue
            mine = [one for one in self._stopped if one.key.world is world and id(one) not in busy]
            self._stopped = [one for one in self._stopped if one not in mine]
            again = [one for one in mine if not one.run.attempt_runner.is_finished(one.key)]
            for run in self._runs:
                again += run.jobs_of(run.attempt_runner.open_unscored(world))
            queue.put_back(again)
            count += len(again)
        self._wake()
        return counted(count, "episode")

    def _holds(self, world: World) -> bool:
        """Whether the next episode of a world has to wait; nothing waits for an empty queue."""
        return self.is_paused and not self._worlds[world][0].is_empty

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def names_of(job: Job) -> tuple[str, str]:
    """Return what an episode is called by itself, and beside those of other runs."""
    return job.key.name, f"{job.run.name}/{job.key.name}"
