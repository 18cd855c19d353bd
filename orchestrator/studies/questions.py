"""What a study asks: two agents or two worlds compared, on the same tasks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from arena_core.worlds import World
from orchestrator.stats.results import Compared

WITH_ADDED: Final = "+added"  # no id that a study's file can give ends so


class QuestionKind(StrEnum):
    """What is asked of two agents, or of two worlds.

    `difference`: do their success rates differ? `equivalence`: do they differ by less than the
    margin? `non_inferiority`: is the first worse than the second by less than the margin?
    """

    DIFFERENCE = "difference"
    EQUIVALENCE = "equivalence"
    NON_INFERIORITY = "non_inferiority"


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
        agents, repeats: what was registered with it, where more was added later: only these agents,
            and only so many first repeats of each task count. Empty and None take all.
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
    agents: tuple[str, ...] = ()
    repeats: int | None = None

    @property
    def is_with_added(self) -> bool:
        """Whether it is a registered question asked once more, of all that was added too."""
        return self.id.endswith(WITH_ADDED)
