"""`--workers auto`: whenever an episode ends, a look at the machine, and perhaps another number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from arena_core.errors import UsageError
from arena_core.names import counted
from orchestrator.runs.jobs import PlayedRun
from orchestrator.runs.machine_load import Look, MachineLoad
from orchestrator.runs.pace import AUTO, Pace, Room, next_pace
from orchestrator.runs.steering import Steering

# A worker that begins starts a browser and replicas: what that took says nothing of its episodes.
_SETTLES_S: Final = 10.0
_OUTWEIGHS: Final = 3  # times as long, and it hardly counts
_LEAST_S: Final = 5.0  # a worker costs seconds of a core: a moment of rest is no reason for one
_NO_PRESSURE: Final = (
    "this kernel does not count what waits for cores (/proc/pressure/cpu), so the number stays"
)


@dataclass(slots=True, kw_only=True)
class AutoWorkers:
    """Changes the number of workers of runs that are played side by side.

    Attributes:
        runs: whose locks say which numbers were used.
        note: tells the user and the log.
        least: see `Room`.
    """

    steering: Steering
    runs: Sequence[PlayedRun]
    note: Callable[[str], None]
    least: int
    machine: MachineLoad
    pace: Pace
    _since: Look | None = None
    _settled_at: float = 0.0
    _most: int | None = None
    _used: tuple[int, int] = (0, 0)

    @classmethod
    def begin(
        cls,
        steering: Steering,
        runs: Sequence[PlayedRun],
        note: Callable[[str], None],
        workers: int,
        machine: MachineLoad | None = None,
    ) -> AutoWorkers:
        """Let the number follow the machine from now on, until a person sets it.

        Args:
            workers: how many play at first: as many as fit, at most one a core.
        """
        machine = machine or MachineLoad()
        pace = Pace(workers=workers)
        auto = cls(
            steering=steering, runs=runs, note=note, least=workers, machine=machine, pace=pace
        )
        auto._write_down()
        auto._since = machine.look()
        who = f"--workers {AUTO} begins with {counted(workers, 'worker')} in each world"
        note(f"{who}; {_NO_PRESSURE}" if auto._since is None else who)
        if auto._since is not None:
            auto._settled_at = auto._since.at + _SETTLES_S
            steering.on_end = auto.ended
        return auto

    def ended(self) -> None:
        """Decide anew: an episode ended."""
        now = self.machine.look()
        if now is None or self._since is None or self.steering.is_paused:
            return
        seconds = now.at - self._since.at
        if self._since.at < self._settled_at and seconds < _OUTWEIGHS * _SETTLES_S:
            self._since = now
            return
        if seconds < _LEAST_S:
            return
        load = now.since(self._since)
        self._since = now
        left = self.steering.left
        most = left if self._most is None else min(left, self._most)
        room = Room(least=self.least, most=most, each_bytes=self.steering.each_bytes)
        pace, why = next_pace(self.pace, load, room)
        before, self.pace = self.pace.workers, pace
        if pace.workers != before:
            self._change(before, why, now.at)

    def _change(self, before: int, why: str, at: float) -> None:
        try:
            self.steering.set_workers(self.pace.workers)
        except UsageError as refused:
            self._most = before
            self.pace = replace(self.pace, workers=before)
            self.note(f"workers stay {before}: {refused.message}")
            return
        self._settled_at = at + _SETTLES_S
        self.note(f"workers {before} → {self.pace.workers}: {why}")
        self._write_down()

    def _write_down(self) -> None:
        """Let the locks say between which numbers the run was."""
        now, (fewest, most) = self.pace.workers, self._used
        used = (min(fewest or now, now), max(most, now))
        if used != self._used:
            self._used = used
            for run in self.runs:
                folder = run.attempt_runner.folder
                folder.rewrite_lock(lambda lock: lock.model_copy(update={"workers_used": used}))
