"""The converter: known pairs, and there and back."""

from __future__ import annotations

from decimal import Decimal
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

units = import_module("desk.units")
shown = import_module("desk.expressions").shown


@pytest.mark.parametrize(
    ("quantity", "value", "source", "target", "result"),
    [
        ("length", "1", "mile", "kilometre", "1.609344"),
        ("length", "6", "foot", "metre", "1.8288"),
        ("weight", "10", "stone", "kilogram", "63.5029318"),
        ("temperature", "100", "celsius", "fahrenheit", "212"),
        ("temperature", "-40", "fahrenheit", "celsius", "-40"),
        ("temperature", "0", "kelvin", "celsius", "-273.15"),
        ("volume", "1", "gallon-uk", "pint-uk", "8"),
        ("speed", "36", "kilometre-per-hour", "metre-per-second", "10"),
        ("time", "1.5", "hour", "minute", "90"),
        ("area", "1", "hectare", "square-metre", "10000"),
    ],
)
def test_a_value_is_converted(
    quantity: str, value: str, source: str, target: str, result: str
) -> None:
    of = units.quantity(quantity)
    assert shown(units.convert(Decimal(value), of.unit(source), of.unit(target))) == result


PAIRS = [(source, target) for of in units.QUANTITIES for source in of.units for target in of.units]


@given(st.decimals(-1000, 1000, places=3), st.sampled_from(PAIRS))
def test_there_and_back_is_where_one_started(value: Decimal, pair: tuple[object, object]) -> None:
    source, target = pair
    back = units.convert(units.convert(value, source, target), target, source)
    assert abs(back - value) < Decimal("1e-18")
