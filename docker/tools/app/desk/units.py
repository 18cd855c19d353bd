"""Units of measure, and the way from one to another."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: how many of its quantity's base unit one is, and where its zero lies."""

    key: str
    name: str
    factor: Decimal
    zero: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class Quantity:
    """What is measured, with its units."""

    key: str
    name: str
    units: tuple[Unit, ...]

    def unit(self, key: str) -> Unit | None:
        """Return a unit by its key."""
        return next((unit for unit in self.units if unit.key == key), None)


def convert(value: Decimal, source: Unit, target: Unit) -> Decimal:
    """Return a value of one unit in another of the same quantity."""
    return (value * source.factor + source.zero - target.zero) / target.factor


def _quantity(name: str, *units: tuple[str, str]) -> Quantity:
    made = (
        Unit(unit.lower().translate(_IN_KEYS), unit, _number(factor))
        for unit, factor in units
    )
    return Quantity(name.lower(), name, tuple(made))


_IN_KEYS = str.maketrans({" ": "-", "(": None, ")": None})


def _number(text: str) -> Decimal:
    above, _, below = text.partition("/")
    return Decimal(above) / Decimal(below or "1")


QUANTITIES = (
    _quantity(
        "Length",
        ("metre", "1"),
        ("kilometre", "1000"),
        ("centimetre", "0.01"),
        ("millimetre", "0.001"),
        ("mile", "1609.344"),
        ("yard", "0.9144"),
        ("foot", "0.3048"),
        ("inch", "0.0254"),
        ("nautical mile", "1852"),
    ),
    _quantity(
        "Weight",
        ("kilogram", "1"),
        ("gram", "0.001"),
        ("tonne", "1000"),
        ("pound", "0.45359237"),
        ("ounce", "0.028349523125"),
        ("stone", "6.35029318"),
    ),
    Quantity(
        "temperature",
        "Temperature",
        (
            Unit("celsius", "degree Celsius", Decimal(1), Decimal("273.15")),
            Unit("fahrenheit", "degree Fahrenheit", Decimal(5) / 9, Decimal("459.67") * 5 / 9),
            Unit("kelvin", "kelvin", Decimal(1)),
        ),
    ),
    _quantity(
        "Volume",
        ("litre", "1"),
        ("millilitre", "0.001"),
        ("cubic metre", "1000"),
        ("pint (UK)", "0.56826125"),
        ("gallon (UK)", "4.54609"),
        ("fluid ounce (UK)", "0.0284130625"),
        ("cup (US)", "0.2365882365"),
        ("pint (US)", "0.473176473"),
        ("gallon (US)", "3.785411784"),
        ("teaspoon", "0.005"),
        ("tablespoon", "0.015"),
    ),
    _quantity(
        "Area",
        ("square metre", "1"),
        ("square kilometre", "1000000"),
        ("hectare", "10000"),
        ("acre", "4046.8564224"),
        ("square foot", "0.09290304"),
        ("square mile", "2589988.110336"),
    ),
    _quantity(
        "Speed",
        ("metre per second", "1"),
        ("kilometre per hour", "1/3.6"),
        ("mile per hour", "0.44704"),
        ("knot", "1852/3600"),
    ),
    _quantity(
        "Time",
        ("second", "1"),
        ("minute", "60"),
        ("hour", "3600"),
        ("day", "86400"),
        ("week", "604800"),
    ),
)


def quantity(key: str) -> Quantity:
    """Return a quantity by its key, the first one where there is none such."""
    return next((one for one in QUANTITIES if one.key == key), QUANTITIES[0])
