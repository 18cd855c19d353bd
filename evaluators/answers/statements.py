"""What a whole statement says against its question, though every word of it is explained."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from evaluators.answers import words as words_of
from evaluators.answers.question import Question
from evaluators.answers.words import VALUE, tokens_of


def statement_fault(
    statement: str, tokens: Sequence[str], question: Question, *, is_name: bool
) -> str | None:
    """Say what of a statement is against its question; None where nothing is.

    Args:
        tokens: of it, in lower case.
        is_name: whether its values are names, that one of the question could be given instead.
    """
    gives = VALUE in tokens
    return (
        _part_fault(tokens, question)
        or _deed_fault(tokens, question)
        or (_whole_fault(tokens, question) if gives else None)
        or _limit_fault(statement, question)
        or (_omission_fault(tokens, question) if gives else None)
        or (_landmark_fault(tokens, question) if gives else None)
        or (_rival_fault(tokens, question) if is_name else None)
        or _choice_fault(tokens, question)
        or _period_fault(tokens, question)
        or _shortened_fault(tokens_of(statement), question)
    )


def _shortened_fault(written: Sequence[str], question: Question) -> str | None:
    """Say which name leaves a word out of the question's: `Coast Run`, of `Coast Fun Run`."""
    for pair in pairwise(written):
        first, last = map(str.casefold, pair)
        is_name = all(one[:1].isupper() for one in pair) and (first, last) not in question.pairs
        if is_name and any({(first, one), (one, last)} <= question.pairs for one in question.names):
            return f"says '{' '.join(pair)}'"
    return None


def _period_fault(tokens: Sequence[str], question: Question) -> str | None:
    """Say which period a statement speaks of that the question does not: `this month`."""
    for which, period in pairwise(tokens):
        is_now = which in _PRESENT and words_of.normal(period) in _PERIODS
        if is_now and (which, period) not in question.pairs:
            return f"says '{which} {period}'"
    return None


_PRESENT: Final = words_of.words("this current coming")
_PERIODS: Final = frozenset(
    map(words_of.normal, ("day", "week", "month", "quarter", "year", "season", "summer", "winter"))
)


def request_fault(tokens: Sequence[str], question: Question) -> str | None:
    """Say that a statement asks for what the question wants to know: `switch on the lamp`."""
    words = (one for one in tokens if one == VALUE or one[:1].isalpha())
    first = next((one for one in words if one != "please"), "")
    if tokens[:2] == [first, ":"]:
        return None
    is_base = not first.endswith(("ed", "ing", "ee", "er", "ees", "ers"))
    asks = is_base and words_of.normal(first) in question.roles.passives
    return f"asks to '{first}'" if asks else None


def _limit_fault(statement: str, question: Question) -> str | None:
    """Say that a value only begins what is meant, or is one of several that would be right."""
    asked = {word for pair in question.pairs for word in pair}
    if _ONWARDS.search(statement) and "from" not in asked:
        return "says 'from' when it is so"
    if _AS_MANY.search(statement) and ("as", "many") not in question.pairs:
        return "says 'as many as'"
    if _ONE_OF.match(statement) and ("one", "of") not in question.pairs:
        return "says 'one of'"
    return None


_ONWARDS: Final = re.compile(rf"\bfrom\s+{VALUE}\W+on(?:wards?)?\W*$", re.IGNORECASE)


def _omission_fault(tokens: Sequence[str], question: Question) -> str | None:
    """Say which negation of the question a statement leaves out: of `with no results`, `no`."""
    said = set(map(words_of.normal, tokens))
    if not words_of.NEGATIONS.isdisjoint(tokens) or not said.isdisjoint({"0", "zero"}):
        return None
    for run in question.runs:
        is_denied = not words_of.NEGATIONS.isdisjoint(run.words)
        if is_denied and run.behind in said and run.ahead in said - {""}:
            return f"leaves out '{run.words[0]}'"
    return None


