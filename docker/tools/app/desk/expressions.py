"""What a calculator is asked, read by a parser of its own: nothing is ever handed to Python.

Grammar, from what binds least to what binds most:

    sum     := product (("+" | "-") product)*
    product := sign (("*" | "/" | "mod")? sign)*      a missing operator multiplies: 2(3 + 4), 2 pi
    sign    := ("-" | "+") sign | power
    power   := postfix ("^" sign)?
    postfix := atom ("!" | "%")*
    atom    := number | name | name "(" sum ("," sum)* ")" | "(" sum ")"

A percentage that is added or taken away is one of what stands before it, as on a pocket
calculator: 200 + 10 % is 220. Anywhere else it is a hundredth: 200 * 10 % is 20.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, DecimalException, localcontext
from enum import StrEnum

from desk.functions import CONSTANTS, FUNCTIONS, CalculationError, factorial

MAX_LENGTH = 200
_MAX_DEPTH = 40
_PRECISION = 34
_LARGEST_EXPONENT = 999
_SHOWN_DIGITS = 12
_PLAIN_EXPONENTS = range(-9, 15)
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))|(?P<name>[a-z]+\d*)"
    r"|(?P<sign>[-+*/^!%(),]))",
    re.IGNORECASE,
)
_SPELLINGS = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "π": " pi ", "√": " sqrt "})


class Angle(StrEnum):
    """In what sine and the like take their argument."""

    DEGREES = "degrees"
    RADIANS = "radians"


@dataclass(frozen=True, slots=True)
class _Value:
    """A number, or a percentage: then `number` counts hundredths."""

    number: Decimal
    is_percentage: bool = False

    @property
    def plain(self) -> Decimal:
        return self.number / 100 if self.is_percentage else self.number


def calculate(text: str, angle: Angle = Angle.DEGREES) -> str:
    """Return an expression's value as a calculator shows it, to 12 significant digits.

    Raises:
        CalculationError: why there is none, in words for its author.
    """
    if len(text) > MAX_LENGTH:
        message = f"An expression may have {MAX_LENGTH} characters at most."
        raise CalculationError(message)
    with localcontext() as context:
        context.prec = _PRECISION
        context.Emax, context.Emin = _LARGEST_EXPONENT, -_LARGEST_EXPONENT
        try:
            return shown(_Reader(_tokens(text), angle).value())
        except CalculationError:
            raise
        except (DecimalException, OverflowError, ValueError):
            message = "The result is not a number that can be shown."
            raise CalculationError(message) from None


def shown(number: Decimal) -> str:
    """Write a number: plainly where that is readable, else with an exponent."""
    with localcontext() as context:
        context.prec = _SHOWN_DIGITS
        rounded = +number
    if not rounded:
        return "0"
    exponent = rounded.adjusted()
    if exponent in _PLAIN_EXPONENTS:
        text = f"{rounded:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{rounded.normalize():e}".replace("e", " × 10^").replace("^+", "^")


def _tokens(text: str) -> list[str]:
    plain = text.translate(_SPELLINGS).replace("**", "^").rstrip()
    found: list[str] = []
    position = 0
    while position < len(plain):
        match = _TOKEN.match(plain, position)
        if match is None:
            message = f"'{plain[position:].strip()[:1]}' is not understood here."
            raise CalculationError(message)
        found.append(match.group().strip().lower())
        position = match.end()
    if not found:
        message = "Type an expression first."
        raise CalculationError(message)
    return found


class _Reader:
    """Reads tokens from left to right and computes as it goes."""

    def __init__(self, tokens: list[str], angle: Angle) -> None:
        self._tokens = tokens
        self._angle = angle
        self._at = 0
        self._depth = 0

    def value(self) -> Decimal:
        """Return the value of all tokens."""
        value = self._sum()
        if self._next:
            message = f"'{self._next}' is not expected here."
            raise CalculationError(message)
        return value.plain

    @property
    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, *wanted: str) -> str:
        if self._next not in wanted:
            return ""
        self._at += 1
        return self._tokens[self._at - 1]

    def _sum(self) -> _Value:
        left = self._nested(self._product)
        while operator := self._take("+", "-"):
            right = self._product()
            change = left.plain * right.plain if right.is_percentage else right.number
            left = _Value(left.plain + change if operator == "+" else left.plain - change)
        return left

    def _product(self) -> _Value:
        left = self._sign()
        while True:
            operator = self._take("*", "/", "mod")
            if not operator and not self._starts_an_atom():
                return left
            right = self._sign().plain
            if operator in {"/", "mod"} and not right:
                message = "A division by zero has no result."
                raise CalculationError(message)
            match operator:
                case "/":
                    left = _Value(left.plain / right)
                case "mod":
                    left = _Value(_remainder(left.plain, right))
                case _:
                    left = _Value(left.plain * right)

    def _starts_an_atom(self) -> bool:
        return self._next == "(" or self._next[:1].isalnum() or self._next[:1] == "."

    def _sign(self) -> _Value:
        operator = self._take("-", "+")
        if not operator:
            return self._power()
        value = self._nested(self._sign)
        return _Value(-value.number, value.is_percentage) if operator == "-" else value

    def _power(self) -> _Value:
        base = self._postfix()
        if not self._take("^"):
            return base
        exponent = self._nested(self._sign).plain
        if not base.plain and exponent <= 0:
            message = "Zero can be raised to a positive power only."
            raise CalculationError(message)
        return _Value(base.plain**exponent)

    def _postfix(self) -> _Value:
        value = self._atom()
        while operator := self._take("!", "%"):
            if operator == "!":
                value = _Value(factorial(value.plain))
            else:
                value = _Value(value.plain, is_percentage=True)
        return value

    def _atom(self) -> _Value:
        token = self._next
        self._at += 1
        if token == "(":
            value = self._nested(self._sum)
            self._close()
            return _Value(value.plain)
        if token[:1].isdigit() or token[:1] == ".":
            return _Value(+Decimal(token))
        if token in CONSTANTS:
            return _Value(CONSTANTS[token])
        if token in FUNCTIONS:
            return _Value(self._call(token))
        message = (
            f"'{token}' is not expected here." if token else "Something is missing at the end."
        )
        raise CalculationError(message)

    def _call(self, name: str) -> Decimal:
        function = FUNCTIONS[name]
        if not self._take("("):  # sqrt 16, sin 30
            arguments = [self._nested(self._power).plain]
        else:
            arguments = [self._sum().plain]
            while self._take(","):
                arguments.append(self._sum().plain)
            self._close()
        if len(arguments) not in function.counts:
            message = f"{name} does not take {len(arguments)} values."
            raise CalculationError(message)
        return function.compute(arguments, in_degrees=self._angle is Angle.DEGREES)

    def _close(self) -> None:
        if not self._take(")"):
            message = "A bracket is not closed."
            raise CalculationError(message)

    def _nested(self, read: Callable[[], _Value]) -> _Value:
        """Read one level deeper: what is too deep is refused before Python's own stack ends."""
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            message = "The expression is nested too deeply."
            raise CalculationError(message)
        value = read()
        self._depth -= 1
        return value


def _remainder(left: Decimal, right: Decimal) -> Decimal:
    """Return what is left over, with the sign of the divisor."""
    rest = left % right
    return rest + right if rest and (rest < 0) != (right < 0) else rest
