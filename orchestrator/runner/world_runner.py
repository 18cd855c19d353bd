"""One world of what is played: what all its workers share."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from arena_core.task_group import task_group
from orchestrator.logs.context import log_context
from orchestrator.runner.attempts import ends_the_run, in_one_line
from orchestrator.runner.events import OnEvent, ProgressNote
from orchestrator.runner.open_world import OpenWorld
from orchestrator.runner.worker import Job, Worker


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldRunner:
    """Plays the trials of one world.

    Attributes:
        world: what all its workers share.
        workers: how many trials are played side by side.
        is_over: asked before each trial: whether no further one is to begin.
    """

    world: OpenWorld
    workers: int
    on_event: OnEvent
    interrupted: asyncio.Event
    is_over: Callable[[], bool] = _never

    async def play(self, jobs: Sequence[Job]) -> tuple[Exception, ...]:
        """Play trials until they are done or the user interrupts.

        Each worker takes the next trial in order when it is free. One that fails stops, and leaves
        its trial open; the others go on.

        Returns:
            Why workers stopped before their time.

        Raises:
            ModelError: the model refuses for good; all workers were stopped at once.
        """
        left = deque(jobs)
        failures: list[Exception] = []
        async with task_group() as workers:
            for _ in range(min(self.workers, len(jobs))):
                workers.create_task(self._work(left, failures))
        return tuple(failures)

    async def _work(self, left: deque[Job], failures: list[Exception]) -> None:
        try:
            async with Worker.of(self.world, self.on_event, self.interrupted) as worker:
                while left and not self.interrupted.is_set() and not self.is_over():
                    job = left.popleft()
                    with log_context(run=job.run.name):
                        await worker.play(job)
        except Exception as failure:  # raised when the other workers are done
            if ends_the_run(failure):
                raise
            failures.append(failure)
            stopped = f"{self.world.upstreams.world}: a worker stopped: {in_one_line(failure)}"
            self.on_event(ProgressNote(stopped))
