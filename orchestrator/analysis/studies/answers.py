"""The answers to a study's questions: effect, interval, test, correction, what would turn them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, assert_never

from orchestrator.analysis.stats.design import PairedDesign, design_from
from orchestrator.analysis.stats.paired import (
    Decision,
    MarginTest,
    PairedComparison,
    compare_pairs,
    equivalence,
    non_inferiority,
    paired_test,
)
from orchestrator.analysis.stats.power import Simulation
from orchestrator.analysis.stats.results import (
    Compared,
    EpisodeTable,
    TaskOutcomes,
    TaskPair,
)
from orchestrator.analysis.stats.sequential import holm
from orchestrator.analysis.stats.unscored import TippingPoint, tipping_point
from orchestrator.analysis.studies.findings import (
    Answer,
    PowerFigures,
)
from orchestrator.analysis.studies.questions import (
    NO_STAGE,
    Question,
    QuestionKind,
    Stage,
    pairs_of,
)
from orchestrator.analysis.studies.sentences import (
    FIRST_BETTER,
    SECOND_BETTER,
    sentence,
    turning,
)
from orchestrator.analysis.wording import points

_POWER: Final = 0.8


_SIMULATIONS: Final = 200  # the power to 3 points: a page is not to wait for more
_FEWER: Final = 1_999  # permutations of each of the dozens of decisions of a tipping point


def power_figures(
    answers: Iterable[Answer], table: EpisodeTable, *, alpha: float, seed: int
) -> tuple[PowerFigures, ...]:
    """Return which difference each undecided question about one could have found."""
    found: list[PowerFigures] = []
    known: dict[PairedDesign, PowerFigures] = {}
    for answer in answers:
        question = answer.question
        is_open = answer.decision is Decision.UNDECIDED and answer.stage.may_decide
        if question.margin is not None or not is_open:
            continue
        pairs = [one for one in pairs_of(question, table) if one.difference is not None]
        if len(pairs) < 2:  # noqa: PLR2004
            continue
        sides = [pair.sides[1] for pair in pairs]
        design = design_from(sides, repeats=_repeats(sides))
        if design not in known:
            known[design] = _power(question.id, design, alpha, seed)
        found.append(replace(known[design], question=question.id))
    return tuple(found)


def _repeats(tasks: Sequence[TaskOutcomes]) -> int:
    return max(1, round(sum(len(task.scored) for task in tasks) / len(tasks)))


def _power(question: str, design: PairedDesign, alpha: float, seed: int) -> PowerFigures:
    needed = Simulation(
        wanted=_POWER, alpha=alpha, seed=seed, simulations=_SIMULATIONS
    ).detectable_difference(design)
    plays = "once" if design.repeats == 1 else f"{design.repeats} times"
    said = f"{design.tasks} pairs, each side played {plays}, with the spread seen here,"
    says = (
        f"{said} find no difference in {_POWER:.0%} of studies: {needed.undefined or 'none'}."
        if needed.value is None
        else f"{said} find a difference of {points(needed.value, signed=False)} points in"
        f" {_POWER:.0%} of studies (alpha = {alpha:g}, before any correction), and smaller ones"
        " less often."
    )
    return PowerFigures(question=question, power=_POWER, detectable=needed.value, says=says)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """What is known of a question before its family is."""

    question: Question
    stage: Stage
    pairs: tuple[TaskPair, ...]
    compared: PairedComparison
    margin: MarginTest | None

    @property
    def p(self) -> float | None:
        """Of the test that answers the question; None where nothing may be decided yet."""
        found = self.compared.p if self.margin is None else self.margin.p
        return found if self.stage.may_decide else None

    @property
    def overall_p(self) -> float | None:
        """The same with all looks counted."""
        return None if self.p is None else self.overall(self.p)

    def overall(self, p: float) -> float:
        """Return a p of this look with all looks counted."""
        return self.stage.overall(p, is_two_sided=self.margin is None)

    def level(self, alpha: float) -> float:
        """Return what a p of this look is held to."""
        return self.stage.level(alpha, is_two_sided=self.margin is None)


def answers_of(
    questions: Sequence[Question],
    table: EpisodeTable,
    *,
    alpha: float,
    seed: int,
    stages: Mapping[str, Stage] | None = None,
) -> tuple[Answer, ...]:
    """Answer each question, in their order.

    Registered questions are one family of Holm's correction, those that were not another: what
    nobody registered takes nothing from what was, and many looks at the data are still counted.
    Nothing is decided of a question that is not done, but at a look of a registered sequential
    design.

    Args:
        questions: their ids are distinct.
        alpha: level of each family.
        seed: of everything that draws numbers.
        stages: how far each question is, by its id; one that is not named is done.
    """
    known = stages or {}
    drafts = [_draft(one, table, known.get(one.id, NO_STAGE), alpha, seed) for one in questions]
    found: dict[int, Answer] = {}
    for is_registered in (True, False):
        family = [
            place for place, one in enumerate(drafts) if one.question.registered is is_registered
        ]
        adjusted = holm([drafts[place].overall_p for place in family])
        for place, p in zip(family, adjusted, strict=True):
            found[place] = _answer(drafts[place], p, len(family), alpha, seed)
    return tuple(found[place] for place in range(len(questions)))


def _draft(
    question: Question, table: EpisodeTable, stage: Stage, alpha: float, seed: int
) -> _Draft:
    pairs = pairs_of(question, table)
    return _Draft(
        question=question,
        stage=stage,
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
    """Decide: `yes` by the p of the family, `no` by the opposite at alpha ÷ the family's size."""
    if is_passed:
        return Decision.YES
    tested = _margin_test(question, pairs, strict)
    is_otherwise = tested is not None and tested.decision is Decision.NO
    return Decision.NO if is_otherwise else Decision.UNDECIDED


