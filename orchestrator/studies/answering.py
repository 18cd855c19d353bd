"""The answers to a study's questions: effect, interval, test, correction, what would turn them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from arena_core.worlds import World
from orchestrator.stats.equivalence import Decision, MarginTest, equivalence, non_inferiority
from orchestrator.stats.multiplicity import holm
from orchestrator.stats.paired import PairedComparison, compare_pairs, paired_test
from orchestrator.stats.results import Compared, EpisodeResult, TaskPair, pair_tasks
from orchestrator.stats.unscored import TippingPoint, tipping_point
from orchestrator.studies.findings import Answer
from orchestrator.studies.questions import Question, QuestionKind
from orchestrator.studies.sentences import (
    FIRST_BETTER,
    SECOND_BETTER,
    Asked,
    sentence,
    turning,
)

_FEWER: Final = 1_999  # permutations of each of the dozens of decisions of a tipping point


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """What is known of a question before its family is."""

    question: Question
    pairs: tuple[TaskPair, ...]
    compared: PairedComparison
    margin: MarginTest | None

    @property
    def p(self) -> float | None:
        """Of the test that answers the question."""
        return self.compared.p if self.margin is None else self.margin.p


def answers_of(
    questions: Sequence[Question], results: Sequence[EpisodeResult], *, alpha: float, seed: int
) -> tuple[Answer, ...]:
    """Answer each question, in their order.

    Registered questions are one family of Holm's correction, those that were not another: what
    nobody registered takes nothing from what was, and many looks at the data are still counted.
    """
    drafts = [_draft(one, results, alpha, seed) for one in questions]
    found: dict[int, Answer] = {}
    for is_registered in (True, False):
        family = [
            place for place, one in enumerate(drafts) if one.question.registered is is_registered
        ]
        adjusted = holm([drafts[place].p for place in family])
        for place, p in zip(family, adjusted, strict=True):
            found[place] = _answer(drafts[place], p, len(family), alpha, seed)
    return tuple(found[place] for place in range(len(questions)))


def paired_for(question: Question, results: Iterable[EpisodeResult]) -> tuple[TaskPair, ...]:
    """Return the pairs of tasks that a question compares."""
    held = [row for row in results if _is_held(question, row)]
    match question.of:
        case Compared.AGENTS:
            first = [row for row in held if row.agent == question.first]
            second = [row for row in held if row.agent == question.second]
        case Compared.WORLDS:
            first = [row for row in held if row.world is World(question.first)]
            second = [row for row in held if row.world is World(question.second)]
        case _:
            assert_never(question.of)
    return pair_tasks(first, second, question.of)


def _is_held(question: Question, row: EpisodeResult) -> bool:
    return (
        question.agent in {None, row.agent}
        and question.world in {None, row.world}
        and question.suite in {None, row.suite}
        and (not question.agents or row.agent in question.agents)
        and (question.repeats is None or row.repeat < question.repeats)
    )


def _draft(question: Question, results: Sequence[EpisodeResult], alpha: float, seed: int) -> _Draft:
    pairs = paired_for(question, results)
    return _Draft(
        question=question,
        pairs=pairs,
        compared=compare_pairs(pairs, seed=seed, confidence=1 - alpha),
        margin=_margin_test(question, pairs, alpha),
    )


def _margin_test(question: Question, pairs: Sequence[TaskPair], alpha: float) -> MarginTest | None:
    match question.kind:
        case QuestionKind.DIFFERENCE:
            return None
        case QuestionKind.EQUIVALENCE:
            return equivalence(pairs, question.margin or 0.0, alpha=alpha)
        case QuestionKind.NON_INFERIORITY:
            return non_inferiority(pairs, question.margin or 0.0, alpha=alpha)
        case _:
            assert_never(question.kind)


def _decision(
    question: Question, pairs: Sequence[TaskPair], strict: float, *, is_passed: bool
) -> Decision:
    """Decide: `yes` by the p of the family, `no` by the interval at alpha ÷ the family's size."""
    if is_passed:
        return Decision.YES
    tested = _margin_test(question, pairs, strict)
    is_otherwise = tested is not None and tested.decision is Decision.NO
    return Decision.NO if is_otherwise else Decision.UNDECIDED


