"""A quantity beside the same in another unit: `17 km (10.6 miles)`, `70.7 °F = 21.5 °C`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from evaluators.values.numbers import numeral_value

# Name: dimension, size in the dimension's unit, and where its zero lies.
UNITS: Final = {
    name: (dimension, Decimal(size), Decimal(zero))
    for dimension, names, size, zero in (
        ("length", "mm millimetre millimetres millimeter millimeters", "0.001", 0),
        ("length", "cm centimetre centimetres centimeter centimeters", "0.01", 0),
        ("length", "m metre metres meter meters mtr", 1, 0),
        ("length", "km kms kilometre kilometres kilometer kilometers", 1000, 0),
        ("length", "in inch inches", "0.0254", 0),
        ("length", "ft foot feet", "0.3048", 0),
        ("length", "yd yds yard yards", "0.9144", 0),
        ("length", "mi mile miles", "1609.344", 0),
        ("length", "nmi", 1852, 0),
        ("mass", "g gram grams", 1, 0),
        ("mass", "kg kgs kilogram kilograms kilo kilos", 1000, 0),
        ("mass", "lb lbs pound pounds", "453.59237", 0),
        ("mass", "oz ounce ounces", "28.349523125", 0),
        ("speed", "km/h kmh kph", 1, 0),
        ("speed", "mph", "1.609344", 0),
        ("volume", "ml millilitre millilitres milliliter milliliters", 1, 0),
        ("volume", "cl centilitre centilitres", 10, 0),
        ("volume", "l litre litres liter liters", 1000, 0),
        ("time", "s sec secs second seconds", 1, 0),
        ("time", "min mins minute minutes", 60, 0),
        ("time", "h hr hrs hour hours", 3600, 0),
        ("temperature", "°c|celsius|degrees celsius|degree celsius", "1.8", 32),
        ("temperature", "°f|fahrenheit|degrees fahrenheit|degree fahrenheit", 1, 0),
    )
    for name in (names.split("|") if "|" in names else names.split())
}
_UNIT: Final = "|".join(re.escape(name) for name in sorted(UNITS, key=len, reverse=True))
_QUANTITY: Final = r"(?P<{0}>-?\d+(?:[.,]\d+)*) ?(?P<{0}unit>" + _UNIT + r")\.?(?![\w°²³^/])"
_PAIR: Final = re.compile(
    rf"(?<![\w.,-]){_QUANTITY.format('one')}(?P<mark> ?= ?| \("
    rf"(?:= ?|≈ ?|~|about |approx\.? |approximately |or )?){_QUANTITY.format('two')}(?P<end>\)?)",
    re.IGNORECASE,
)


def conversions(text: str) -> Iterator[tuple[int, int]]:
    """Yield where a text says a quantity again in another unit, rightly, to the digits it gives."""
    for found in _PAIR.finditer(text):
        is_bracket = "(" in found["mark"]
        if is_bracket is not bool(found["end"]) or not _is_same(found):
            continue
        yield found.start("mark"), found.end()
        yield found.start(), found.end("mark")


def _is_same(found: re.Match[str]) -> bool:
    one, two = (numeral_value(found[name].lstrip("-")) for name in ("one", "two"))
    units = [UNITS[found[f"{name}unit"].casefold()] for name in ("one", "two")]
    if one is None or two is None or units[0][0] != units[1][0] or units[0][1:] == units[1][1:]:
        return False
    signed = [-n if found[name].startswith("-") else n for n, name in ((one, "one"), (two, "two"))]
    return _rounds(signed[0], units[0], signed[1], units[1]) or _rounds(
        signed[1], units[1], signed[0], units[0]
    )


def _rounds(
    exact: Decimal,
    unit: tuple[str, Decimal, Decimal],
    rounded: Decimal,
    other: tuple[str, Decimal, Decimal],
) -> bool:
    converted = (exact * unit[1] + unit[2] - other[2]) / other[1]
    half = Decimal(1).scaleb(int(rounded.as_tuple().exponent)) / 2
    return abs(converted - rounded) <= half
