"""The episodes that are played, each with the run that it belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from orchestrator.gateway.variations import content_in
from orchestrator.runs.attempts import AttemptRunner
from orchestrator.runs.request import RunRequest
from orchestrator.runs.rollouts import RootCheckpoints
from orchestrator.runs.store.ledger import EpisodeKey
from tasks.schema import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedRun:
    """A run that is played: what is asked of it, and what keeps its ledger and evidence.

    Attributes:
        name: what the log calls it.
        checkpoints: what its rollouts go on from.
    """

    name: str
    request: RunRequest
    attempt_runner: AttemptRunner
    checkpoints: RootCheckpoints = field(default_factory=RootCheckpoints)

    def jobs_of(self, keys: Iterable[EpisodeKey]) -> list[Job]:
        """Return episodes of it as they are played."""
        return [Job(self, key) for key in keys]


@dataclass(frozen=True, slots=True)
class Job:
    """One episode of one of the runs that are played side by side."""

    run: PlayedRun
    key: EpisodeKey

    @property
    def task(self) -> Task:
        """The task that is played."""
        return next(task for task in self.run.request.tasks if task.id == self.key.task)

    @property
    def set_up(self) -> Task:
        """The task with all that is set up for it, an arm's content too."""
        content = content_in(self.run.request.settings.arm)
        return self.task if content is None else self.task.with_content(content)
