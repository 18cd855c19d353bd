"""Matching: whether what a check's locator found is what its matcher expects."""

from __future__ import annotations

from collections.abc import Sequence

from arena_core.worlds import World
from evaluators.checks import Check
from evaluators.matched import Matched


def match(check: Check, values: Sequence[str], world: World) -> Matched:
    """Compare what a check's locator found with what the check expects in a world; never raises."""

    def form(text: str) -> str:
        return check.locate.expected_form(text, is_whole=check.match.is_whole)

    return check.match.match(values, world, form)
