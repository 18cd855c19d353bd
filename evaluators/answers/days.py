"""Dates and months, as far as they are said: a year, a month of a year, a day, a day of no year."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

from evaluators.answers.base import AnswerKind, Span
from evaluators.answers.number_words import ORDINALS_PATTERN, read_ordinal
from evaluators.answers.words import normal

_NAMES: Final = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_MONTHS: Final = {
    **{name: number for number, name in enumerate(_NAMES, start=1)},
    **{name[:3]: number for number, name in enumerate(_NAMES, start=1)},
    "sept": 9,
}
_MONTH: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY: Final = (
    r"(?:(?P<weekday>mon|tues?|wed(?:nes)?|thu(?:rs)?|thur|fri|sat(?:ur)?|sun)"
    r"(?:day)?\.?,?\s+(?:the\s)?)?"
)
_DAY: Final = rf"(?P<day>\d{{1,2}}(?:st|nd|rd|th)?|{ORDINALS_PATTERN})"
_YEAR: Final = r"(?P<year>\d{4})"
_CLOCK: Final = (
    r"(?:(?:T|,?\s+(?:at\s+)?)\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:\s?[ap]\.?m\.?)?"
    r"(?:Z|\s?UTC|\s?GMT|[+-]\d{2}:?\d{2})?)?"
)
_EDGE: Final = r"(?<![\w.,/-])"
_END: Final = r"(?![\w/]|[-.,:]\d)"
_FLAGS: Final = re.IGNORECASE

_FORMS: Final = tuple(
    re.compile(rf"{_EDGE}{form}{_END}", _FLAGS)
    for form in (
        rf"{_WEEKDAY}{_YEAR}[-/.](?P<month>\d{{1,2}})[-/.]{_DAY}{_CLOCK}",
        rf"{_WEEKDAY}{_DAY}(?:\s+of)?[\s-]+(?P<name>{_MONTH})\.?,?[\s-]+{_YEAR}{_CLOCK}",
        rf"{_WEEKDAY}(?P<name>{_MONTH})\.?\s+{_DAY}(?:,\s*|\s+){_YEAR}{_CLOCK}",
        rf"{_WEEKDAY}{_YEAR}[\s-]+(?P<name>{_MONTH})\.?[\s-]+{_DAY}",
        rf"{_WEEKDAY}(?P<one>\d{{1,2}})(?P<mark>[-/.])(?P<two>\d{{1,2}})(?P=mark)(?P<short>\d{{4}}|\d{{2}}){_CLOCK}",
        rf"(?P<name>{_MONTH})\.?(?:\s+of)?(?:,\s*|[\s-]+){_YEAR}",
        rf"{_YEAR}-(?P<month>0[1-9]|1[0-2])",
        rf"(?P<month>0?[1-9]|1[0-2])/{_YEAR}",
        rf"{_WEEKDAY}{_DAY}(?:\s+of)?[\s-]+(?P<name>{_MONTH})\.?",
        rf"{_WEEKDAY}(?P<name>{_MONTH})\.?\s+(?:the\s+)?{_DAY}",
        r"(?P<year>[12]\d{3})",
    )
)
_NUMBER: Final = re.compile(r"\d[\d.,:/-]*(?:st|nd|rd|th)?")

# `may` and `march` are words too, `May` and `March` are months.
_IN_ANY_CASE: Final = "|".join(
    name for name in sorted(_MONTHS, key=len, reverse=True) if name not in {"may", "march", "mar"}
)
_BARE_MONTH: Final = re.compile(
    rf"(?<![\w-])((?i:{_IN_ANY_CASE})|May|March|Mar|MAY|MARCH|MAR)(?![\w-])"
)

Order = Literal["day_first", "month_first"]


@dataclass(frozen=True, slots=True)
class Day:
    """What is said of a date; None where it is not said."""

    year: int | None
    month: int | None
    day: int | None

    def __str__(self) -> str:
        parts = [f"{self.year:04}" if self.year is not None else "-"]
        parts += [f"{part:02}" for part in (self.month, self.day) if part is not None]
        return "-".join(parts)


@dataclass(frozen=True, slots=True)
class DateKind(AnswerKind[Day]):
    """A date: the same year, month and day must be said, no less and no more.

    Attributes:
        order: how `03/04/2023` is read; unread where it is not said.
    """

    order: Order | None = None
    noun = "a date"
    such_as = ", such as 2023-05-23"

    def find(self, text: str, wanted: Sequence[Day]) -> Sequence[Span[Day]]:
        """Return every date of a text; other numbers have no value."""
        del wanted
        return find_days(text, self.order)

    def weekday_of(self, day: Day) -> frozenset[str]:
        """Return the names of a date's day of the week, in their normal form."""
        if day.year is None or day.month is None or day.day is None:
            return frozenset()
        name = f"{date(day.year, day.month, day.day):%A}".casefold()
        return frozenset({normal(name), normal(name[:3])})


