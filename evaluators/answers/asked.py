"""How an answer is read: its type, and the pieces that may stand beside its value."""

from __future__ import annotations

import re
from calendar import month_name
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final

from evaluators.answers.asides import politeness
from evaluators.answers.base import AnswerKind, Span
from evaluators.answers.cleaning import plain
from evaluators.answers.conversions import conversions
from evaluators.answers.days import DateKind, Day, MonthKind, find_days
from evaluators.answers.links import MailKind, PhoneKind, UrlKind
from evaluators.answers.quantities import NumberKind
from evaluators.answers.question import Question
from evaluators.answers.truth import BooleanKind, with_opposites_denied
from evaluators.answers.wording import Surroundings
from evaluators.answers.words import SAID, normal, words


@dataclass(frozen=True, slots=True)
class Wanted:
    """One value that is expected: any of these.

    Attributes:
        values: as the kind reads them.
    """

    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """How an answer is read.

    Attributes:
        kind: of each value.
        may_say: words that an answer may hold beside its value.
        around: what else may.
    """

    kind: AnswerKind[Any]
    may_say: tuple[str, ...] = ()
    around: Surroundings = field(default_factory=Surroundings)

    @property
    def question(self) -> Question:
        """What the question lets an answer say."""
        return self.around.question

    def is_wanted(self, value: object, wanted: Sequence[Any]) -> bool:
        """Say whether a value is one of those that are expected."""
        if isinstance(value, Day) and isinstance(self.kind, MonthKind) and value.year is None:
            wanted = [self._without_asked_year(one) for one in wanted]
        return value is not None and any(self.kind.is_same(value, one) for one in wanted)

    def _without_asked_year(self, month: Day) -> Day:
        is_asked = str(month.year) in self.question.numbers
        return replace(month, year=None) if is_asked else month


def prepared(text: str, asked: Asked) -> str:
    """Return a text as a kind finds values in it."""
    keeps = isinstance(asked.kind, UrlKind | MailKind | PhoneKind)
    bare = asked.kind.prepare(_as_asked(plain(text, keep_targets=keeps), asked))
    return _without_its_year(bare, asked) if isinstance(asked.kind, MonthKind) else bare


def _as_asked(bare: str, asked: Asked) -> str:
    """Return a text with other spellings of the question's own words in the question's."""
    for pattern, quarter, pair in _SPELLINGS:
        if pair in asked.question.pairs:
            bare = pattern.sub(quarter, bare)
    if isinstance(asked.kind, NumberKind):
        bare = _TIMES.sub(lambda found: _without_times(found, asked.question), bare)
    if isinstance(asked.kind, BooleanKind) and any("ever" in one for one in asked.question.pairs):
        bare = re.sub(r"\bnever\b", "not ever", bare)
    if isinstance(asked.kind, BooleanKind):
        bare = with_opposites_denied(bare, asked.question)
    if isinstance(asked.kind, NumberKind) and "year" in asked.question.kinds:
        for span in reversed(list(find_days(bare))):
            if span.value is not None and span.value.year:  # `on 3 October 1857`
                ahead = re.sub(r"\bon $", "in ", bare[: span.start])
                bare = f"{ahead}{span.value.year}{bare[span.end :]}"
    if not asked.question.parts.isdisjoint({normal("including"), normal("tax"), normal("vat")}):
        bare = re.sub(r"\b(in|ex)cl\.?(?=\s)", r"\1cluding", bare, flags=re.IGNORECASE)
    return bare


_AUXILIARIES: Final = words("does do did has have are were")
_TIMES: Final = re.compile(r"\b(?!been\b)(\w+(?:ed|en))\b([^.,;:\d]*\d[\d,]*) times\b")


def _without_times(found: re.Match[str], question: Question) -> str:
    """Return how often something was done as how many: `reviewed 38 times`, of reviews."""
    asked = {normal(one) for one, behind in question.pairs if behind in _AUXILIARIES}
    is_asked = normal(found[1]) in question.counted & asked and question.roles.is_light
    return f"{found[1]}{found[2]}" if is_asked else found.group()


_SPELLINGS: Final = [
    (re.compile(rf"\bQ{at}\b(?:\s+of\b)?"), f"the {nth} quarter of", (nth, "quarter"))
    for at, nth in enumerate(("first", "second", "third", "fourth"), start=1)
]


def _without_its_year(bare: str, asked: Asked) -> str:
    """Return months as names where a number stands beside the year of the question: `2022-05`."""
    for year in (*asked.question.numbers, *asked.may_say):
        if re.fullmatch(r"[12]\d{3}", year):
            bare = re.sub(rf"\b{year}-(0[1-9]|1[0-2])\b", _month_named, bare)
            bare = re.sub(rf"(?<![\w/])(0?[1-9]|1[0-2])/{year}\b", _month_named, bare)
    return bare


def _month_named(found: re.Match[str]) -> str:
    return month_name[int(found[1])]


