"""What an open Arena reports while it works, beside what it returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from orchestrator.pool.events import PoolEvent
from orchestrator.runner.events import RunEvent
from orchestrator.work_events import WorkEvent


@dataclass(frozen=True, slots=True)
class WarningNote:
    """Something is not as it should be, and the work goes on without it."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBegan:
    """A run is written down and begins to play.

    Attributes:
        folder: of the run; what `Arena.resume` and `Arena.read_run` take.
        agent: as reports show it.
        agent_note: what its figures stand for; None for a contestant.
        episodes: how many the run has in all, those that finished earlier included.
        workers: how many are played side by side in each world.
    """

    folder: Path
    agent: str
    agent_note: str | None
    episodes: int
    workers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyBegan:
    """A study is registered and begins to be played.

    Attributes:
        folder: of the study.
        agents: their labels.
        episodes: how many the study has in all, those that finished earlier included.
        workers: how many are played side by side in each world.
    """

    folder: Path
    name: str
    agents: tuple[str, ...]
    episodes: int
    workers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SitesStarting:
    """`Arena.up` begins to start so many replicas."""

    replicas: int


ArenaEvent = WarningNote | RunBegan | StudyBegan | RunEvent | SitesStarting | PoolEvent | WorkEvent
OnArenaEvent = Callable[[ArenaEvent], None]


def ignore_event(event: ArenaEvent) -> None:
    """Report nothing to anybody."""