def find_days(text: str, order: Order | None = None) -> list[Span[Day]]:
    """Return every date of a text, as much of each as is said; numbers that are none too."""
    taken: list[Span[Day]] = []
    rest = text
    for form in _FORMS:
        taken += [_span(found, order) for found in form.finditer(rest)]
        rest = _masked(rest, taken)
    taken += [Span(*found.span(), None, "is no date") for found in _NUMBER.finditer(rest)]
    return sorted(taken, key=lambda span: span.start)


def _masked(text: str, spans: Sequence[Span[Day]]) -> str:
    letters = list(text)
    for span in spans:
        letters[span.start : span.end] = "\ue000" * (span.end - span.start)
    return "".join(letters)


def _span(found: re.Match[str], order: Order | None) -> Span[Day]:
    parts = found.groupdict()
    start, end = found.span()
    if parts.get("short"):
        day, fault = _numeric(parts["one"], parts["two"], parts["short"], order)
    else:
        month = parts.get("month") or _MONTHS.get((parts.get("name") or "").casefold())
        year, number = parts.get("year"), parts.get("day")
        day = Day(_int(year), _int(month), _day_number(number))
        fault = ""
    if day is None:
        return Span(start, end, None, fault)
    return _checked(day, parts.get("weekday"), start, end)


def _checked(day: Day, weekday: str | None, start: int, end: int) -> Span[Day]:
    """Return a date's span; a day that there is not, or on another weekday, has no value."""
    try:
        known = date(day.year or 2000, day.month or 1, day.day or 1)
    except ValueError:
        return Span(start, end, None, "is no day of the calendar")
    if weekday and day.year and _WEEKDAYS[known.weekday()] != weekday[:3].casefold():
        return Span(start, end, None, "is another day of the week")
    return Span(start, end, day)


def _numeric(one: str, two: str, year: str, order: Order | None) -> tuple[Day | None, str]:
    if len(year) != 4:  # noqa: PLR2004 - digits
        if order is None:
            return None, "has a year of two digits"
        year = f"20{year}"
    first, second = int(one), int(two)
    day_first = Day(int(year), second, first) if second <= 12 else None  # noqa: PLR2004 - months
    month_first = Day(int(year), first, second) if first <= 12 else None  # noqa: PLR2004 - months
    if order == "day_first":
        return day_first, "has no such month"
    if order == "month_first":
        return month_first, "has no such month"
    if day_first and month_first and day_first != month_first:
        return None, "may be a day of either of two months"
    return day_first or month_first, "has no such month"


def _int(text: str | int | None) -> int | None:
    return None if text is None else int(text)


def _day_number(written: str | None) -> int | None:
    if written is None:
        return None
    digits = re.match(r"\d+", written)
    return int(digits.group()) if digits else read_ordinal(written)


class MonthKind(AnswerKind[Day]):
    """A month, of a year where the expected one has a year."""

    noun = "a month"
    such_as = ", such as May or 2023-05"

    def find(self, text: str, wanted: Sequence[Day]) -> Sequence[Span[Day]]:
        """Return every month of a text; other numbers have no value, but 1 to 12 alone."""
        del wanted
        alone = re.fullmatch(r"0?([1-9]|1[0-2])", text)
        if alone:
            return [Span(0, len(text), Day(None, int(alone[1]), None))]
        spans: list[Span[Day]] = []
        for span in find_days(text):
            if span.value is not None and (span.value.month is None or span.value.day is not None):
                spans.append(Span(span.start, span.end, None, "is no month"))
            else:
                spans.append(span)
        rest = _masked(text, spans)
        spans += [
            Span(*found.span(), Day(None, _MONTHS[found[1].casefold()], None))
            for found in _BARE_MONTH.finditer(rest)
        ]
        return sorted(spans, key=lambda span: span.start)
