"""Whether one value equals an expected one, as `exact` means it."""

from __future__ import annotations

import re
from decimal import Decimal

from evaluators.text import normalise

_PLAIN_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")


def is_equal(found: str, wanted: str | float, *, case: bool = False) -> bool:
    """Say whether a value equals the expected one.

    Text equals after both sides are normalised, unless nothing is left of what is expected (`™`):
    then the value must be that very text. A number equals text that is that number and nothing
    else, however many zeros it is written with.

    Args:
        found: as it was found.
        wanted: as the task writes it.
        case: whether letters of another case differ.
    """
    value = normalise(found, case=case)
    if not isinstance(wanted, str):
        return _plain_number(value) == Decimal(str(wanted))
    text = normalise(wanted, case=case)
    return value == text and (bool(text) or not wanted.strip() or found.strip() == wanted.strip())


def _plain_number(value: str) -> Decimal | None:
    """Return the value of text that is one number and nothing else, None for any other text."""
    return Decimal(value) if _PLAIN_NUMBER.fullmatch(value) else None
