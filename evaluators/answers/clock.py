"""Times of day and durations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from evaluators.answers.amounts import find_amounts
from evaluators.answers.base import Span
from evaluators.answers.days import find_days
from evaluators.answers.quantities import EXACTLY, Tolerance

_HALF: Final = r"(?P<half>a\.?m\b\.?|p\.?m\b\.?|in\sthe\s(?:morning|afternoon|evening)|at\snight)"
_TIME: Final = re.compile(
    rf"""
    (?<![\w.,:/-])(?:
      (?P<hour>\d{{1,2}})[:.h](?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:\.0+)?)?(?:\s?h(?:rs|ours)?\b)?(?:\s?{_HALF})?
    | (?P<sharp>\d{{1,2}})\s?(?:o'clock\s?)?{_HALF.replace("half", "half2")}
    | (?P<oclock>\d{{1,2}})\s?o'clock
    | (?P<four>[012]\d[0-5]\d)\s?(?:hours|hrs|h)\b
    | (?P<word>noon|midday|midnight)
    )(?:\s(?:o'clock|sharp|hours|hrs|local\stime)\b)?(?![\w:/%]|[.,-]\d)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"(?<!\w)\d[\d.,:/-]*\w*")
_NOON: Final = 12 * 60


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
class TimeKind:
    """A time of day: `19:30`, `7:30 pm`, `noon`.

    Attributes:
        half_known: whether the question says which half of the day is meant, so that `7:30` is
            19:30 too.
    """

    half_known: bool = False
    noun: str = "a time of day"
    is_words: bool = False

    def read(self, written: str) -> Moment:
        """Return the time; as an expected value it has twenty-four hours, or am or pm.

        Raises:
            ValueError: it is none.
        """
        spans = self.find(written, ())
        if len(spans) != 1 or spans[0].value is None:
            message = f"is no time of day, such as '19:30' (in quotes): {written!r}"
            raise ValueError(message)
        return Moment(spans[0].value.second)

    def prepare(self, plain: str) -> str:
        """Return it as it is."""
        return plain

    def find(self, text: str, wanted: Sequence[Moment]) -> Sequence[Span[Moment]]:
        """Return every time of a text; other numbers, but those of dates, have no value."""
        del wanted
        spans = [_time(found) for found in _TIME.finditer(text)]
        taken = [(span.start, span.end) for span in spans]
        taken += [(day.start, day.end) for day in find_days(text) if day.value and day.value.month]
        spans += [
            Span(*found.span(), None, "is no time of day")
            for found in _NUMBER.finditer(text)
            if not any(start < found.end() and found.start() < end for start, end in taken)
        ]
        return sorted(spans, key=lambda span: span.start)

    def is_same(self, found: Moment, wanted: Moment) -> bool:
        """Say whether they are the same second of the day."""
        if found.second == wanted.second:
            return True
        half = 12 * 3600
        return self.half_known and found.is_half and (found.second + half) % 86_400 == wanted.second


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
    name: seconds
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
_UNIT: Final = re.compile(r"[ -]?([a-z]+)\b\.?", re.IGNORECASE)
_ISO: Final = re.compile(r"\bP(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?(?!\w)")
_CLOCK: Final = re.compile(r"(?<![\w:.])(\d{1,4}):([0-5]\d):([0-5]\d)(?![\w:])")
_HOURS: Final = re.compile(r"(?<![\w:.])(\d{1,4}):([0-5]\d)\s?(?:h|hr|hrs|hours?)\b", re.IGNORECASE)
_COMPACT: Final = re.compile(
    r"(?<![\w:.,])(\d{1,3})\s?h\s?([0-5]?\d)(?:\s?m(?:in)?s?)?\b(?![:.]\d)", re.IGNORECASE
)
_HALVES: Final = (
    (re.compile(r"\b(?:half an hour|(?:a )?half[- ]hour|half of an hour)\b", re.IGNORECASE), 1800),
    (re.compile(r"\b(?:a |one )?quarter of an hour\b", re.IGNORECASE), 900),
    (re.compile(r"\bthree[- ]quarters of an hour\b", re.IGNORECASE), 2700),
    (re.compile(r"\b(?:an|one) hour and a half\b", re.IGNORECASE), 5400),
    (re.compile(r"\bone and a half hours\b", re.IGNORECASE), 5400),
    (re.compile(r"\ban hour and a quarter\b", re.IGNORECASE), 4500),
)
_AN: Final = re.compile(r"\b(?:an|a)\s+(hour|minute|day|week|month|year)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DurationKind:
    """A duration, with its units; told in seconds.

    Attributes:
        unit: seconds of a bare number; None where a number needs its unit.
    """

    unit: int | None = None
    tolerance: Tolerance = EXACTLY
    noun: str = "a duration"
    is_words: bool = False

    def read(self, written: str) -> Decimal:
        """Return the seconds.

        Raises:
            ValueError: it is no duration with its units.
        """
        spans = self.find(written, ())
        if len(spans) != 1 or spans[0].value is None:
            message = f"is no duration with its units, such as '1 h 47 min': {written!r}"
            raise ValueError(message)
        return spans[0].value

    def prepare(self, plain: str) -> str:
        """Return it as it is."""
        return plain

    def find(self, text: str, wanted: Sequence[Decimal]) -> Sequence[Span[Decimal]]:
        """Return every duration of a text; numbers without a unit of time have no value."""
        del wanted
        spans: list[Span[Decimal]] = []
        for pattern, seconds in _HALVES:
            spans += [
                Span(*one.span(), Decimal(seconds))
                for one in pattern.finditer(text)
                if _free(one, spans)
            ]
        for one in _ISO.finditer(text):
            if any(one.groups()):
                spans.append(Span(*one.span(), _sum(one.groups(), (86_400, 3600, 60, 1))))
        for pattern in (_CLOCK, _HOURS, _COMPACT):
            sizes = (3600, 60, 1)
            spans += [
                Span(*one.span(), _sum(one.groups(), sizes))
                for one in pattern.finditer(text)
                if _free(one, spans)
            ]
        parts: list[Span[Decimal]] = []
        for amount in find_amounts(text):
            if any(s.start < amount.end and amount.start < s.end for s in spans):
                continue
            parts.append(
                self._part(
                    text,
                    amount.start,
                    amount.end,
                    amount.value.value
                    if amount.value and not amount.value.percent and not amount.value.currencies
                    else None,
                    amount.value.unit if amount.value else "",
                )
            )
        for one in _AN.finditer(text):
            if _free(one, [*spans, *parts]):
                parts.append(Span(*one.span(), Decimal(_SECONDS[one[1].casefold()])))
        parts.sort(key=lambda span: span.start)
        return sorted([*spans, *_joined(text, parts)], key=lambda span: span.start)

    def is_same(self, found: Decimal, wanted: Decimal) -> bool:
        """Say whether they are equal, within the tolerance."""
        return self.tolerance.holds(found, wanted)

    def _part(
        self, text: str, start: int, end: int, value: Decimal | None, unit: str
    ) -> Span[Decimal]:
        if value is None:
            return Span(start, end, None, "is no duration")
        if (
            not unit
            and (found := _UNIT.match(text, end)) is not None
            and found[1].casefold() in _SECONDS
        ):
            unit, end = found[1].casefold(), found.end() - (1 if found.group().endswith(".") else 0)
        if unit and unit not in _SECONDS:
            return Span(start, end, None, "is no duration")
        seconds = _SECONDS[unit] if unit else self.unit
        if seconds is None:
            return Span(start, end, None, "has no unit of time")
        return Span(start, end, value * seconds)


def _free(found: re.Match[str], spans: Sequence[Span[Decimal]]) -> bool:
    return not any(span.start < found.end() and found.start() < span.end for span in spans)


def _sum(parts: Sequence[str | None], sizes: Sequence[int]) -> Decimal:
    return Decimal(sum(int(part or 0) * size for part, size in zip(parts, sizes, strict=False)))


def _joined(text: str, parts: Sequence[Span[Decimal]]) -> list[Span[Decimal]]:
    """Return durations, `1 hour and 47 minutes` as one: the greater unit first."""
    whole: list[Span[Decimal]] = []
    for part in parts:
        last = whole[-1] if whole else None
        if (
            last is not None
            and last.value is not None
            and part.value is not None
            and part.value < last.value
            and re.fullmatch(r"\.?,?\s*(?:and\s)?", text[last.end : part.start])
        ):
            whole[-1] = Span(last.start, part.end, last.value + part.value)
        else:
            whole.append(part)
    return whole