def found_in(
    bare: str, asked: Asked, wanted: Sequence[Any], count: int = 1
) -> tuple[list[Span[Any]], str]:
    """Return the values of a text, but those that it may say besides, and it without the latter.

    Args:
        bare: a prepared text.
        count: how many of them the text may be expected to count: `six states: …`.
    """
    spans = list(asked.kind.find(bare, wanted))
    keep = [(span.start, span.end) for span in spans if asked.is_wanted(span.value, wanted)]
    letters = list(bare)
    for start, end, is_phrase in _said(bare, asked, count):
        held = [one for one in keep if one[0] < end and start < one[1]]
        hides = [one for one in held if start <= one[0] and one[1] <= end and one != (start, end)]
        if not held or (is_phrase and hides == held):
            letters[start:end] = SAID * (end - start)
            keep = [one for one in keep if one not in held]
    seen = "".join(letters)
    return spans if seen == bare else list(asked.kind.find(seen, wanted)), seen


def _said(  # noqa: C901, PLR0912 - one loop for each kind of piece
    bare: str, asked: Asked, count: int
) -> Iterator[tuple[int, int, bool]]:
    """Yield the pieces of a text that it may say beside its value.

    And whether each is a phrase: what stands in a longer one is no value.
    """
    question = asked.question
    yield from ((*place, False) for place in politeness(bare))
    for phrase in (*question.phrases, *asked.may_say):
        said = asked.kind.prepare(plain(phrase))
        if said:
            is_number = not any(map(str.isalpha, said)) and phrase not in asked.may_say
            for found in _whole(said).finditer(bare):
                if not (is_number and _stands_alone(bare, *found.span())):
                    yield *found.span(), True
    for found in _NUMBERS.finditer(bare):
        if found.group() in question.numbers and not _stands_alone(bare, *found.span()):
            yield found.start() - bare[: found.start()].endswith("#"), found.end(), False
    if question.days and not isinstance(asked.kind, DateKind):
        for span in find_days(bare):
            if span.value in question.days:
                yield span.start, span.end, False
    for counted in _counts(count, asked) if count > 1 else ():
        yield from ((*one.span(), False) for one in counted.finditer(bare))
    yield from ((*place, False) for place in conversions(bare))
    if not question.stems.isdisjoint(_RATED):
        yield from ((*found.span(1), False) for found in _OF_FIVE.finditer(bare))
    for name, unit in _RATES.items():
        if name in question.stems:
            pattern = rf"(?:\b(?:per|an?)\s|/\s?){unit}\b"
            yield from (
                (*found.span(), False) for found in re.finditer(pattern, bare, re.IGNORECASE)
            )


_RATES: Final = {
    "hourly": "(?:hours?|hr|h)",
    "daily": "day",
    "weekly": "week",
    "monthly": "month",
    "yearly": "year",
    "annual": "year",
}
_RATED: Final = frozenset(map(normal, ("rating", "rated", "score", "stars")))
_OF_FIVE: Final = re.compile(
    r"(?<=\d)(\s?/\s?5(?:\.0)?|\sout of\s(?:5|five))(?:\sstars)?(?![\w.,]\d|\w)"
)


def spans_said(
    bare: str, asked: Asked, taken: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield the pieces that a text may say beside the values at these places."""
    for start, end, _ in _said(bare, asked, 1):
        if not any(one < end and start < other for one, other in taken):
            yield start, end


def _stands_alone(bare: str, start: int, end: int) -> bool:
    """Say whether a number stands where another value would: alone between separators."""
    ahead = bare[max(0, start - _WINDOW) : start]
    return _BEGINS.search(ahead) is not None and _ENDS.match(bare, end) is not None


_WINDOW: Final = 8
_BEGINS: Final = re.compile(r"(?:^|[,;/&\n]|\band)\s*$")
_ENDS: Final = re.compile(r"\s*(?:[,;/&\n]|and\b|[.!]?\s*$)")
_NUMBERS: Final = re.compile(r"(?<![\w.,-])\d+(?:[.,:]\d+)*(?![\w]|[-.,:]\d)")
_SMALL: Final = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def _counts(count: int, asked: Asked) -> Iterator[re.Pattern[str]]:
    names = [_SMALL[count - 2]] if count - 2 < len(_SMALL) else []
    names += [str(count)] if asked.kind.is_words else []
    if names:
        said = "|".join(names)
        yield re.compile(rf"\b(?:{said})\b(?=[^\n:]*:|\s\w+\sare\b)", re.IGNORECASE)


@lru_cache(maxsize=2048)
def _whole(phrase: str) -> re.Pattern[str]:
    pattern = r"\s+".join(map(re.escape, phrase.split()))
    pattern = re.sub(r"(?<=[a-z])\\-(?=[a-z])", r"[-\\s]", pattern)  # `one star`, as a key has it
    return re.compile(rf"(?<!\w)#?{pattern}(?!\w)[?!]*", re.IGNORECASE)
