"""The answer to a question as a sentence for a reader who knows nothing of the study."""

from __future__ import annotations

from typing import Final, assert_never

from orchestrator.analysis.stats.paired import Decision
from orchestrator.analysis.stats.rates import NOTHING
from orchestrator.analysis.stats.results import Compared
from orchestrator.analysis.stats.unscored import TippingPoint, Turn
from orchestrator.analysis.studies.findings import Answer
from orchestrator.analysis.studies.questions import Question, QuestionKind
from orchestrator.analysis.wording import joined, p_said, points

FIRST_BETTER: Final = "first better"
SECOND_BETTER: Final = "second better"


def sentence(asked: Answer, confidence: float, could_turn: TippingPoint | None) -> str:
    """Return the answer; what is undecided is said so, and never as `no difference`.

    Args:
        asked: all that was found; its own sentence is not looked at.
        could_turn: how the unscored episodes could turn the decision; None where there are none.
    """
    question = asked.question
    if asked.effect is None or asked.first_rate is None or asked.second_rate is None:
        said = f"Undecided{_held(question)}: {_nothing(question)}"
        return f"{_progress(asked)}{said}{_status(question)}."
    return (
        f"{_progress(asked)}{_rates(asked)}: {_verdict(asked)}"
        f" ({_evidence(asked, confidence)}){_caveat(asked, could_turn)}{_status(question)}."
    )


def _nothing(question: Question) -> str:
    first, second = question.sides
    if question.of is Compared.ARMS:
        who = question.agent or joined(question.agents) or "any agent"
        return f"no repeat of a task by {who} is scored in both {first} and {second}"
    return f"no task has a scored episode of both {first} and {second}"


def turning(question: Question, found: TippingPoint) -> str:
    """Say what the unscored episodes would have to be to turn the answer."""
    first, second = question.sides
    counts = f"{first} {found.first_unscored}, {second} {found.second_unscored}"
    if not found.turns:
        return f"However the unscored episodes ({counts}) had ended, this answer would stand."
    ways = ", or ".join(
        f"“{_became(question, turn)}” if {turn.first_succeed} of {first} and"
        f" {turn.second_succeed} of {second} had succeeded"
        for turn in found.turns
    )
    return f"This depends on the unscored episodes ({counts}); it would be {ways}."


def _progress(asked: Answer) -> str:
    stage = asked.stage
    if not stage.is_interim:
        return ""
    look = f", look {len(stage.looks)}" if stage.may_decide else ""
    return f"Interim, {stage.ended:,} of {stage.planned:,} episodes{look}. "


def _caveat(asked: Answer, found: TippingPoint | None) -> str:
    """Say that the unscored could turn a decision, beside the decision."""
    if found is None or not found.turns or asked.decision is Decision.UNDECIDED:
        return ""
    unscored = found.first_unscored + found.second_unscored
    return (
        "; the one unscored episode could turn this"
        if unscored == 1
        else f"; the {unscored} unscored episodes could turn this"
    )


def _rates(asked: Answer) -> str:
    question = asked.question
    tasks = "On the one task" if asked.tasks == 1 else f"On the same {asked.tasks} tasks"
    first, second = _two_shares(asked.first_rate or 0.0, asked.second_rate or 0.0)
    match question.of:
        case Compared.AGENTS:
            place = f"{tasks}{_held(question)}"
            return f"{place}, {question.first} solved {first} and {question.second} {second}"
        case Compared.WORLDS:
            who = question.agent or joined(question.agents) or "the agents"
            at = f" of {question.suite}" if question.suite else ""
            at += _first_repeats(question)
            return (
                f"{tasks}{at}, {who} solved {first} {question.first} and {second} {question.second}"
            )
        case Compared.ARMS:
            who = question.agent or joined(question.agents) or "the agents"
            names = question.sides
            place = f"{tasks}{_held(question)}"
            return f"{place}, {who} solved {first} in {names[0]} and {second} in {names[1]}"
        case _:
            assert_never(question.of)


def _two_shares(first: float, second: float) -> tuple[str, str]:
    """Return both as percentages, with a digit more where the same would hide a difference."""
    digits = 1 if abs(first - second) > NOTHING and f"{first:.0%}" == f"{second:.0%}" else 0
    return f"{first:.{digits}%}", f"{second:.{digits}%}"


def _held(question: Question) -> str:
    at = f" of {question.suite}" if question.suite else ""
    arm = f", in arm {question.arm}" if question.arm else ""
    world = f", {question.world}" if question.world else ""
    return f"{at}{arm}{world}{_first_repeats(question)}"


def _first_repeats(question: Question) -> str:
    if question.repeats is None:
        return ""
    number = question.repeats
    return f", {'the first repeat' if number == 1 else f'the first {number} repeats'}"


def _verdict(asked: Answer) -> str:
    if not asked.stage.may_decide:
        return _so_far(asked)
    match asked.question.kind:
        case QuestionKind.DIFFERENCE:
            return _difference(asked)
        case QuestionKind.EQUIVALENCE:
            return _equivalence(asked)
        case QuestionKind.NON_INFERIORITY:
            return _non_inferiority(asked)
        case _:
            assert_never(asked.question.kind)


def _so_far(asked: Answer) -> str:
    effect = asked.effect or 0.0
    when = "the end" if asked.stage.spending is None else "the end or the next look"
    nothing = f"nothing is decided before {when}"
    if abs(effect) <= NOTHING:
        return f"they are equal so far, and {nothing}"
    ahead = asked.question.sides[0 if effect > 0 else 1]
    return f"{ahead} is {points(effect, signed=False)} points ahead so far, and {nothing}"


