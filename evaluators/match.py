"""Matching: whether what a locator found is what a check expects. Pure, and never raises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import assert_never
from urllib.parse import unquote

from arena_core.worlds import World
from evaluators.checks import (
    Check,
    Expected,
    LocateUrl,
    MatchDelta,
    MatchExact,
    MatchInclude,
    MatchNumber,
    PerWorld,
    UrlPart,
)
from evaluators.equality import is_equal
from evaluators.logical_urls import parse_logical_url
from evaluators.matched import Matched
from evaluators.numbers import read_numbers
from evaluators.pairing import pair_up
from evaluators.side_effects import match_delta
from evaluators.text import holds_words, normalise, shown, shown_all

Reading = Callable[[str], str]


def match(check: Check, values: Sequence[str], world: World) -> Matched:
    """Compare the values a check's locator found with what the check expects in a world."""
    match check.match:
        case MatchExact() as asked:
            return _exact(asked, values, _expected(asked.value, world), _reading(check))
        case MatchInclude() as asked:
            return _include(asked, values, _expected(asked.value, world), _reading(check))
        case MatchNumber() as asked:
            return _number(asked, values, _in_world(asked.value, world))
        case MatchDelta() as asked:
            return match_delta(asked, values)
        case _:
            assert_never(check.match)


def _reading(check: Check) -> Reading:
    """Return how the expected text is read before it is normalised: a logical URL as a URL."""
    match check.locate:
        case LocateUrl(part=UrlPart.LOGICAL | UrlPart.FULL):
            if isinstance(check.match, MatchInclude):
                return unquote
            return lambda text: parse_logical_url(text).full
        case _:
            return str


def _exact(
    asked: MatchExact,
    values: Sequence[str],
    expected: Expected | tuple[Expected, ...],
    reading: Reading,
) -> Matched:
    found = [normalise(value, case=asked.case) for value in values]

    def equals(value: str, wanted: Expected) -> bool:
        read = reading(wanted) if isinstance(wanted, str) else wanted
        return is_equal(value, read, case=asked.case)

    if not isinstance(expected, tuple):
        fitting = [
            value for value, form in zip(values, found, strict=True) if equals(form, expected)
        ]
        return _judged(fitting or values, shown(str(expected)), met=bool(fitting))
    if asked.ordered:
        met = len(found) == len(expected) and all(map(equals, found, expected))
    else:
        met = _pairs_up(found, expected, equals)
    order = "in this order" if asked.ordered else "in any order"
    wanted = f"exactly {_listed(expected)} {order}" if expected else "nothing"
    return _judged(values, wanted, met=met)


def _include(
    asked: MatchInclude,
    values: Sequence[str],
    expected: Expected | tuple[Expected, ...],
    reading: Reading,
) -> Matched:
    wanted = expected if isinstance(expected, tuple) else (expected,)
    found = [normalise(value, case=asked.case) for value in values]
    missing = [
        text
        for text in wanted
        if not _held(normalise(reading(str(text)), case=asked.case), found, asked)
    ]
    how = "in it" if asked.parts else "in it as whole words"
    result = _judged(values, f"{_listed(wanted)} {how}", met=not missing)
    if not missing or len(wanted) == 1:
        return result
    reason = f"{result.reason}; missing {_listed(missing)}"
    return Matched(met=False, reason=reason, expected=result.expected)


def _held(wanted: str, found: Sequence[str], asked: MatchInclude) -> bool:
    if asked.parts:
        return bool(wanted) and any(wanted in value for value in found)
    return any(holds_words(value, wanted) for value in found)


def _number(asked: MatchNumber, values: Sequence[str], expected: float) -> Matched:
    goal, tolerance = Decimal(str(expected)), Decimal(str(asked.tolerance))
    within = f" ± {_in_digits(tolerance)}" if tolerance else ""
    wanted = f"the number {_in_digits(goal)}{within}"
    faults: list[str] = []
    for value in values:
        numbers = read_numbers(value)
        if numbers.unreadable:
            faults.append(f"'{numbers.unreadable[0]}' cannot be read as one number")
        elif len(numbers.values) > 1:
            listed = ", ".join(map(_in_digits, numbers.values))
            faults.append(f"{shown(value)} holds different numbers ({listed})")
        elif not numbers.values:
            faults.append(f"{shown(value)} holds no number")
        elif abs(numbers.values[0] - goal) <= tolerance:
            return Matched(met=True, reason=f"found {shown(value)}", expected=wanted)
    result = _judged(values, wanted, met=False)
    if not faults:
        return result
    return Matched(met=False, reason=f"{result.reason}: {faults[0]}", expected=wanted)


def _judged(values: Sequence[str], wanted: str, *, met: bool) -> Matched:
    if met:
        reason = f"found {shown_all(values)}" if values else "found nothing, as wanted"
    else:
        reason = f"found {shown_all(values) or 'nothing'}, wanted {wanted}"
    return Matched(met=met, reason=reason, expected=wanted)


def _pairs_up(
    found: Sequence[str], expected: Sequence[Expected], equals: Callable[[str, Expected], bool]
) -> bool:
    """Say whether values and expectations pair up one to one, whichever way they must be paired."""
    if len(found) != len(expected):
        return False
    fits = [[n for n, value in enumerate(found) if equals(value, wanted)] for wanted in expected]
    return len(pair_up(fits)) == len(expected)


def _in_digits(number: Decimal) -> str:
    """Write a number without an exponent and without zeros that say nothing."""
    digits = f"{number:f}"
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def _expected(
    value: Expected | tuple[Expected, ...] | PerWorld[Expected | tuple[Expected, ...]],
    world: World,
) -> Expected | tuple[Expected, ...]:
    return value.of(world) if isinstance(value, PerWorld) else value


def _in_world(value: float | PerWorld[float], world: World) -> float:
    return value.of(world) if isinstance(value, PerWorld) else value


def _listed(expected: Sequence[Expected]) -> str:
    return ", ".join(shown(str(wanted)) for wanted in expected)
