"""Events of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena_core.work_events import WorkEvent

if TYPE_CHECKING:  # whoever only starts sites needs no scores
    from evaluators.evidence import Evidence
    from evaluators.scores import Score
    from orchestrator.runs.store.ledger import EpisodeKey


@dataclass(frozen=True, slots=True)
class ProgressNote:
    """Something is prepared or waited for."""

    text: str


@dataclass(frozen=True, slots=True)
class EpisodesPlanned:
    """A run begins to play: `done` of `total` episodes were finished earlier."""

    done: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptBegan:
    """An attempt at an episode begins.

    Attributes:
        agent: whose it is, where several play side by side; empty elsewhere. So in the next two.
    """

    key: EpisodeKey
    number: int
    agent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeEnded:
    """An episode is finished for good; `done` of `total` are."""

    key: EpisodeKey
    score: Score
    evidence: Evidence
    done: int
    total: int
    agent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptBroke:
    """An attempt broke off for a reason that is not the agent's, and is tried again."""

    key: EpisodeKey
    number: int
    reason: str
    agent: str = ""


RunEvent = ProgressNote | EpisodesPlanned | AttemptBegan | EpisodeEnded | AttemptBroke | WorkEvent
OnEvent = Callable[[RunEvent], None]
