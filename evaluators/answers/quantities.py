"""Numbers, amounts of money, distances: one amount with its sign, scale and unit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from evaluators.answers.amounts import Amount, currency_codes, find_amounts
from evaluators.answers.base import Span

# Metres.
LENGTHS: Final[Mapping[str, Decimal]] = {
    name: Decimal(metres)
    for names, metres in (
        ("mm millimetre millimetres millimeter millimeters", "0.001"),
        ("cm centimetre centimetres centimeter centimeters", "0.01"),
        ("m metre metres meter meters mtr", "1"),
        ("km kms kilometre kilometres kilometer kilometers", "1000"),
        ("in inch inches", "0.0254"),
        ("ft foot feet", "0.3048"),
        ("yd yds yard yards", "0.9144"),
        ("mi mile miles", "1609.344"),
        ("nmi", "1852"),
    )
    for name in names.split()
}
# Other measures that a number without them is not: grams, litres, degrees, bytes, hours.
_MEASURES: Final = frozenset(
    [
        "mg",
        "g",
        "kg",
        "gram",
        "grams",
        "kilogram",
        "kilograms",
        "kilo",
        "kilos",
        "lb",
        "lbs",
        "pound",
        "ounce",
        "ounces",
        "oz",
        "tonne",
        "tonnes",
        "ton",
        "tons",
        "ml",
        "cl",
        "l",
        "litre",
        "litres",
        "liter",
        "liters",
        "gallon",
        "gallons",
        "pint",
        "pints",
        "cup",
        "cups",
        "ms",
        "s",
        "sec",
        "secs",
        "second",
        "seconds",
        "min",
        "mins",
        "minute",
        "minutes",
        "h",
        "hr",
        "hrs",
        "hour",
        "hours",
        "day",
        "days",
        "week",
        "weeks",
        "month",
        "months",
        "year",
        "years",
        "kb",
        "mb",
        "gb",
        "tb",
        "kbps",
        "mbps",
        "watt",
        "watts",
        "w",
        "kw",
        "kwh",
        "v",
        "volt",
        "volts",
        "mph",
        "kmh",
        "kph",
        "hz",
        "khz",
        "mhz",
        "ghz",
    ]
)
_SAME: Final = (
    "s sec secs second seconds",
    "min mins minute minutes",
    "h hr hrs hour hours",
    "day days",
    "week weeks",
    "month months",
    "year years",
    "g gram grams",
    "kg kgs kilo kilos kilogram kilograms",
    "lb lbs pound pounds",
    "oz ounce ounces",
    "l litre litres liter liters",
    "ml millilitre millilitres milliliter milliliters",
    "cl centilitre centilitres",
    "w watt watts",
    "v volt volts",
    "gb gigabyte gigabytes",
    "mb megabyte megabytes",
    "kb kilobyte kilobytes",
    "star stars",
    *(
        "mm millimetre millimetres millimeter millimeters",
        "cm centimetre centimetres centimeter centimeters",
        "m metre metres meter meters",
        "km kms kilometre kilometres kilometer kilometers",
        "in inch inches",
        "ft foot feet",
        "mi mile miles",
        "% percent pct",
    ),
)
_SYNONYMS: Final = {name: line.split()[0] for line in _SAME for name in line.split()}
_UNIT: Final = re.compile(r"[ -]?([^\W\d_]+)")


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a value may be off: so much, or such a part of the expected one."""

    absolute: Decimal = Decimal(0)
    part: Decimal = Decimal(0)

    def holds(self, found: Decimal, wanted: Decimal) -> bool:
        """Say whether a value is near enough, the limit included."""
        return abs(found - wanted) <= max(self.absolute, abs(wanted) * self.part)

    def __bool__(self) -> bool:
        return bool(self.absolute or self.part)


EXACTLY: Final = Tolerance()


