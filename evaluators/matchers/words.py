"""The words that the reasons of several matchers share."""

from __future__ import annotations

from collections.abc import Sequence

from evaluators.fields import Expected
from evaluators.matched import Matched
from evaluators.text import shown, shown_all


def found_or_wanted(values: Sequence[str], wanted: str, *, met: bool) -> Matched:
    """Return a result whose reason says what was found, and what was wanted where it is not met."""
    if met:
        reason = f"found {shown_all(values)}" if values else "found nothing, as wanted"
    else:
        reason = f"found {shown_all(values) or 'nothing'}, wanted {wanted}"
    return Matched(met=met, reason=reason, expected=wanted)


def listed(expected: Sequence[Expected]) -> str:
    """Return expected values in quotes, one after the other."""
    return ", ".join(shown(str(wanted)) for wanted in expected)
