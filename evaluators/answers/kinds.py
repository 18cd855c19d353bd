"""The types of answers that a check can name."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any, assert_never

from evaluators.answers.amounts import currency_codes
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
from evaluators.answers.texts import CodeKind, NameKind, TextKind
from evaluators.answers.truth import BooleanKind


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
    AnswerType.CODE: frozenset({"case"}),
    AnswerType.NAME: frozenset({"case"}),
    AnswerType.TEXT: frozenset({"case"}),
    AnswerType.URL: frozenset(),
    AnswerType.EMAIL: frozenset(),
    AnswerType.PHONE: frozenset(),
    AnswerType.ADDRESS: frozenset(),
}


def kind_of(kind: AnswerType, options: Options) -> AnswerKind[Any]:  # noqa: C901, PLR0911, PLR0912 - one branch a type
    """Return how answers of a type are read.

    Raises:
        ValueError: an option's value is none that the type knows.
    """
    match kind:
        case AnswerType.NUMBER:
            return NumberKind(options.unit, tolerance_of(kind, options))
        case AnswerType.MONEY:
            codes = frozenset(code for one in options.currency for code in _codes(one))
            return MoneyKind(codes, tolerance_of(kind, options))
        case AnswerType.DATE:
            return DateKind(options.order)
        case AnswerType.TIME:
            return TimeKind(half_known=options.half_known)
        case AnswerType.MONTH:
            return MonthKind()
        case AnswerType.DURATION:
            unit = DurationKind().read(f"1 {options.unit[0]}") if options.unit else None
            return DurationKind(None if unit is None else int(unit), tolerance_of(kind, options))
        case AnswerType.DISTANCE:
            return DistanceKind(_metres(options.unit), tolerance_of(kind, options))
        case AnswerType.COORDINATES:
            given = tolerance_of(kind, options)
            return CoordinatesKind(given.absolute if given else None)
        case AnswerType.BOOLEAN:
            return BooleanKind(_folded(options.means_yes), _folded(options.means_no))
        case AnswerType.CODE:
            return CodeKind(case=options.case)
        case AnswerType.NAME:
            return NameKind(case=options.case)
        case AnswerType.TEXT:
            return TextKind(case=options.case)
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
    """Return how far a value may be off: `0.5`, `5 %`, or a quantity of the type: `2 min`.

    Raises:
        ValueError: it is none of these.
    """
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
        message = f"`currency`: {currency!r} is none, such as GBP"
        raise ValueError(message)
    return codes


def _metres(unit: tuple[str, ...]) -> Decimal | None:
    if not unit:
        return None
    if unit[0].casefold() not in LENGTHS:
        message = f"`unit`: {unit[0]!r} is no unit of length, such as km"
        raise ValueError(message)
    return LENGTHS[unit[0].casefold()]


def _folded(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word.casefold() for word in words)
