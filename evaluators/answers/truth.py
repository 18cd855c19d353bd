"""Yes and no."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from evaluators.answers.base import AnswerKind, Span
from evaluators.answers.roles import Roles
from evaluators.answers.subjects import subject_fault
from evaluators.answers.words import (
    CLAUSE,
    FRAME,
    PAST,
    SAID,
    TOKEN,
    VALUE,
    contents,
    normal,
    words,
)

_YES: Final = (
    "yes",
    "y",
    "yep",
    "yeah",
    "true",
    "correct",
    "affirmative",
    "indeed",
    "that's right",
    "that is correct",
    "that's correct",
    "it is true",
)
_NO: Final = (
    "no",
    "n",
    "nope",
    "false",
    "negative",
    "incorrect",
    "that's wrong",
    "that is incorrect",
    "that is false",
    "not true",
    "not yet",
)


@dataclass(frozen=True, slots=True)
class BooleanKind(AnswerKind[bool]):
    """Yes or no.

    Attributes:
        yes, no: other words that mean them: `closed`, `open`.
    """

    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()
    noun = "a yes or a no"

    def read(self, written: str) -> bool:
        """Return which it is."""
        word = written.strip().casefold()
        if word in {*_YES, *self.yes}:
            return True
        if word in {*_NO, *self.no}:
            return False
        raise ValueError(f"is neither true nor false: {written!r}")

    def find(self, text: str, wanted: Sequence[bool]) -> Sequence[Span[bool]]:
        """Return every yes and no of a text, the other words for them too."""
        del wanted
        spans: list[Span[bool]] = []
        for found in self._pattern.finditer(text):
            word = found.group().casefold()
            if word == "not yet" and text[found.end() :].strip(" .!\n"):
                continue  # it has not yet been sent
            own = word in {*(one.casefold() for one in self.yes), *_YES}
            negation = _IS_NEGATED.search(text[: found.start()].casefold())
            begin = found.start() if negation is None else negation.start()
            spans.append(Span(begin, found.end(), own is (negation is None)))
        return spans

    def meaning(self, words: str) -> bool | None:
        """Return what a key of JSON means where it is true: `in_stock`; None where it says none."""
        folded = words.casefold()
        if folded in map(str.casefold, self.yes):
            return True
        return False if folded in map(str.casefold, self.no) else None

    @property
    def _pattern(self) -> re.Pattern[str]:
        words = sorted({*_YES, *_NO, *self.yes, *self.no}, key=len, reverse=True)
        return re.compile(
            rf"(?<![\w/-])(?<!\w')(?:{'|'.join(map(re.escape, words))})"
            r"(?![\w/-]|'\w|\s(?:answer|response|value)\b)",
            re.IGNORECASE,
        )


_IS_NEGATED: Final = re.compile(r"(?:\bnot|n't)\s(?:yet\s|currently\s)?$")
# What a clause behind a no may negate with, right behind its verb.
NEGATED: Final = words("""
    not cannot can't isn't wasn't aren't weren't doesn't don't didn't hasn't haven't won't
""")
_VERBS: Final = words("is are was were can does do did has have will")


def boolean_fault(
    masked: str, bare: str, spans: Sequence[Span[bool]], stems: frozenset[str]
) -> str | None:
    """Say what beside a yes or a no is not a clause of its own that says the same.

    Args:
        masked: the answer with its values masked.
        bare: the answer.
        spans: its values.
        stems: the words of the question, in their normal form.
    """
    tokens = [token.casefold() for token in TOKEN.findall(masked)]
    negations = [at for at, token in enumerate(tokens) if token in NEGATED]
    is_yes = bool(spans[0].value)
    for at in negations:
        if is_yes or not _negates_a_clause(tokens, at, stems):
            return f"negates with '{tokens[at]}'"
    words_alone = [bare[span.start : span.end].casefold() in {*_YES, *_NO} for span in spans]
    behind = masked.split(VALUE)[1:]
    for is_alone, after in zip(words_alone, behind, strict=True):
        follows = re.match(r" +([^\W\d][\w']*)", after)
        if is_alone and follows is not None and follows[1].casefold() not in CLAUSE:
            return f"says '{follows[1]}' right behind it"
    if not is_yes and re.match(r"\s+that\b", behind[0]) and (negations or behind[1:]):
        return "negates what it says is untrue"
    if is_yes or negations or not all(words_alone):
        return None
    clause = TOKEN.findall(behind[-1].split("\n")[0])
    says_so = any(token[0].isalpha() for token in clause)
    return "says no, and then that it is so" if says_so else None


def restated(bare: str, polar: Sequence[str], roles: Roles) -> bool | None:
    """Return what a sentence says that only says the question again; None for any other.

    Args:
        bare: the sentence.
        polar: the words with content of the question, in their order.
        roles: of the words of the question.
    """
    written = [*TOKEN.findall(bare.rstrip(".!")), VALUE]
    if subject_fault(written, roles, frozenset(), is_words=False, is_name=False) is not None:
        return None
    tokens = [token.casefold() for token in TOKEN.findall(bare.rstrip(".!"))]
    tokens = [token for token in tokens if token not in _SINCE]
    polar = [word for word in polar if word not in _SINCE]
    negations = [token for token in tokens if token in NEGATED]
    said = list(contents([token for token in tokens if token not in NEGATED]))
    rest = iter(polar)
    in_order = all(word in rest for word in said)
    if not in_order or len(said) < min(2, len(polar)) or said[-1:] != list(polar[-1:]) or not said:
        return None
    does = {verb for verb, _ in roles.doers}
    is_finite = not _FINITE.isdisjoint(tokens) or any(
        normal(one) in does and (one in PAST or one.endswith(("s", "ed"))) for one in tokens
    )
    is_plain = {"by", ",", "?", ":"}.isdisjoint(tokens) and is_finite
    return negations == [] if is_plain and len(negations) < 2 else None  # noqa: PLR2004


_SINCE: Final = words("yet already currently now")
_FINITE: Final = NEGATED - words("not") | words("is are was were can does do did has have it's")


def _negates_a_clause(tokens: Sequence[str], at: int, stems: frozenset[str]) -> bool:
    """Say whether a negation stands in a clause with a subject, and is not of the answer itself."""
    subject = at - 1 if tokens[at] == "not" and tokens[at - 1] in _VERBS else at
    if tokens[at] == "not" and tokens[at - 1] not in _VERBS | {"it's", "they're", "he's", "she's"}:
        return False
    before = tokens[subject - 1] if subject else ""
    frames = FRAME & set(tokens[at:])
    return (
        (before[:1].isalnum() or before.startswith(SAID))
        and stems.issuperset(map(normal, frames))
        and VALUE not in tokens[at:]
    )