def _answer(draft: _Draft, adjusted: float | None, family: int, alpha: float, seed: int) -> Answer:
    question, compared = draft.question, draft.compared
    decision, turn = Decision.UNDECIDED, None
    if draft.stage.may_decide:
        is_passed = adjusted is not None and adjusted <= alpha
        strict = draft.level(alpha / family)
        decision = _decision(question, draft.pairs, strict, is_passed=is_passed)
        turn = _tipping(draft, adjusted, family, alpha, seed)
    p = draft.p
    if decision is Decision.NO and draft.margin is not None:
        # What is shown is the opposite of what was asked, so the p is that of the opposite.
        p = draft.margin.p_against
        adjusted = None if p is None else min(1.0, family * draft.overall(p))
    known = [pair for pair in draft.pairs if pair.difference is not None]
    found = Answer(
        question=question,
        sentence="",
        stage=draft.stage,
        is_interim=draft.stage.is_interim,
        first_rate=compared.first,
        second_rate=compared.second,
        effect=compared.effect,
        interval=compared.interval,
        deciding_interval=None if draft.margin is None else draft.margin.interval,
        bca=compared.bca,
        p=p,
        p_adjusted=adjusted,
        smallest_p=None if draft.margin is not None or p is None else compared.smallest,
        family=family,
        method=_method(draft),
        tasks=len({_task_of(question, pair) for pair in known}),
        clusters=compared.clusters,
        episodes=sum(len(pair.sides[0].scored) + len(pair.sides[1].scored) for pair in known),
        differences=tuple(pair.difference or 0.0 for pair in known),
        unpaired=tuple(_task_of(question, pair) for pair in draft.pairs if pair.difference is None),
        decision=decision,
        bounds=compared.bounds,
        would_turn=None if turn is None else turning(question, turn),
    )
    return replace(found, sentence=sentence(found, 1 - alpha, turn))


def _task_of(question: Question, pair: TaskPair) -> str:
    """Return `SUITE/TASK` of a pair, whose name begins with what it is held at."""
    match question.of:
        case Compared.AGENTS:
            return pair.task.partition("/")[2]
        case Compared.WORLDS | Compared.ARMS:
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
    alpha × p ÷ adjusted p, and alpha ÷ the family's size where the adjusted p is cut off at 1, as a
    p of this look is held to it.
    """
    played = [pair for pair in draft.pairs if pair.first and pair.second]
    if not any(any(pair.unscored) for pair in played):
        return None
    share = alpha / family
    if draft.overall_p and adjusted and adjusted < 1:
        share = alpha * draft.overall_p / adjusted
    strict = draft.level(alpha / family)
    decide = _decider(draft.question, draft.level(share), strict, seed)
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
