"""The calculator's constants and functions, on decimal numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Decimal

_LARGEST_FACTORIAL = 400
_MOST_DIGITS = 20
_MANY = range(1, 100)


class CalculationError(Exception):
    """Why an expression has no value, in words for its author."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function: how many values it takes, and how it is computed.

    Attributes:
        takes_angle, gives_angle: what degrees are converted on.
    """

    of: Callable[..., Decimal]
    counts: Sequence[int] = (1,)
    takes_angle: bool = False
    gives_angle: bool = False

    def compute(self, arguments: Sequence[Decimal], *, in_degrees: bool) -> Decimal:
        """Return the value; angles are in degrees or radians."""
        if self.takes_angle and in_degrees:
            arguments = [_radians(one) for one in arguments]
        value = self.of(*arguments)
        return value * 180 / CONSTANTS["pi"] if self.gives_angle and in_degrees else value


CONSTANTS: Mapping[str, Decimal] = {
    "pi": Decimal("3.141592653589793238462643383279503"),
    "e": Decimal("2.718281828459045235360287471352662"),
}


def factorial(number: Decimal) -> Decimal:
    """Return n! of a whole number."""
    if number != number.to_integral_value() or not 0 <= number <= _LARGEST_FACTORIAL:
        message = f"A factorial is of a whole number from 0 to {_LARGEST_FACTORIAL}."
        raise CalculationError(message)
    return +Decimal(math.factorial(int(number)))


def _radians(degrees: Decimal) -> Decimal:
    return (degrees % 360) * CONSTANTS["pi"] / 180


def _root(number: Decimal) -> Decimal:
    if number < 0:
        message = "A negative number has no square root here."
        raise CalculationError(message)
    return number.sqrt()


def _cube_root(number: Decimal) -> Decimal:
    root = abs(number) ** (Decimal(1) / 3)
    return root.copy_sign(number)


def _logarithm(number: Decimal, base: Decimal | None = None) -> Decimal:
    if number <= 0 or (base is not None and (base <= 0 or base == 1)):
        message = "A logarithm is of a positive number, to a positive base other than 1."
        raise CalculationError(message)
    return number.log10() if base is None else number.ln() / base.ln()


def _natural(number: Decimal) -> Decimal:
    return _logarithm(number, CONSTANTS["e"]) if number <= 0 else number.ln()


def _rounded(number: Decimal, digits: Decimal = Decimal(0)) -> Decimal:
    if digits != digits.to_integral_value() or abs(digits) > _MOST_DIGITS:
        message = f"round takes a whole number of digits, {_MOST_DIGITS} at most."
        raise CalculationError(message)
    return number.quantize(Decimal(1).scaleb(-int(digits)), rounding=ROUND_HALF_UP)


def _circular(of: Callable[[float], float]) -> Callable[[Decimal], Decimal]:
    def compute(number: Decimal) -> Decimal:
        value = of(float(number))
        # What is zero but for the last bit of a float is zero.
        return Decimal(0) if abs(value) < 1e-15 else Decimal(value)

    return compute


def _tangent(angle: Decimal) -> Decimal:
    if not _circular(math.cos)(angle):
        message = "There is no tangent of a right angle."
        raise CalculationError(message)
    return _circular(math.tan)(angle)


def _mean(*numbers: Decimal) -> Decimal:
    return sum(numbers, Decimal(0)) / len(numbers)


FUNCTIONS: Mapping[str, Function] = {
    "sqrt": Function(_root),
    "cbrt": Function(_cube_root),
    "abs": Function(abs),
    "ln": Function(_natural),
    "log": Function(_logarithm, (1, 2)),
    "exp": Function(Decimal.exp),
    "sin": Function(_circular(math.sin), takes_angle=True),
    "cos": Function(_circular(math.cos), takes_angle=True),
    "tan": Function(_tangent, takes_angle=True),
    "asin": Function(_circular(math.asin), gives_angle=True),
    "acos": Function(_circular(math.acos), gives_angle=True),
    "atan": Function(_circular(math.atan), gives_angle=True),
    "round": Function(_rounded, (1, 2)),
    "floor": Function(lambda number: number.to_integral_value(ROUND_FLOOR)),
    "ceil": Function(lambda number: number.to_integral_value(ROUND_CEILING)),
    "min": Function(min, _MANY),
    "max": Function(max, _MANY),
    "sum": Function(lambda *numbers: sum(numbers, Decimal(0)), _MANY),
    "mean": Function(_mean, _MANY),
}
