"""`how: number`: a value holds exactly one number, near enough to the expected one."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Final, Literal

from pydantic import Field

from arena_core.worlds import World
from evaluators.fields import ExpectedNumber, PerWorld, in_world
from evaluators.matchers.base import Form, Matched, Matcher, found_or_wanted
from evaluators.values.numbers import read_numbers
from evaluators.values.text import shown

_MOST_SAID: Final = 5


class NumberMatcher(Matcher):
    """Met where the value holds exactly one number, within `tolerance` of the expected one.

    Thousands separators, signs, currency signs, units and percent signs around the number are
    understood; text with two different numbers is not a match, so no answer can list guesses. How
    numbers are read says `evaluators.values.numbers.read_numbers`. `tolerance` is inclusive.
    """

    how: Literal["number"] = "number"
    value: ExpectedNumber | PerWorld[ExpectedNumber]
    tolerance: ExpectedNumber = Field(default=0.0, ge=0)

    def match(self, values: Sequence[str], world: World, form: Form = str) -> Matched:  # noqa: ARG002 - a number has one form
        """Read the number in each value; the reason says why a value has none."""
        expected = in_world(self.value, world)
        goal, tolerance = Decimal(str(expected)), Decimal(str(self.tolerance))
        within = f" ± {_in_digits(tolerance)}" if tolerance else ""
        wanted = f"the number {_in_digits(goal)}{within}"
        faults: list[str] = []
        for value in values:
            numbers = read_numbers(value)
            if numbers.unreadable:
                faults.append(f"{shown(numbers.unreadable[0])} cannot be read as one number")
            elif numbers.bounds:
                faults.append(f"{shown(numbers.bounds[0])} is no value")
            elif len(numbers.values) > 1:
                several = ", ".join(map(_in_digits, numbers.values[:_MOST_SAID]))
                several += ", …" if len(numbers.values) > _MOST_SAID else ""
                faults.append(f"{shown(value)} holds different numbers ({several})")
            elif not numbers.values:
                faults.append(f"{shown(value)} holds no number")
            elif abs(numbers.values[0] - goal) <= tolerance:
                return Matched(met=True, reason=f"found {shown(value)}", expected=wanted)
        result = found_or_wanted(values, wanted, met=False)
        if not faults:
            return result
        return Matched(met=False, reason=f"{result.reason}: {faults[0]}", expected=wanted)


def _in_digits(number: Decimal) -> str:
    """Write a number without an exponent and without zeros that say nothing."""
    digits = f"{number:f}"
    return digits.rstrip("0").rstrip(".") if "." in digits else digits