@dataclass(frozen=True, slots=True)
class NumberKind:
    """A number.

    Attributes:
        units: what may stand with it as its unit, one spelling of each: `km`, `%`, `bells`. Without
            any, a noun of any kind may, per cent and currencies may not.
    """

    units: tuple[str, ...] = ()
    tolerance: Tolerance = EXACTLY
    noun: str = "a number"
    is_words: bool = False

    def read(self, written: str) -> Decimal:
        """Return its value.

        Raises:
            ValueError: it is no number.
        """
        spans = list(find_amounts(written))
        if len(spans) != 1 or spans[0].value is None or spans[0].value.unit:
            message = f"is no number: {written!r}"
            raise ValueError(message)
        return spans[0].value.value

    def prepare(self, plain: str) -> str:
        """Return it; an amount that stands alone in parentheses gets a minus."""
        bracketed = re.fullmatch(r"\(\s*([^()\s]*\d[^()]*)\)", plain)
        if bracketed and len(list(find_amounts(plain))) == 1 and not re.search("[a-z]{4}", plain):
            return f"-{bracketed[1]}"
        return plain

    def find(self, text: str, wanted: Sequence[Decimal]) -> Sequence[Span[Decimal]]:
        """Return every number of a text."""
        del wanted
        return [self._span(text, one) for one in find_amounts(text)]

    def is_same(self, found: Decimal, wanted: Decimal) -> bool:
        """Say whether they are equal, within the tolerance."""
        return self.tolerance.holds(found, wanted)

    def _span(self, text: str, span: Span[Amount]) -> Span[Decimal]:
        amount = span.value
        if amount is None:
            return Span(span.start, span.end, None, span.fault)
        codes = {code for unit in self.units for code in currency_codes(unit)}
        if amount.percent and amount.percent not in self._canonical:
            return Span(span.start, span.end, None, "is a share, not the number")
        if amount.currencies and not amount.currencies & codes:
            return Span(span.start, span.end, None, "is an amount of money, not the number")
        end, unit = span.end, amount.unit
        if not unit and (found := _UNIT.match(text, span.end)) is not None:
            unit = found[1].casefold()
            if unit in self._canonical or unit in _UNITS_OF_MEASURE:
                end = found.end()
        if amount.unit and unit not in self._canonical and unit not in _UNITS_OF_MEASURE:
            return Span(span.start, span.end, None, "is no number")
        if self.units and unit in _UNITS_OF_MEASURE and _one(unit) not in self._canonical:
            return Span(span.start, end, None, f"is not in {self.units[0]}")
        return Span(span.start, end, amount.value)

    @property
    def _canonical(self) -> frozenset[str]:
        return frozenset(one for unit in self.units for one in (unit.casefold(), _one(unit)))


_UNITS_OF_MEASURE: Final = _MEASURES | frozenset(LENGTHS) - {"in"}


def _one(unit: str) -> str:
    """Return one spelling of a unit."""
    return _SYNONYMS.get(unit.casefold(), unit.casefold())


@dataclass(frozen=True, slots=True)
class MoneyKind:
    """An amount of money.

    Attributes:
        currency: codes that a sign or name with it may mean; without any, all of them.
    """

    currency: frozenset[str] = frozenset()
    tolerance: Tolerance = EXACTLY
    noun: str = "an amount of money"
    is_words: bool = False

    def read(self, written: str) -> Decimal:
        """Return the amount.

        Raises:
            ValueError: it is none.
        """
        spans = self.find(written, ())
        if len(spans) != 1 or spans[0].value is None:
            message = f"is no amount of money: {written!r}"
            raise ValueError(message)
        return spans[0].value

    def prepare(self, plain: str) -> str:
        """Return it; an amount that stands alone in parentheses gets a minus."""
        return NumberKind().prepare(plain)

    def find(self, text: str, wanted: Sequence[Decimal]) -> Sequence[Span[Decimal]]:
        """Return every amount of a text, bare numbers too."""
        del wanted
        return [self._span(one) for one in _with_pence(text, list(find_amounts(text)))]

    def is_same(self, found: Decimal, wanted: Decimal) -> bool:
        """Say whether they are equal, within the tolerance."""
        return self.tolerance.holds(found, wanted)

    def _span(self, span: Span[Amount]) -> Span[Decimal]:
        amount = span.value
        if amount is None:
            return Span(span.start, span.end, None, span.fault)
        if amount.percent:
            return Span(span.start, span.end, None, "is a share, not an amount")
        if amount.unit:
            return Span(span.start, span.end, None, "is no amount of money")
        if self.currency and amount.currencies and not amount.currencies & self.currency:
            return Span(
                span.start, span.end, None, f"is not in {' or '.join(sorted(self.currency))}"
            )
        return Span(span.start, span.end, amount.value)


