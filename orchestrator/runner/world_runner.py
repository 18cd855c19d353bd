"""One world of a run: what all its workers share."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from arena_core.task_group import task_group
from orchestrator.runner.attempts import TrialRunner, ends_the_run, in_one_line
from orchestrator.runner.events import ProgressNote
from orchestrator.runner.open_world import OpenWorld
from orchestrator.runner.request import RunRequest
from orchestrator.runner.worker import Worker
from orchestrator.store.trials import Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldRunner:
    """The trials of one world and everything they are played with.

    Attributes:
        world: what all its workers share.
    """

    world: OpenWorld
    request: RunRequest
    trial_runner: TrialRunner
    interrupted: asyncio.Event

    async def play(self, trials: Sequence[Trial]) -> tuple[Exception, ...]:
        """Play trials until they are done or the user interrupts.

        Each worker takes the next trial in order when it is free. One that fails stops, and leaves
        its trial open; the others go on.

        Returns:
            Why workers stopped before their time.

        Raises:
            ModelError: the model refuses for good; all workers were stopped at once.
        """
        left = deque(trials)
        failures: list[Exception] = []
        async with task_group() as workers:
            for _ in range(min(self.request.workers, len(trials))):
                workers.create_task(self._work(left, failures))
        return tuple(failures)

    async def _work(self, left: deque[Trial], failures: list[Exception]) -> None:
        try:
            async with Worker.of(
                self.world, self.request, self.trial_runner, self.interrupted
            ) as worker:
                while left and not self.interrupted.is_set():
                    await worker.play(left.popleft())
        except Exception as failure:  # raised when the other workers are done
            if ends_the_run(failure):
                raise
            failures.append(failure)
            stopped = f"{self.world.upstreams.world}: a worker stopped: {in_one_line(failure)}"
            self.trial_runner.on_event(ProgressNote(stopped))
