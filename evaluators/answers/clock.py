"""Times of day and durations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from operator import mul
from typing import Final

from evaluators.answers.amounts import find_amounts
from evaluators.answers.base import AnswerKind, Span, is_free, with_unread
from evaluators.answers.days import find_days
from evaluators.answers.quantities import Measured, MeasuredKind, joined

_HALF: Final = r"(?P<half>[ap](?:m\b|\.m\b\.?)|in\sthe\s(?:morning|afternoon|evening)|at\snight)"
_TIME: Final = re.compile(
    rf"""
    (?<![\w.,:/-])(?:
      (?P<hour>\d{{1,2}})[:.h](?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:\.0+)?)?(?:\s?h(?:rs|ours)?\b)?(?:\s?{_HALF})?
    | (?P<sharp>\d{{1,2}})\s?(?:o'clock\s?)?{_HALF.replace("half", "half2")}
    | (?P<oclock>\d{{1,2}})\s?o'clock
    | (?P<four>[012]\d[0-5]\d)\s?(?:hours|hrs|h)\b
    | (?:12\s)?(?P<word>noon|midday|midnight)
    )(?:\s(?:o'clock|sharp|hours|hrs|local\stime)\b|Z\b)?(?![\w:/%]|[.,-]\d)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"(?<!\w)\d[\d.,:/-]*\w*")


@dataclass(frozen=True, slots=True)
class Moment:
    """A time of day.

    Attributes:
        second: since midnight.
        is_half: said without its half of the day, so that it may be twelve hours later too.
    """

    second: int
    is_half: bool = False


@dataclass(frozen=True, slots=True)
class TimeKind(AnswerKind[Moment]):
    """A time of day: `19:30`, `7:30 pm`, `noon`.

    Attributes:
        half_known: whether the question says which half of the day is meant, so that `7:30` is
            19:30 too.
    """

    half_known: bool = False
    noun = "a time of day"
    such_as = ", such as '19:30' (in quotes)"

    def prepare(self, plain: str) -> str:
        """Return it, `half past seven` in digits."""
        return _PAST_HOUR.sub(_in_digits, plain)

    def find(self, text: str, wanted: Sequence[Moment]) -> Sequence[Span[Moment]]:
        """Return every time of a text; other numbers, but those of dates, have no value."""
        del wanted
        spans = [_time(found) for found in _TIME.finditer(text)]
        days = [day for day in find_days(text) if day.value and day.value.month]
        rest = "".join(one if is_free(at, at + 1, days) else " " for at, one in enumerate(text))
        return with_unread(_NUMBER, rest, spans, "is no time of day")

    def is_same(self, found: Moment, wanted: Moment) -> bool:
        """Say whether they are the same second of the day."""
        if found.second == wanted.second:
            return True
        half = 12 * 3600
        return self.half_known and found.is_half and (found.second + half) % 86_400 == wanted.second


_HOURS: Final = tuple(
    "one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
)
_PAST_HOUR: Final = re.compile(
    rf"\b(half past|(?:a )?quarter (?:past|to))\s({'|'.join(_HOURS)}|1[0-2]|[1-9])\b",
    re.IGNORECASE,
)


def _in_digits(found: re.Match[str]) -> str:
    hour = int(found[2]) if found[2].isdigit() else _HOURS.index(found[2].casefold()) + 1
    if found[1].casefold().endswith("to"):
        return f"{(hour - 2) % 12 + 1}:45"
    return f"{hour}:{'30' if found[1].casefold().startswith('half') else '15'}"


def _time(found: re.Match[str]) -> Span[Moment]:
    start, end = found.span()
    blank: Span[Moment] = Span(start, end, None, "is no time of day")
    if word := found["word"]:
        return Span(start, end, Moment(0 if word.casefold() == "midnight" else 12 * 3600))
    if four := found["four"]:
        hour, minute, second = int(four[:2]), int(four[2:]), 0
    else:
        hour = int(found["hour"] or found["sharp"] or found["oclock"])
        minute, second = int(found["minute"] or 0), int(found["second"] or 0)
    half = (found["half"] or found["half2"] or "").casefold().replace(".", "")
    is_after = half.startswith("p") or half in {"in the afternoon", "in the evening"}
    if half == "at night":
        is_after = hour >= 6 and hour != 12  # noqa: PLR2004 - ten at night, one at night
    if half and not 1 <= hour <= 12:  # noqa: PLR2004 - of the clock's face
        sound = (is_after and 12 < hour < 24) or (hour == 0 and half.startswith("a"))  # noqa: PLR2004
        if not sound:
            return blank
    elif half:
        hour = hour % 12 + (12 if is_after else 0)
    if hour > 24 or (hour == 24 and (minute or second)):  # noqa: PLR2004 - the end of a day
        return blank
    whole = (hour % 24) * 3600 + minute * 60 + second
    on_face = hour <= 12 and not (found["hour"] or "").startswith("0")  # noqa: PLR2004 - a clock's
    is_half = on_face and not half and not found["four"]
    return Span(start, end, Moment(whole, is_half))


_SECONDS: Final = {
    name: Decimal(seconds)
    for names, seconds in (
        ("s sec secs second seconds", 1),
        ("m min mins minute minutes", 60),
        ("h hr hrs hour hours", 3600),
        ("d day days", 86_400),
        ("w week weeks wk wks", 604_800),
        ("month months", 2_629_746),
        ("y yr yrs year years", 31_556_952),
    )
    for name in names.split()
}
# How a duration is written as a whole, and how many seconds each group of digits is worth.
_FORMS: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), sizes)
    for pattern, sizes in (
        (r"\b(?:half an hour|(?:a )?half[- ]hour|half of an hour)\b", (1800,)),
        (r"\b(?:a |one )?quarter of an hour\b", (900,)),
        (r"\bthree[- ]quarters of an hour\b", (2700,)),
        (r"\b(?:(?:an|one) hour and a half|one and a half hours)\b", (5400,)),
        (r"\ban hour and a quarter\b", (4500,)),
        (
            r"\b(?-i:P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)(?!\w)",
            (86_400, 3600, 60, 1),
        ),
        (r"(?<![\w:.])(\d{1,4}):([0-5]\d):([0-5]\d)(?![\w:])", (3600, 60, 1)),
        (r"(?<![\w:.])(\d{1,4}):([0-5]\d)\s?(?:h|hr|hrs|hours?)\b", (3600, 60)),
        (
            r"(?<![\w:.,])(\d{1,3})\s?h\s?([0-5]?\d)(?:\s?m(?:in)?s?)?\b(?![:.]\d)",
            (3600, 60),
        ),
    )
)
# `38:20` is minutes and seconds where those are expected.
_MINUTES: Final = (re.compile(r"(?<![\w:.])(\d{1,3}):([0-5]\d)(?![\w:])"), (60, 1))
_AND_A_HALF: Final = re.compile(
    r"\b(\d+)(?:( hours?| minutes?) and a half| and a half( hours?| minutes?))\b", re.IGNORECASE
)
_AN: Final = re.compile(r"\b(?:an|a)\s+(hour|minute|day|week|month|year)\b", re.IGNORECASE)