_PENCE: Final = re.compile(r"\s?(?:p|pence|pennies|cents?|c)\b", re.IGNORECASE)
_BETWEEN: Final = re.compile(r",?\s?(?:and\s)?")


def _with_pence(text: str, spans: Sequence[Span[Amount]]) -> Iterator[Span[Amount]]:
    """Yield amounts, `44 pounds and 95 pence` as one."""
    held: Span[Amount] | None = None
    for span in spans:
        minor = _PENCE.match(text, span.start + len(text[span.start : span.end].rstrip("pc")))
        amount = span.value
        if amount is not None and minor is not None and amount.unit in {"", "p", "c"}:
            cents = Amount(amount.value / 100, unit="")
            joins = held is not None and _BETWEEN.fullmatch(text, held.end, span.start)
            if held is not None and held.value is not None and joins and abs(amount.value) < 100:  # noqa: PLR2004 - a pound
                sign = -1 if held.value.value < 0 else 1
                both = held.value.value + sign * cents.value
                yield Span(held.start, minor.end(), Amount(both, held.value.currencies))
                held = None
                continue
            span = Span(span.start, minor.end(), cents)  # noqa: PLW2901 - the same, read further
        if held is not None:
            yield held
        held = span
    if held is not None:
        yield held


@dataclass(frozen=True, slots=True)
class DistanceKind:
    """A distance, with its unit; told in metres.

    Attributes:
        unit: metres of a bare number; None where a number needs its unit.
    """

    unit: Decimal | None = None
    tolerance: Tolerance = EXACTLY
    noun: str = "a distance"
    is_words: bool = False

    def read(self, written: str) -> Decimal:
        """Return the metres.

        Raises:
            ValueError: it is no distance with a unit.
        """
        spans = self.find(written, ())
        if len(spans) != 1 or spans[0].value is None:
            message = f"is no distance with its unit, such as '1.7 km': {written!r}"
            raise ValueError(message)
        return spans[0].value

    def prepare(self, plain: str) -> str:
        """Return it as it is."""
        return plain

    def find(self, text: str, wanted: Sequence[Decimal]) -> Sequence[Span[Decimal]]:
        """Return every amount of a text; one without a unit of length has no value."""
        del wanted
        return list(_joined_lengths(text, [self._span(text, one) for one in find_amounts(text)]))

    def is_same(self, found: Decimal, wanted: Decimal) -> bool:
        """Say whether they are equal, within the tolerance."""
        return self.tolerance.holds(found, wanted)

    def _span(self, text: str, span: Span[Amount]) -> Span[Decimal]:
        amount = span.value
        if amount is None or amount.percent or amount.currencies:
            return Span(span.start, span.end, None, "is no distance")
        end, unit = span.end, amount.unit
        if not unit and (found := _UNIT.match(text, span.end)) is not None:
            if found[1].casefold() in LENGTHS and found[1].casefold() != "in":
                unit, end = found[1].casefold(), found.end()
            elif found[1].casefold() in _MEASURES:
                return Span(span.start, found.end(), None, "is no distance")
        if unit and unit not in LENGTHS:
            return Span(span.start, end, None, "is no distance")
        metres = LENGTHS[unit] if unit else self.unit
        if metres is None:
            return Span(span.start, end, None, "has no unit of length")
        return Span(span.start, end, amount.value * metres)


def _joined_lengths(text: str, spans: Sequence[Span[Decimal]]) -> Iterator[Span[Decimal]]:
    """Yield distances, `1 km 200 m` and `5 feet 3 inches` as one."""
    held: Span[Decimal] | None = None
    for span in spans:
        joins = (
            held is not None
            and held.value is not None
            and span.value is not None
            and 0 <= span.value < held.value
            and re.fullmatch(r",?\s?(?:and\s)?", text[held.end : span.start]) is not None
        )
        if joins and held is not None and held.value is not None and span.value is not None:
            held = Span(held.start, span.end, held.value + span.value)
            continue
        if held is not None:
            yield held
        held = span
    if held is not None:
        yield held