def _landmark_fault(tokens: Sequence[str], question: Question) -> str | None:
    """Say that a statement speaks of what the thing asked for is only closest to."""
    near = {one for run in question.runs for one in run.words} & _NEAREST
    if not near or not near.isdisjoint(tokens):
        return None
    landmark = {word for word, way in question.roles.ways if way == "to"}
    subject = set(words_of.contents(tokens[: tokens.index(VALUE)])) - {words_of.normal(VALUE)}
    return f"says it of '{min(subject)}'" if subject and subject <= landmark else None


_NEAREST: Final = words_of.words("closest nearest")
_AS_MANY: Final = re.compile(r"\bas (?:many|much|few|little)\b", re.IGNORECASE)
_ONE_OF: Final = re.compile(r"\W*one of\b", re.IGNORECASE)


def _part_fault(tokens: Sequence[str], question: Question) -> str | None:
    """Say which part that the question has included is said by itself: `the tax is`."""
    said = {words_of.normal(token): token for token in tokens}
    asked = {word for pair in question.pairs for word in pair}
    joined = _INCLUDING | (_JOINING & asked)  # `the price with tax`
    alone = question.parts & said.keys() if joined.isdisjoint(said) else frozenset[str]()
    return next((f"says '{said[part]}' by itself" for part in sorted(alone)), None)


def _deed_fault(tokens: Sequence[str], question: Question) -> str | None:
    """Say what is said to be done that the question only names: `merged`, of merge requests."""
    for at, (ahead, word) in enumerate(pairwise(tokens)):
        stem = words_of.normal(word)
        is_done = ahead in _BEEN and word.endswith("ed") and VALUE in tokens[max(0, at - 2) : at]
        if is_done and stem in question.roles.modifiers - question.verbs:
            return f"says '{ahead} {word}'"
    return None


def _whole_fault(tokens: Sequence[str], question: Question) -> str | None:
    """Say that a statement gives the whole of which a part is asked: `the price was`."""
    ahead = tokens[: tokens.index(VALUE)]
    whole = next((one for one in ahead if words_of.normal(one) in question.wholes), None)
    deeds = question.verbs - question.wholes
    if whole is None or "of" in ahead or not deeds.isdisjoint(map(words_of.normal, tokens)):
        return None
    return f"says it of '{whole}', of which a part is asked"


_BEEN: Final = words_of.words("been was were are is being")
_JOINING: Final = words_of.words("with plus before after without minus less adding add")
_INCLUDING: Final = frozenset(map(words_of.normal, ("included", "excluded", "including")))


def _rival_fault(tokens: Sequence[str], question: Question) -> str | None:
    """Say which name of the question stands where another answer would, or does another's deed."""
    names = question.names - words_of.FUNCTION - words_of.FRAME
    part: list[str] = []
    for token in (*tokens, ","):
        if token in {",", ";", "/", "."}:
            is_title = part and (",", part[0]) in question.pairs  # `Teapot 0.4 L, Moss`
            if part and names.issuperset(part) and not is_title:
                return f"says '{' '.join(part)}' as if it were an answer"
            part = []
        elif token[0].isalnum() or token == VALUE:
            deed = part[-1:] and part[-1] in names and words_of.looks_like_verb(token)
            said = {(one, words_of.normal(other)) for one, other in question.pairs}
            is_said = (part[-1], words_of.normal(token)) in said if part else False
            if deed and token not in names and not is_said:
                return f"says '{part[-1]} {token}'"
            part.append(token)
    return None


def _choice_fault(tokens: Sequence[str], question: Question) -> str | None:
    """Say which of several things that the question holds against one another is said alone."""
    for choices in question.choices:
        said = [name for name in choices if _holds(tokens, name)]
        if said and len(said) < len(choices):
            return f"says '{' '.join(said[0])}', one of several in the question"
    return None


def _holds(tokens: Sequence[str], name: Sequence[str]) -> bool:
    return any(
        tuple(tokens[at : at + len(name)]) == tuple(name)
        for at in range(len(tokens) - len(name) + 1)
    )
