"""Events of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.work_events import WorkEnded, WorkStep

if TYPE_CHECKING:  # whoever only starts sites needs no scores
    from evaluators.evidence import Evidence
    from evaluators.scores import Score
    from orchestrator.store.trials import Trial


@dataclass(frozen=True, slots=True)
class ProgressNote:
    """Something is prepared or waited for."""

    text: str


@dataclass(frozen=True, slots=True)
class EpisodesPlanned:
    """A run begins to play: `done` of `total` trials were finished earlier."""

    done: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptBegan:
    """An attempt at a trial begins.

    Attributes:
        agent: whose it is, where several play side by side; empty elsewhere. So in the next two.
    """

    trial: Trial
    number: int
    agent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialEnded:
    """A trial is finished for good; `done` of `total` are."""

    trial: Trial
    score: Score
    evidence: Evidence
    done: int
    total: int
    agent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptBroke:
    """An attempt broke off for a reason that is not the agent's, and is tried again."""

    trial: Trial
    number: int
    reason: str
    agent: str = ""


RunEvent = (
    ProgressNote | EpisodesPlanned | AttemptBegan | TrialEnded | AttemptBroke | WorkStep | WorkEnded
)
OnEvent = Callable[[RunEvent], None]
