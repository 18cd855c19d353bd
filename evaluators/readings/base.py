"""What a compatible reading is: the published arithmetic of a benchmark over Arena's evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Protocol, runtime_checkable

from arena_core.plugins import Group, Seam, filling
from evaluators.evidence import Evidence
from evaluators.judgements import JudgeQuestion
from evaluators.original import OriginalTask


class ReadingStatus(StrEnum):
    """Whether the published code gives a score.

    `crash`: it would raise, and `because` says what. `unscored`: what it would have looked at is
    not in the evidence, the attempt broke off, or a judge is missing; the published code has no
    such case, so no number stands for it.
    """

    SCORED = "scored"
    CRASH = "crash"
    UNSCORED = "unscored"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingScore:
    """What an episode is worth in a reading.

    Attributes:
        value: the published score of the episode; None unless `status` is `scored`.
        because: one sentence that names what decided it.
        metrics: further figures of the published code, by its names.
    """

    status: ReadingStatus
    value: float | None
    because: str
    metrics: Mapping[str, float] = field(default_factory=dict)


@runtime_checkable
class Reading(Protocol):
    """Scores episodes of imported tasks; a pure function of what it is given.

    Attributes:
        name: as `arena score --reading` takes it.
        formats: of the tasks that it can read, as in `OriginalTask.format`.
    """

    name: str
    formats: frozenset[str]

    def questions(self, original: OriginalTask, evidence: Evidence) -> Sequence[JudgeQuestion]:
        """Return what a model must judge before the episode can be scored."""

    def score(
        self, original: OriginalTask, evidence: Evidence, judged: Mapping[str, str]
    ) -> ReadingScore:
        """Score one episode.

        Args:
            original: the published task.
            evidence: of the episode.
            judged: the model's reply by the key of its question.
        """

    def aggregate(self, scores: Sequence[ReadingScore]) -> Mapping[str, float | None]:
        """Return the published figures of a whole run, by their published names."""


READINGS: Final[Seam[Reading]] = Seam(Group.READINGS, "reading", filling(Reading))
