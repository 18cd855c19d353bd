"""Numbers, amounts of money, distances: one amount with its sign, scale and unit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import ClassVar, Final

from evaluators.answers.amounts import Amount, currency_codes, find_amounts
from evaluators.answers.base import AnswerKind, Span
from evaluators.answers.cleaning import plain
from evaluators.answers.conversions import UNITS
from evaluators.answers.words import normal

# Metres.
LENGTHS: Final[Mapping[str, Decimal]] = {
    name: size for name, (dimension, size, _) in UNITS.items() if dimension == "length"
}
# Spellings of one unit, beside those of `conversions`.
_SAME: Final = (
    "day days",
    "week weeks",
    "month months",
    "year years",
    "w watt watts",
    "v volt volts",
    "gb gigabyte gigabytes",
    "mb megabyte megabytes",
    "kb kilobyte kilobytes",
    "star stars",
    "% percent pct",
)
_MIXED: Final = re.compile(r"(?<![\w./,])(\d+) (\d)/([2458])(?![\w/])")
_NONE: Final = re.compile(r"\bnone\b|\bno(?= (\w+))", re.IGNORECASE)


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
class AmountKind(AnswerKind[Decimal]):
    """A quantity: one number, in whatever unit."""

    tolerance: Tolerance = EXACTLY

    def is_same(self, found: Decimal, wanted: Decimal) -> bool:
        """Say whether they are equal, within the tolerance."""
        return self.tolerance.holds(found, wanted)


@dataclass(frozen=True, slots=True)
class NumberKind(AmountKind):
    """A number.

    Attributes:
        units: what may stand with it as its unit, one spelling of each: `km`, `%`, `bells`.
        counted: nouns in their normal form of which `no` is none: `no bells`.
    """

    units: tuple[str, ...] = ()
    counted: frozenset[str] = frozenset()
    noun = "a number"

    def prepare(self, plain: str) -> str:
        """Return it; an amount that stands alone in parentheses gets a minus."""
        whole = _MIXED.sub(_as_decimal, plain)
        bracketed = re.fullmatch(r"\(\s*([^()\s]*\d[^()]*)\)", whole)
        if bracketed and len(list(find_amounts(whole))) == 1 and not re.search("[a-z]{4}", whole):
            return f"-{bracketed[1]}"
        return whole

    def find(self, text: str, wanted: Sequence[Decimal]) -> Sequence[Span[Decimal]]:
        """Return every number of a text; `none` is zero where that is expected."""
        spans: list[Span[Decimal]] = []
        for one in find_amounts(text):
            if not spans or spans[-1].end <= one.start:  # the 2 of `m^2` is of its unit
                spans.append(self._span(text, one))
        if Decimal(0) in wanted:
            spans += self._nones(text)
        return sorted(spans, key=lambda span: span.start)

    def _span(self, text: str, span: Span[Amount]) -> Span[Decimal]:
        amount = span.value
        if amount is None:
            return Span(span.start, span.end, None, span.fault)
        codes = {code for unit in self.units for code in currency_codes(unit)}
        if amount.percent and amount.percent not in _spellings(self.units):
            return Span(span.start, span.end, None, "is a share, not the number")
        if amount.currencies and not amount.currencies & codes:
            return Span(span.start, span.end, None, "is an amount of money, not the number")
        bare_end = span.end - len(amount.unit)
        unit = _units_pattern(self.units).match(text, bare_end) if self.units else None
        if unit is None and amount.unit:
            return Span(span.start, span.end, None, "is no number")
        end = span.end if unit is None else unit.end()
        has_unit = unit is not None or bool(amount.percent or amount.currencies)
        return Span(span.start, end, amount.value, has_unit=has_unit)

    def _nones(self, text: str) -> Iterator[Span[Decimal]]:
        nouns = self.counted | {normal(unit) for unit in self.units}
        for found in _NONE.finditer(text):
            if found[1] is None:
                yield Span(*found.span(), Decimal(0))
            elif normal(found[1]) in nouns:
                yield Span(found.start(), found.end(1), Decimal(0), has_unit=True)


def _as_decimal(found: re.Match[str]) -> str:
    whole, over, under = (Decimal(found[group]) for group in (1, 2, 3))
    return f"{whole + over / under:f}" if over < under else found.group()


@lru_cache(maxsize=256)
def _spellings(units: tuple[str, ...]) -> frozenset[str]:
    """Return all spellings of units: of `km` also `kilometres`, of `bells` also `bell`."""
    names = {plain(unit).casefold() for unit in units}
    names |= {name.replace(" per ", between) for name in names for between in (" a ", " an ")}
    same = {name for line in _SAME if names & set(line.split()) for name in line.split()}
    sizes = {UNITS[name] for name in names if name in UNITS}
    same |= {name for name, size in UNITS.items() if size in sizes}
    single = {name.removesuffix("s") for name in names if len(name) > 3}  # noqa: PLR2004 - a word
    return frozenset(names | same | single)


@lru_cache(maxsize=256)
def _units_pattern(units: tuple[str, ...]) -> re.Pattern[str]:
    longest = sorted(_spellings(units), key=len, reverse=True)
    return re.compile(rf"[ -]?\(?(?:{'|'.join(map(re.escape, longest))})(?!\w)\)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MoneyKind(AmountKind):
    """An amount of money.

    Attributes:
        currency: codes that a sign or name with it may mean; without any, all of them.
    """

    currency: frozenset[str] = frozenset()
    noun = "an amount of money"

    def prepare(self, plain: str) -> str:
        """Return it; an amount that stands alone in parentheses gets a minus."""
        return NumberKind().prepare(plain)

    def find(self, text: str, wanted: Sequence[Decimal]) -> Sequence[Span[Decimal]]:
        """Return every amount of a text, bare numbers too."""
        del wanted
        return [self._span(one) for one in _with_pence(text, list(find_amounts(text)))]

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
        amount = span.value
        letters = len(amount.unit) if amount is not None else 0
        minor = _PENCE.match(text, span.end - letters)
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
class Measured(Span[Decimal]):
    """A quantity as it stands in a text.

    Attributes:
        size: of its unit; None for a bare number.
    """

    size: Decimal | None = None


@dataclass(frozen=True, slots=True)
class MeasuredKind(AmountKind):
    """A quantity with its unit.

    Attributes:
        unit: the size of a bare number; None where a number needs its unit.
        sizes: of each unit.
        dimension: what they are units of.
    """

    unit: Decimal | None = None
    sizes: ClassVar[Mapping[str, Decimal]]
    dimension: ClassVar[str]

    def find(self, text: str, wanted: Sequence[Decimal]) -> Sequence[Span[Decimal]]:
        """Return every amount of a text; one without a unit has no value."""
        del wanted
        return joined(text, [self.measured(text, one) for one in find_amounts(text)])

    def measured(self, text: str, span: Span[Amount]) -> Measured:
        """Return an amount with its unit; without a value where it has none of these."""
        amount = span.value
        none = Measured(span.start, span.end, None, f"is no {self.noun[2:]}")
        if amount is None or amount.percent or amount.currencies or text[span.start] == "+":
            return none
        end, unit = span.end, amount.unit
        found = None if unit else _UNIT.match(text, span.end)
        name = "" if found is None else found[1].casefold()
        if found is not None and name in self.sizes and (name != "in" or found.end() == len(text)):
            unit, end = name, found.end()
        if unit and unit not in self.sizes:
            return none
        size = self.sizes[unit] if unit else self.unit
        if size is None:
            return Measured(span.start, end, None, f"has no unit of {self.dimension}")
        value = amount.value * size
        return Measured(span.start, end, value, has_unit=bool(unit), size=size if unit else None)


_UNIT: Final = re.compile(r"[ -]?([a-z]+)\b", re.IGNORECASE)


def joined(text: str, parts: Sequence[Measured]) -> list[Span[Decimal]]:
    """Return quantities, `1 hour and 47 minutes` as one: the greater unit first.

    Bare numbers are never parts of one, and neither are two of a unit: `2, 1` are two distances.
    """
    whole: list[Measured] = []
    for part in parts:
        last = whole[-1] if whole else None
        if (
            last is not None
            and last.value is not None
            and part.value is not None
            and last.size is not None
            and part.size is not None
            and part.size < last.size
            and 0 <= part.value < last.value
            and re.fullmatch(r"\.?,?\s*(?:and\s)?", text[last.end : part.start])
        ):
            value = last.value + part.value
            whole[-1] = Measured(last.start, part.end, value, has_unit=True, size=part.size)
        else:
            whole.append(part)
    return [*whole]


class DistanceKind(MeasuredKind):
    """A distance, with its unit; told in metres."""

    noun = "a distance"
    such_as = " with its unit, such as '1.7 km'"
    sizes = LENGTHS
    dimension = "length"
