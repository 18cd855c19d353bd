"""Yes and no."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from evaluators.answers.base import AnswerKind, Span
from evaluators.answers.question import Question
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


_HAS_NONE: Final = re.compile(r"\b(?:has|have|had|are|is|was|were|there's)\s+$", re.IGNORECASE)
_IS_NEGATED: Final = re.compile(r"(?:\bnot|n't)\s(?:yet\s|currently\s)?$")
# What a clause behind a no may negate with, right behind its verb.
NEGATED: Final = words("""
    not cannot can't isn't wasn't aren't weren't doesn't don't didn't hasn't haven't won't
""")
_VERBS: Final = words("is are was were can does do did has have will")


_OPPOSITES: Final = [
    tuple(pair.split("/"))
    for pair in (
        *("open/closed", "open/shut", "available/unavailable", "in stock/out of stock"),
        *("in stock/sold out", "available/sold out", "available/out of stock", "allowed/forbidden"),
        *("allowed/prohibited", "enabled/disabled", "public/private", "active/inactive"),
        *("the same/different", "included/excluded", "online/offline", "valid/invalid"),
        *("free/chargeable", "empty/full", "possible/impossible", "paid/unpaid", "on/off"),
    )
]
_UN: Final = re.compile(r"(?:\b(?:still|currently)\s)?\bun([a-z]{4,})\b")


def with_opposites_denied(bare: str, question: Question) -> str:
    """Return a text with `not open` for `closed`, where it is asked whether something is open."""
    bare = _UN.sub(lambda found: _denied(found, question), bare)
    if _IS_THERE & set(question.pairs):  # `there is no lift`
        bare = _NONE.sub(lambda found: _denied(found, question), bare)
    for pair in _OPPOSITES:
        for asked, other in (pair, pair[::-1]):
            if _says(question, asked) and not _says(question, other):
                said = rf"(?<=\w )(?:still |currently |already |now )?{other}\b"
                bare = re.sub(said, f"not {asked}", bare, flags=re.IGNORECASE)
                bare = re.sub(rf"\b(?:remain|stay)s? not {asked}", f"is not {asked}", bare)
    return bare


_IS_THERE: Final = {(be, "there") for be in ("is", "are", "was", "were")}
_NONE: Final = re.compile(r"\bno ([a-z]+)\b")


def _says(question: Question, words: str) -> bool:
    told = [normal(one) for one in words.split() if one not in {"in", "the", "of", "out"}]
    return told[-1] in question.polar[-3:] and (
        " " not in words or tuple(words.split()[:2]) in question.pairs
    )


def _denied(found: re.Match[str], question: Question) -> str:
    is_asked = normal(found[1]) in question.polar and f"un{found[1]}" not in question.stems
    return f"not {found[1]}" if is_asked else found.group()


def boolean_fault(
    masked: str, bare: str, spans: Sequence[Span[bool]], stems: frozenset[str]
) -> str | None:
    """Say what beside a yes or a no is not a clause of its own that says the same.

    Args:
        stems: the words of the question, in their normal form.
    """
    tokens = [one.casefold() for one in TOKEN.findall(masked) if one not in {'"', "'", "*"}]
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
    if _HAS_NONE.search(masked[: masked.rindex(VALUE)]) and len(spans) <= 2:  # noqa: PLR2004
        return None  # `No, it has no reviews`
    clause = TOKEN.findall(behind[-1].split("\n")[0])
    says_so = any(token[0].isalpha() for token in clause)
    return "says no, and then that it is so" if says_so else None


def restated(bare: str, question: Question) -> bool | None:
    """Return what a sentence says that only says the question again; None for any other.

    Args:
        question: which it may say again.
    """
    roles = question.roles
    written = [*TOKEN.findall(bare.rstrip(".!")), VALUE]
    if subject_fault(written, roles, frozenset(), is_words=False, is_name=False) is not None:
        return None
    tokens = [token.casefold() for token in TOKEN.findall(bare.rstrip(".!"))]
    tokens = [token for token in tokens if token not in _SINCE]
    tokens = [one for at, one in enumerate(tokens) if not _is_asked_by(tokens, at, question)]
    polar = [word for word in question.polar if word not in _SINCE]
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


def _is_asked_by(tokens: Sequence[str], at: int, question: Question) -> bool:
    """Say whether a `by` is the question's own: `by car`."""
    return tokens[at] == "by" and tuple(tokens[at : at + 2]) in question.pairs


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
        and (stems.issuperset(map(normal, frames)) or "so" in tokens[at:])
        and (VALUE not in tokens[at:] or "so" in tokens[at : tokens.index(VALUE, at)])
    )
