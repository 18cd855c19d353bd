"""The types of answers that a check can name."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final, assert_never

from evaluators.answers.amounts import CURRENCIES, currency_codes
from evaluators.answers.base import AnswerKind
from evaluators.answers.clock import DurationKind, TimeKind
from evaluators.answers.days import DateKind, MonthKind, Order
from evaluators.answers.links import MailKind, PhoneKind, UrlKind
from evaluators.answers.places import AddressKind, CoordinatesKind
from evaluators.answers.quantities import (
    LENGTHS,
    DistanceKind,
    MoneyKind,
    NumberKind,
    Tolerance,
)
from evaluators.answers.question import NO_QUESTION, Question
from evaluators.answers.texts import CodeKind, NameKind, TextKind
from evaluators.answers.truth import BooleanKind
from evaluators.answers.wording import Surroundings
from evaluators.answers.words import normal, words


class AnswerType(StrEnum):
    """What an answer is read as."""

    NUMBER = "number"
    MONEY = "money"
    DATE = "date"
    TIME = "time"
    MONTH = "month"
    DURATION = "duration"
    DISTANCE = "distance"
    COORDINATES = "coordinates"
    BOOLEAN = "boolean"
    CODE = "code"
    NAME = "name"
    TEXT = "text"
    URL = "url"
    EMAIL = "email"
    PHONE = "phone"
    ADDRESS = "address"


@dataclass(frozen=True, slots=True)
class Options:
    """What else a check says of its type; see `evaluators.matchers.answer`."""

    unit: tuple[str, ...] = ()
    currency: tuple[str, ...] = ()
    tolerance: float | str = 0.0
    order: Order | None = None
    half_known: bool = False
    means_yes: tuple[str, ...] = ()
    means_no: tuple[str, ...] = ()
    case: bool = False
    accents: bool = False


# The options that a type knows, beside those that all know.
KNOWN: dict[AnswerType, frozenset[str]] = {
    AnswerType.NUMBER: frozenset({"unit", "tolerance"}),
    AnswerType.MONEY: frozenset({"currency", "tolerance"}),
    AnswerType.DATE: frozenset({"date_order"}),
    AnswerType.TIME: frozenset({"half_known"}),
    AnswerType.MONTH: frozenset(),
    AnswerType.DURATION: frozenset({"unit", "tolerance"}),
    AnswerType.DISTANCE: frozenset({"unit", "tolerance"}),
    AnswerType.COORDINATES: frozenset({"tolerance"}),
    AnswerType.BOOLEAN: frozenset({"means_yes", "means_no"}),
    AnswerType.CODE: frozenset({"accents", "case"}),
    AnswerType.NAME: frozenset({"accents", "case"}),
    AnswerType.TEXT: frozenset({"accents", "case"}),
    AnswerType.URL: frozenset(),
    AnswerType.EMAIL: frozenset(),
    AnswerType.PHONE: frozenset(),
    AnswerType.ADDRESS: frozenset(),
}


# What sentences with a value of a type say of it, and what may stand right before one.
OWN: dict[AnswerType, str] = {
    AnswerType.NUMBER: "number count counted figure value unit",
    AnswerType.MONEY: "amount sum currency value",
    AnswerType.DATE: "date day",
    AnswerType.TIME: "time clock sharp o'clock",
    AnswerType.MONTH: "month",
    AnswerType.DURATION: "duration time takes took lasts long unit",
    AnswerType.DISTANCE: "distance away far lies unit",
    AnswerType.COORDINATES: "coordinates coordinate latitude longitude lat lon lng",
    AnswerType.BOOLEAN: "can yes no still already",
    AnswerType.CODE: "code number id",
    AnswerType.NAME: "name names mr mrs ms dr sir dame prof",
    AnswerType.TEXT: "text",
    AnswerType.URL: "url link address",
    AnswerType.EMAIL: "email e-mail address",
    AnswerType.PHONE: "phone telephone tel number call dial can reach",
    AnswerType.ADDRESS: "address",
}
_BEFORE: dict[AnswerType, str] = {
    AnswerType.NUMBER: "at with as in",
    AnswerType.MONEY: "at for",
    AnswerType.DATE: "on",
    AnswerType.TIME: "at from",
    AnswerType.MONTH: "in",
    AnswerType.DURATION: "for",
    AnswerType.DISTANCE: "at",
    AnswerType.COORDINATES: "at",
    AnswerType.BOOLEAN: "as",
    AnswerType.CODE: "by in as",
    AnswerType.NAME: "by in at as",
    AnswerType.TEXT: "by in as",
    AnswerType.URL: "at on",
    AnswerType.EMAIL: "at",
    AnswerType.PHONE: "at on",
    AnswerType.ADDRESS: "at",
}


# A noun right behind a bare number of these makes another thing of it.
_MEASURED: frozenset[AnswerType] = frozenset(
    {AnswerType.NUMBER, AnswerType.DISTANCE, AnswerType.DURATION}
)


def surroundings_of(kind: AnswerType, options: Options, question: Question) -> Surroundings:
    """Return what may stand around an answer of a type to a question."""
    own = words(OWN[kind]) | {
        word.casefold()
        for text in (*options.unit, *options.means_yes, *options.means_no)
        for word in text.split()
    }
    codes = {code for one in options.currency for code in currency_codes(one)}
    own |= {sign for sign in CURRENCIES if not sign.isalpha() and codes & currency_codes(sign)}
    counts = frozenset[str]() if options.unit else question.counted or question.kinds
    counts |= {"person"} if "reside" in counts else frozenset()
    return Surroundings(
        question=question,
        own=frozenset(map(normal, own)) | own,
        before=words(_BEFORE[kind]),
        is_words=kind in {AnswerType.CODE, AnswerType.NAME, AnswerType.TEXT, AnswerType.ADDRESS},
        is_name=kind in {AnswerType.NAME, AnswerType.TEXT},
        is_called=kind is AnswerType.NAME,
        counts=counts if kind in _MEASURED else None,
        may_estimate=bool(tolerance_of(kind, options)),
    )


_UNITS_OF_TIME: Final = ("day", "hour", "minute", "second")


def kind_of(  # noqa: C901, PLR0911, PLR0912 - one branch a type
    kind: AnswerType, options: Options, question: Question = NO_QUESTION
) -> AnswerKind[Any]:
    """Return how answers of a type are read."""
    match kind:
        case AnswerType.NUMBER:
            return NumberKind(tolerance_of(kind, options), options.unit, question.counted)
        case AnswerType.MONEY:
            codes = frozenset(code for one in options.currency for code in _codes(one))
            return MoneyKind(tolerance_of(kind, options), codes)
        case AnswerType.DATE:
            return DateKind(options.order)
        case AnswerType.TIME:
            return TimeKind(half_known=options.half_known)
        case AnswerType.MONTH:
            return MonthKind()
        case AnswerType.DURATION:
            counted = tuple(one for one in _UNITS_OF_TIME if normal(one) in question.counted)
            unit = options.unit or (counted if len(counted) == 1 else ())
            read = DurationKind().read(f"1 {unit[0]}") if unit else None
            return DurationKind(tolerance_of(kind, options), read)
        case AnswerType.DISTANCE:
            return DistanceKind(tolerance_of(kind, options), _metres(options.unit))
        case AnswerType.COORDINATES:
            given = tolerance_of(kind, options)
            return CoordinatesKind(given.absolute if given else None)
        case AnswerType.BOOLEAN:
            return BooleanKind(_folded(options.means_yes), _folded(options.means_no))
        case AnswerType.CODE:
            return CodeKind(case=options.case, accents=options.accents)
        case AnswerType.NAME:
            return NameKind(case=options.case, accents=options.accents)
        case AnswerType.TEXT:
            return TextKind(case=options.case, accents=options.accents)
        case AnswerType.URL:
            return UrlKind()
        case AnswerType.EMAIL:
            return MailKind()
        case AnswerType.PHONE:
            return PhoneKind()
        case AnswerType.ADDRESS:
            return AddressKind()
        case _:
            assert_never(kind)


def tolerance_of(kind: AnswerType, options: Options) -> Tolerance:
    """Return how far a value may be off: `0.5`, `5 %`, or a quantity of the type: `2 min`."""
    given = str(options.tolerance).strip()
    part = given.removesuffix("%").strip() if given.endswith("%") else None
    try:
        if part is not None:
            return Tolerance(part=Decimal(part) / 100)
        if kind is AnswerType.DURATION and given != "0.0":
            return Tolerance(DurationKind().read(given))
        if kind is AnswerType.DISTANCE and given != "0.0":
            return Tolerance(DistanceKind().read(given))
        return Tolerance(Decimal(given))
    except (ArithmeticError, ValueError) as cause:
        message = f"`tolerance` of a {kind}: {given!r} is none, such as 0.5 or '5 %'"
        if kind in {AnswerType.DURATION, AnswerType.DISTANCE}:
            message += " or a quantity with its unit, such as '2 min' or '10 m'"
        raise ValueError(message) from cause


def _codes(currency: str) -> frozenset[str]:
    codes = currency_codes(currency)
    if not codes:
        raise ValueError(f"`currency`: {currency!r} is none, such as GBP")
    return codes


def _metres(unit: tuple[str, ...]) -> Decimal | None:
    if not unit:
        return None
    if unit[0].casefold() not in LENGTHS:
        raise ValueError(f"`unit`: {unit[0]!r} is no unit of length, such as km")
    return LENGTHS[unit[0].casefold()]


def _folded(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word.casefold() for word in words)
