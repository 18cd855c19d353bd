"""`how: found`: the locator found something, whatever it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from arena_core.worlds import World
from evaluators.matchers.base import Form, Matched, Matcher, found_or_wanted


class FoundMatcher(Matcher):
    """Met where there is a value at all: for locators that say themselves what is looked for."""

    how: Literal["found"] = "found"

    def match(self, values: Sequence[str], world: World, form: Form = str) -> Matched:  # noqa: ARG002 - anything will do
        """Say whether there is a value."""
        return found_or_wanted(values, "anything", met=bool(values))
