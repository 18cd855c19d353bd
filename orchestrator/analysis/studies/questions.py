"""What a study asks, how far each question is, and what may be decided of it so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, assert_never

from arena_core.worlds import World
from orchestrator.analysis.stats.results import (
    CLEAN,
    Compared,
    EpisodeResult,
    EpisodeTable,
    StudyArm,
    TaskPair,
)
from orchestrator.analysis.stats.sequential import LEAST_STEP, Spending, level_of, overall_p
from orchestrator.analysis.studies.study_runs import StudyRun

WITH_ADDED: Final = "+added"  # no id that a study's file can give ends so
_TIE = 1e-9


class QuestionKind(StrEnum):
    """What is asked of two agents, worlds or arms.

    `difference`: do their success rates differ? `equivalence`: do they differ by less than the
    margin? `non_inferiority`: is the first worse than the second by less than the margin?
    """

    DIFFERENCE = "difference"
    EQUIVALENCE = "equivalence"
    NON_INFERIORITY = "non_inferiority"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One comparison of two agents, of the two worlds or of two arms.

    Attributes:
        id: its name in the study, and in every table.
        first, second: labels of agents, or names of worlds or arms.
        agent, world, suite: what the comparison is held at; None takes all that were played on both
            of its sides, each paired with itself.
        arm: of the study, in which agents are compared; None for the clean one. Arms are offline.
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
    arm: str | None = None
    margin: float | None = None
    registered: bool = False
    agents: tuple[str, ...] = ()
    repeats: int | None = None

    @property
    def sides(self) -> tuple[str, str]:
        """What either side is called in a sentence."""
        return self._called(self.first), self._called(self.second)

    def _called(self, name: str) -> str:
        if self.of is not Compared.ARMS:
            return name
        return "the clean arm" if name == CLEAN else f"arm {name}"

    @property
    def is_with_added(self) -> bool:
        """Whether it is a registered question asked once more, of all that was added too."""
        return self.id.endswith(WITH_ADDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """How far one question is.

    Attributes:
        ended: how many of its episodes ended, scored or not; `planned`: how many there are to be.
        spending: how the registered sequential design spends alpha; None where there is none.
        looks: at which share of its episodes the answer was looked at, this look included; of a
            sequential design alone.
    """

    ended: int = 0
    planned: int = 0
    spending: Spending | None = None
    looks: tuple[float, ...] = ()

    @property
    def is_interim(self) -> bool:
        """Whether episodes of it are still to be played."""
        return self.ended < self.planned

    @property
    def may_decide(self) -> bool:
        """Whether what is found now may be an answer: at the end, or at a look that counts."""
        return not self.is_interim or bool(self.looks and self._is_at(self.looks[-1]))

    def level(self, alpha: float, *, is_two_sided: bool) -> float:
        """Return what a p of now is held to, so that all looks together stay at alpha."""
        if self.spending is None:
            return alpha
        return level_of(self.spending, alpha, self._fractions, is_two_sided=is_two_sided)

    def overall(self, p: float, *, is_two_sided: bool) -> float:
        """Return a p of now with all looks counted."""
        if self.spending is None or (len(self._fractions) == 1 and not self.is_interim):
            return p
        return overall_p(p, self.spending, self._fractions, is_two_sided=is_two_sided)

    def with_looks(self, spending: Spending, seen: Iterable[int]) -> Stage:
        """Return it with the looks that count.

        Args:
            spending: of the registered design.
            seen: how many episodes had ended at each report, this one last.
        """
        kept: list[float] = []
        for ended in seen:
            share = ended / self.planned if self.planned else 0.0
            if share - (kept[-1] if kept else 0.0) >= LEAST_STEP and share <= 1 - LEAST_STEP:
                kept.append(share)
        return replace(self, spending=spending, looks=tuple(kept))

    @property
    def _fractions(self) -> tuple[float, ...]:
        return self.looks if self.is_interim else (*self.looks, 1.0)

    def _is_at(self, share: float) -> bool:
        return abs(self.ended / self.planned - share) < _TIE


NO_STAGE = Stage()


def stages_of(
    questions: Sequence[Question], table: EpisodeTable, runs: Sequence[StudyRun]
) -> Mapping[str, Stage]:
    """Return how far each question is, by its id."""
    return {
        one.id: Stage(
            ended=sum(map(len, sides_of(one, table))),
            planned=sum(_planned(one, run) for run in runs),
        )
        for one in questions
    }


def sides_of(question: Question, table: EpisodeTable) -> tuple[EpisodeTable, EpisodeTable]:
    """Return the episodes that count for either side of a question."""
    held = table.where(lambda row: _is_held(question, row))

    def side(name: str) -> EpisodeTable:
        return held.where(lambda row: _side(question, row.player, row.world, row.arm) == name)

    return side(question.first), side(question.second)


def pairs_of(question: Question, table: EpisodeTable) -> tuple[TaskPair, ...]:
    """Return the pairs of tasks that a question compares; of arms, repeats are paired too."""
    first, second = sides_of(question, table)
    is_of_arms = question.of is Compared.ARMS
    return first.paired_with(second, question.of, is_matched=is_of_arms)


def _is_held(question: Question, row: EpisodeResult) -> bool:
    return _holds(question, row.player, row.suite, row.world, row.arm) and (
        question.repeats is None or row.repeat < question.repeats
    )


def _holds(question: Question, agent: str, suite: str, world: World, arm: StudyArm | None) -> bool:
    return (
        question.agent in {None, agent}
        and question.world in {None, world}
        and question.suite in {None, suite}
        and (not question.agents or agent in question.agents)
        and (question.of is Compared.ARMS or (question.arm or CLEAN) == _named(arm))
    )


def _side(question: Question, agent: str, world: World, arm: StudyArm | None) -> str:
    """Return what the sides of a question are told apart by."""
    match question.of:
        case Compared.AGENTS:
            return agent
        case Compared.WORLDS:
            return world.value
        case Compared.ARMS:
            return _named(arm)
        case _:
            assert_never(question.of)


def _named(arm: StudyArm | None) -> str:
    return CLEAN if arm is None else arm.name


def _planned(question: Question, run: StudyRun) -> int:
    most = run.lock.repeats if question.repeats is None else question.repeats
    worlds = {
        world
        for world in run.lock.worlds
        if _holds(question, run.player, run.suite, world, run.arm)
        and _side(question, run.player, world, run.arm) in {question.first, question.second}
    }
    tasks = sum(len(worlds & set(run.worlds_of.get(task, ()))) for task in run.lock.tasks)
    return min(most, run.lock.repeats) * tasks
