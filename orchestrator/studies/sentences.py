"""The answer to a question as a sentence for a reader who knows nothing of the study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from orchestrator.stats.equivalence import Decision
from orchestrator.stats.rates import Interval
from orchestrator.stats.results import Compared
from orchestrator.stats.unscored import TippingPoint, Turn
from orchestrator.studies.questions import Question, QuestionKind
from orchestrator.studies.wording import p_said, points

FIRST_BETTER: Final = "first better"
SECOND_BETTER: Final = "second better"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question with what was found, as its sentence needs it.

    Attributes:
        p: after Holm's correction over `family` questions.
        interval: of the effect, at `confidence`.
    """

    question: Question
    decision: Decision
    tasks: int
    first: float | None
    second: float | None
    effect: float | None
    interval: Interval | None
    p: float | None
    family: int
    confidence: float


def sentence(asked: Asked) -> str:
    """Return the answer; what is undecided is said so, and never as `no difference`."""
    question = asked.question
    if asked.effect is None or asked.first is None or asked.second is None:
        return (
            f"Undecided{_held(question)}: there is no task of which both {_name(question, 1)} and"
            f" {_name(question, 2)} have a scored episode{_status(question)}."
        )
    return f"{_rates(asked)}: {_verdict(asked)} ({_evidence(asked)}){_status(question)}."


def turning(asked: Asked, found: TippingPoint) -> str:
    """Say what the unscored episodes would have to be to turn the answer."""
    first, second = _name(asked.question, 1), _name(asked.question, 2)
    counts = f"{first} {found.first_unscored}, {second} {found.second_unscored}"
    if not found.turns:
        return f"However the unscored episodes ({counts}) had ended, this answer would stand."
    ways = ", or ".join(
        f"“{_became(asked.question, turn)}” if {turn.first_succeed} of {first} and"
        f" {turn.second_succeed} of {second} had succeeded"
        for turn in found.turns
    )
    return f"This depends on the unscored episodes ({counts}); it would be {ways}."


def _rates(asked: Asked) -> str:
    question = asked.question
    tasks = "On the one task" if asked.tasks == 1 else f"On the same {asked.tasks} tasks"
    first, second = _two_shares(asked.first or 0.0, asked.second or 0.0)
    match question.of:
        case Compared.AGENTS:
            place = f"{tasks}{_held(question)}"
            return f"{place}, {question.first} solved {first} and {question.second} {second}"
        case Compared.WORLDS:
            who = question.agent or _listed(question.agents) or "the agents"
            at = f" of {question.suite}" if question.suite else ""
            at += _first_repeats(question)
            return (
                f"{tasks}{at}, {who} solved {first} {question.first} and {second} {question.second}"
            )
        case _:
            assert_never(question.of)


def _two_shares(first: float, second: float) -> tuple[str, str]:
    """Return both as percentages, with a digit more where the same would hide a difference."""
    digits = 1 if first != second and f"{first:.0%}" == f"{second:.0%}" else 0
    return f"{first:.{digits}%}", f"{second:.{digits}%}"


def _held(question: Question) -> str:
    at = f" of {question.suite}" if question.suite else ""
    world = f", {question.world}" if question.world else ""
    return f"{at}{world}{_first_repeats(question)}"


def _first_repeats(question: Question) -> str:
    if question.repeats is None:
        return ""
    number = question.repeats
    return f", {'the first repeat' if number == 1 else f'the first {number} repeats'}"


def _listed(names: Sequence[str]) -> str:
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else "".join(names)


def _verdict(asked: Asked) -> str:
    match asked.question.kind:
        case QuestionKind.DIFFERENCE:
            return _difference(asked)
        case QuestionKind.EQUIVALENCE:
            return _equivalence(asked)
        case QuestionKind.NON_INFERIORITY:
            return _non_inferiority(asked)
        case _:
            assert_never(asked.question.kind)


def _difference(asked: Asked) -> str:
    effect = asked.effect or 0.0
    first, second = _name(asked.question, 1), _name(asked.question, 2)
    size = points(effect, signed=False)
    of_worlds = asked.question.of is Compared.WORLDS
    if asked.decision is Decision.UNDECIDED:
        which = "easier" if of_worlds else "better"
        if not effect:
            return f"undecided which is {which}, if any; they came out equal"
        ahead = first if effect > 0 else second
        return f"undecided which is {which}; {ahead} is {size} points ahead, too little to tell"
    better, worse = (first, second) if effect > 0 else (second, first)
    if of_worlds:
        return f"{better} is easier than {worse} by {size} points"
    return f"{better} is better by {size} points"


def _equivalence(asked: Asked) -> str:
    margin = points(asked.question.margin, signed=False)
    claim = f"equivalent within {margin} points"
    apart = f"they differ by {points(asked.effect, signed=False)} points"
    match asked.decision:
        case Decision.YES:
            return f"{apart}, and are {claim}"
        case Decision.NO:
            return f"{apart}, and are not {claim}"
        case Decision.UNDECIDED:
            return f"undecided whether they are {claim}"
        case _:
            assert_never(asked.decision)


def _non_inferiority(asked: Asked) -> str:
    first, second = _name(asked.question, 1), _name(asked.question, 2)
    margin = points(asked.question.margin, signed=False)
    claim = f"at most {margin} points worse than {second}"
    match asked.decision:
        case Decision.YES:
            return f"{first} is {claim}"
        case Decision.NO:
            return f"{first} is more than {margin} points worse than {second}"
        case Decision.UNDECIDED:
            return f"undecided whether {first} is {claim}"
        case _:
            assert_never(asked.decision)


def _evidence(asked: Asked) -> str:
    parts = []
    if asked.interval is not None:
        # As the verdict counts it: from the side that is ahead.
        low, high = asked.interval.low, asked.interval.high
        is_turned = asked.question.kind is QuestionKind.DIFFERENCE and (asked.effect or 0.0) < 0
        ends = (-high, -low) if is_turned else (low, high)
        said = " to ".join(_signless(end) for end in ends)
        parts.append(f"{asked.confidence * 100:g}% interval {said}")
    else:
        parts.append("no interval")
    corrected = f" after Holm's correction over {asked.family} questions"
    parts.append(f"{p_said(asked.p)}{corrected if asked.family > 1 else ''}")
    return ", ".join(parts)


def _signless(share: float) -> str:
    said = points(share)
    return said.removeprefix("+")


def _status(question: Question) -> str:
    if question.registered:
        return ""
    return f" – {'with what was added, ' if question.is_with_added else ''}not registered"


def _name(question: Question, side: int) -> str:
    return question.first if side == 1 else question.second


def _became(question: Question, turn: Turn) -> str:
    first, second = _name(question, 1), _name(question, 2)
    words = {FIRST_BETTER: f"{first} is better", SECOND_BETTER: f"{second} is better"}
    if turn.decision in words:
        return words[turn.decision]
    if turn.decision == Decision.UNDECIDED.value:
        return "undecided"
    is_yes = turn.decision == Decision.YES.value
    margin = points(question.margin, signed=False)
    if question.kind is QuestionKind.EQUIVALENCE:
        return f"{'equivalent' if is_yes else 'not equivalent'} within {margin} points"
    return f"{'at most' if is_yes else 'more than'} {margin} points worse"