def _difference(asked: Answer) -> str:
    effect = asked.effect or 0.0
    first, second = asked.question.sides
    size = points(effect, signed=False)
    of_places = asked.question.of is not Compared.AGENTS
    if asked.decision is Decision.UNDECIDED:
        which = "easier" if of_places else "better"
        if abs(effect) <= NOTHING:
            return f"undecided which is {which}, if any; they came out equal"
        ahead = first if effect > 0 else second
        return f"undecided which is {which}; {ahead} is {size} points ahead, too little to tell"
    better, worse = (first, second) if effect > 0 else (second, first)
    if of_places:
        return f"{better} is easier than {worse} by {size} points"
    return f"{better} is better by {size} points"


def _equivalence(asked: Answer) -> str:
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


def _non_inferiority(asked: Answer) -> str:
    first, second = asked.question.sides
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


def _evidence(asked: Answer, confidence: float) -> str:
    said = _interval(asked, confidence)
    if asked.stage.looks and asked.interval is not None:
        said += " for this look alone"
    return f"{said}, {_p(asked)}" if asked.stage.may_decide else said


def _interval(asked: Answer, confidence: float) -> str:
    if asked.interval is None:
        return "no interval"
    # As the verdict counts it: from the side that is ahead.
    low, high = asked.interval.low, asked.interval.high
    is_of_lead = asked.question.kind is QuestionKind.DIFFERENCE or not asked.stage.may_decide
    ends = (-high, -low) if is_of_lead and (asked.effect or 0.0) < 0 else (low, high)
    return f"{confidence * 100:g}% interval {' to '.join(map(_signless, ends))}"


def _p(asked: Answer) -> str:
    said = p_said(asked.p_adjusted)
    if asked.family > 1:
        whose = "Bonferroni" if asked.decision is Decision.NO else "Holm"
        said += f" after {whose}'s correction over {asked.family} questions"
    looks = len(asked.stage.looks) + (not asked.stage.is_interim)
    return f"{said}, with all {looks} looks counted" if asked.stage.looks and looks > 1 else said


def _signless(share: float) -> str:
    said = points(share)
    return said.removeprefix("+")


def _status(question: Question) -> str:
    if question.registered:
        return ""
    return f" – {'with what was added, ' if question.is_with_added else ''}not registered"


def _became(question: Question, turn: Turn) -> str:
    first, second = question.sides
    ahead = "easier" if question.of is Compared.ARMS else "better"
    words = {FIRST_BETTER: f"{first} is {ahead}", SECOND_BETTER: f"{second} is {ahead}"}
    if turn.decision in words:
        return words[turn.decision]
    if turn.decision == Decision.UNDECIDED.value:
        return "undecided"
    is_yes = turn.decision == Decision.YES.value
    margin = points(question.margin, signed=False)
    if question.kind is QuestionKind.EQUIVALENCE:
        return f"{'equivalent' if is_yes else 'not equivalent'} within {margin} points"
    return f"{'at most' if is_yes else 'more than'} {margin} points worse"


def held_at(question: Question) -> str:
    """Return what a question is held at: ` (hasty, demo)`; nothing where at nothing."""
    parts = [
        question.agent,
        None if question.arm is None else f"arm {question.arm}",
        None if question.world is None else question.world.value,
        question.suite,
        "+".join(question.agents) or None,
        None if question.repeats is None else f"first {question.repeats} repeats",
        "with what was added" if question.is_with_added else None,
    ]
    said = ", ".join(part for part in parts if part is not None)
    return f" ({said})" if said else ""


def question_title(question: Question) -> str:
    """Return a question in a few words: `A − B (offline)`, `offline ≈ online (A): within 5`."""
    first, second, at = question.first, question.second, held_at(question)
    margin = points(question.margin, signed=False)
    match question.kind:
        case QuestionKind.DIFFERENCE:
            return f"{first} − {second}{at}"
        case QuestionKind.EQUIVALENCE:
            return f"{first} − {second}{at}: within {margin} points?"
        case QuestionKind.NON_INFERIORITY:
            return f"{first} − {second}{at}: at most {margin} points worse?"
        case _:
            assert_never(question.kind)


def decision_said(answer: Answer) -> str:
    """Return the decision in a word, with `interim` where episodes are still to be played."""
    if not answer.is_interim:
        return str(answer.decision)
    return f"{answer.decision} (interim)" if answer.stage.may_decide else "interim"


def short_answer(answer: Answer) -> str:
    """Return an answer in two or three words; `undecided` where there is none.

    One of a question that is not done is marked `interim`.
    """
    if not answer.is_interim:
        return _short_answer(answer)
    return f"{_short_answer(answer)} (interim)" if answer.stage.may_decide else "interim"


def _short_answer(answer: Answer) -> str:
    if answer.decision is Decision.UNDECIDED:
        return "undecided"
    is_yes = answer.decision is Decision.YES
    match answer.question.kind:
        case QuestionKind.DIFFERENCE:
            better = "first" if (answer.effect or 0) > 0 else "second"
            return f"{better} better" if is_yes else "undecided"
        case QuestionKind.EQUIVALENCE:
            return "equivalent" if is_yes else "not equivalent"
        case QuestionKind.NON_INFERIORITY:
            return "not inferior" if is_yes else "inferior"
        case _:
            assert_never(answer.question.kind)