class DurationKind(MeasuredKind):
    """A duration, with its units; told in seconds."""

    noun = "a duration"
    such_as = " with its units, such as '1 h 47 min'"
    sizes = _SECONDS
    dimension = "time"

    def prepare(self, plain: str) -> str:
        """Return it, `1 hour and a half` in digits."""
        return _AND_A_HALF.sub(r"\1.5\2\3", plain)

    def find(self, text: str, wanted: Sequence[Decimal]) -> Sequence[Span[Decimal]]:
        """Return every duration of a text; numbers without a unit of time have no value."""
        has_seconds = any(one < 3600 and one % 60 for one in wanted)  # noqa: PLR2004 - an hour
        forms = (*_FORMS, _MINUTES) if has_seconds else _FORMS
        whole: list[Span[Decimal]] = []
        for pattern, sizes in forms:
            for found in pattern.finditer(text):
                numbers = [int(one or 0) for one in found.groups()] or [1]
                if is_free(*found.span(), whole) and any(found.groups() or (True,)):
                    seconds = sum(map(mul, numbers, sizes))
                    whole.append(Span(*found.span(), Decimal(seconds), has_unit=True))
        amounts = [one for one in find_amounts(text) if is_free(one.start, one.end, whole)]
        parts = [self.measured(text, one) for one in amounts]
        parts += [
            Measured(*found.span(), size, has_unit=True, size=size)
            for found in _AN.finditer(text)
            for size in [_SECONDS[found[1].casefold()]]
            if is_free(*found.span(), [*whole, *parts])
        ]
        parts.sort(key=lambda span: span.start)
        return sorted([*whole, *joined(text, parts)], key=lambda span: span.start)
