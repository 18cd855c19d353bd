"""Whether one value equals an expected one, as `exact` means it."""

from __future__ import annotations

import re
from decimal import Decimal

from evaluators.text import normalise

_PLAIN_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")


def is_equal(found: str, wanted: str | float, *, case: bool = False) -> bool:
    """Say whether a normalised value equals the expected one.

    Text equals after both sides are normalised; a number equals text that is that number and
    nothing else, however many zeros it is written with.

    Args:
        found: normalised with the same `case`.
        wanted: as the task writes it.
        case: whether letters of another case differ.
    """
    if isinstance(wanted, str):
        return found == normalise(wanted, case=case)
    return _plain_number(found) == Decimal(str(wanted))


def _plain_number(value: str) -> Decimal | None:
    """Return the value of text that is one number and nothing else, None for any other text."""
    return Decimal(value) if _PLAIN_NUMBER.fullmatch(value) else None
