"""Units of measure, and the way from one to another."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path


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


_IN_KEYS = str.maketrans({" ": "-", "(": None, ")": None})


def _number(text: str) -> Decimal:
    above, _, below = text.partition("/")
    return Decimal(above) / Decimal(below or "1")


def _unit(told: Mapping[str, str]) -> Unit:
    name = told["name"]
    key = told.get("key", name.lower().translate(_IN_KEYS))
    return Unit(key, name, _number(told["factor"]), _number(told.get("zero", "0")))


def _quantities() -> tuple[Quantity, ...]:
    """Read what there is to be converted from units.toml."""
    told = tomllib.loads((Path(__file__).parent / "units.toml").read_text(encoding="utf-8"))
    return tuple(
        Quantity(one["name"].lower(), one["name"], tuple(_unit(unit) for unit in one["units"]))
        for one in told["quantity"]
    )


QUANTITIES = _quantities()


def quantity(key: str) -> Quantity:
    """Return a quantity by its key, the first one where there is none such."""
    return next((one for one in QUANTITIES if one.key == key), QUANTITIES[0])
