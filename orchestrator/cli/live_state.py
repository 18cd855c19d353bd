"""What is under way, as far as events say: the state behind the live display."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, assert_never

from orchestrator.api.events import ArenaEvent, RunBegan, SitesStarting, StudyBegan, WarningNote
from orchestrator.pool.events import Phase, PoolEvent
from orchestrator.runner.events import (
    AttemptBegan,
    AttemptBroke,
    EpisodesPlanned,
    ProgressNote,
    TrialEnded,
)
from orchestrator.store.trials import Trial
from orchestrator.work_events import WorkEnded, WorkLine, WorkOutput, WorkPlanned, WorkStep

OUTPUT_LINES: Final = 6


@dataclass(slots=True)
class Unit:
    """One thing that is under way.

    Attributes:
        step, steps: how far it is, where that is counted; 0 of 0 elsewhere.
        began: when, as the clock says.
    """

    name: str
    text: str
    began: float
    step: int = 0
    steps: int = 0


@dataclass(slots=True)
class LiveState:
    """Counts what is done, and knows what is under way.

    Attributes:
        what: what is counted: images, replicas, episodes; empty before anything is planned.
        total, done: how many there are, and how many of them are done.
        resumed: how many were done before this process began: they say nothing of its speed.
        output: the last lines of a program that works for the unit that is under way.
    """

    clock: Callable[[], float] = time.monotonic
    what: str = ""
    total: int = 0
    done: int = 0
    resumed: int = 0
    began: float = 0.0
    units: dict[str, Unit] = field(default_factory=dict)
    output: deque[str] = field(default_factory=lambda: deque(maxlen=OUTPUT_LINES))

    def __post_init__(self) -> None:
        self.began = self.clock()

    def apply(self, event: ArenaEvent) -> None:  # noqa: C901 - a case each
        """Take one event in."""
        match event:
            case EpisodesPlanned(done, total):
                self._plan("episodes", total, done)
            case AttemptBegan():
                again = f", attempt {event.number}" if event.number > 1 else ""
                self._set(_episode(event.trial, event.agent), f"playing{again}")
            case AttemptBroke():
                self.units.pop(_episode(event.trial, event.agent), None)
            case TrialEnded():
                self.units.pop(_episode(event.trial, event.agent), None)
                self.done, self.total = event.done, event.total
            case SitesStarting(replicas=replicas):
                self._plan("replicas", replicas, 0)
            case PoolEvent():
                self._replica(event)
            case WorkPlanned(units):
                self._plan("units", units, 0)
            case WorkStep(unit, text, step, steps):
                self._set(unit, text, step, steps)
            case WorkOutput(_, line):
                self.output.append(_printable(line))
            case WorkEnded(unit):
                self._end(unit)
            case RunBegan() | StudyBegan() | ProgressNote() | WarningNote() | WorkLine():
                pass
            case _:
                assert_never(event)

    def share(self) -> float | None:
        """Return how much is done, from 0 to 1; None where nothing is counted."""
        if not self.total:
            return None
        part = sum(one.step / one.steps for one in self.units.values() if one.steps)
        return min(1.0, (self.done + part) / self.total)

    def seconds_left(self) -> float | None:
        """Return how long the rest takes at the speed so far; None where that is not known yet."""
        share = self.share()
        if share is None or not self.total:
            return None
        before = self.resumed / self.total
        gained = share - before
        if gained <= 0 or self.done <= self.resumed:
            return None
        return (self.clock() - self.began) / gained * (1 - share)

    def _plan(self, what: str, total: int, done: int) -> None:
        self.what, self.total, self.done, self.resumed = what, total, done, done
        self.began = self.clock()

    def _replica(self, event: PoolEvent) -> None:
        match event.phase:
            case Phase.READY:
                self._end(event.replica)
            case Phase.FAILED | Phase.LOST:
                self.units.pop(event.replica, None)
            case Phase.HEALTHY | Phase.KEPT:
                self._set(event.replica, "logs its roles in")
            case Phase.STARTING | Phase.RESETTING | Phase.GOLDEN:
                self._set(event.replica, f"{event.phase} {event.detail}".rstrip())

    def _set(self, name: str, text: str, step: int = 0, steps: int = 0) -> None:
        known = self.units.get(name)
        if known is None:
            self.units[name] = Unit(name, _printable(text), self.clock(), step, steps)
            return
        known.text, known.step, known.steps = (
            _printable(text),
            step or known.step,
            steps or known.steps,
        )

    def _end(self, name: str) -> None:
        if self.units.pop(name, None) is not None or self.what == "replicas":
            self.output.clear()
        if self.what in {"units", "replicas"}:
            self.done = min(self.total, self.done + 1)


def _episode(trial: Trial, agent: str) -> str:
    repeat = f" repeat {trial.repeat}" if trial.repeat else ""
    return f"{trial.world} {trial.task}{repeat} {agent}".rstrip()


def _printable(text: str) -> str:
    """Return a text without what moves a terminal's cursor."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
