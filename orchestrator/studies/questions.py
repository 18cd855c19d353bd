"""What a study asks: two agents or two worlds compared, on the same tasks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from arena_core.worlds import World
from orchestrator.studies.study_file import AskedQuestion, Compared, QuestionKind

__all__ = ["Compared", "Question", "QuestionKind", "questions_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One comparison of two agents or of the two worlds.

    Attributes:
        id: its name in the study, and in every table.
        first, second: labels of agents, or names of worlds.
        agent, world, suite: what the comparison is held at; None takes all that were played in both
            of its arms, each paired with itself.
        margin: of an equivalence or a non-inferiority, as a share: 0.05 is 5 points.
        registered: whether it was written down before the study was played.
    """

    id: str
    kind: QuestionKind
    of: Compared
    first: str
    second: str
    agent: str | None = None
    world: World | None = None
    suite: str | None = None
    margin: float | None = None
    registered: bool = False


def questions_of(asked: Iterable[AskedQuestion]) -> tuple[Question, ...]:
    """Return the questions of a study, each with whether it was registered."""
    return tuple(
        Question(
            id=one.question.id,
            kind=one.question.kind,
            of=one.question.of,
            first=one.question.first,
            second=one.question.second,
            agent=one.question.within.agent,
            world=one.question.within.world,
            suite=one.question.within.suite,
            margin=one.question.margin,
            registered=one.is_registered,
        )
        for one in asked
    )