def _answer(draft: _Draft, adjusted: float | None, family: int, alpha: float, seed: int) -> Answer:
    question, compared = draft.question, draft.compared
    is_passed = adjusted is not None and adjusted <= alpha
    decision = _decision(question, draft.pairs, alpha / family, is_passed=is_passed)
    known = [pair for pair in draft.pairs if pair.difference is not None]
    turn = _tipping(draft, adjusted, family, alpha, seed)
    asked = Asked(
        question=question,
        decision=decision,
        tasks=len({_task_of(question, pair) for pair in known}),
        first=compared.first,
        second=compared.second,
        effect=compared.effect,
        interval=compared.interval,
        p=adjusted,
        family=family,
        confidence=1 - alpha,
    )
    return Answer(
        question=question,
        sentence=sentence(asked),
        first_rate=compared.first,
        second_rate=compared.second,
        effect=compared.effect,
        interval=compared.interval,
        deciding_interval=None if draft.margin is None else draft.margin.interval,
        p=draft.p,
        p_adjusted=adjusted,
        family=family,
        method=_method(draft),
        tasks=asked.tasks,
        clusters=compared.clusters,
        episodes=sum(len(pair.sides[0].scored) + len(pair.sides[1].scored) for pair in known),
        differences=tuple(pair.difference or 0.0 for pair in known),
        unpaired=tuple(_task_of(question, pair) for pair in draft.pairs if pair.difference is None),
        decision=decision,
        bounds=compared.bounds,
        would_turn=None if turn is None else turning(asked, turn),
    )


def _task_of(question: Question, pair: TaskPair) -> str:
    """Return `SUITE/TASK` of a pair, whose name begins with what it is held at."""
    match question.of:
        case Compared.AGENTS:
            return pair.task.partition("/")[2]
        case Compared.WORLDS:
            return "/".join(pair.task.rsplit("/", 2)[-2:])
        case _:
            assert_never(question.of)


def _method(draft: _Draft) -> str:
    interval, test = draft.compared.interval_method, draft.compared.test
    if draft.margin is None:
        return f"{interval}; {test}"
    return f"{interval}; {draft.margin.method}"


def _tipping(
    draft: _Draft, adjusted: float | None, family: int, alpha: float, seed: int
) -> TippingPoint | None:
    """Return what would turn the decision; None where nothing is unscored.

    The other questions of the family stay as they are: the level that this one was held to is
    alpha × p ÷ adjusted p, and alpha ÷ the family's size where the adjusted p is cut off at 1.
    """
    played = [pair for pair in draft.pairs if pair.first and pair.second]
    if not any(side.unscored for pair in played for side in pair.sides):
        return None
    level = alpha / family
    if draft.p and adjusted and adjusted < 1:
        level = alpha * draft.p / adjusted
    decide = _decider(draft.question, level, alpha / family, seed)
    return tipping_point(played, decide, seed=seed)


def _decider(
    question: Question, level: float, strict: float, seed: int
) -> Callable[[Sequence[TaskPair]], str]:
    def decide(pairs: Sequence[TaskPair]) -> str:
        tested = _margin_test(question, pairs, level)
        if tested is not None:
            is_passed = tested.p is not None and tested.p <= level
            return _decision(question, pairs, strict, is_passed=is_passed).value
        p = paired_test(pairs, seed=seed, permutations=_FEWER).p
        if p is None or p > level:
            return Decision.UNDECIDED.value
        effect = sum(pair.difference or 0.0 for pair in pairs)
        return FIRST_BETTER if effect > 0 else SECOND_BETTER

    return decide
