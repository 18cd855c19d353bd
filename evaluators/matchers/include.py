"""`how: include`: the values hold the expected texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, Self

from pydantic import model_validator

from arena_core.worlds import World
from evaluators.fields import ExpectedValues, PerWorld, refuse_old_name
from evaluators.matchers.base import Form, Matched, Matcher, found_or_wanted, listed
from evaluators.text import holds_words, normalise


class IncludeMatcher(Matcher):
    """Met where a value holds the expected text, as whole words unless `substring`.

    Normalised as in `exact`. A list asks for each of its texts, in any of the values. What counts
    as a word says `evaluators.text.holds_words`.
    """

    is_whole: ClassVar[bool] = False

    how: Literal["include"] = "include"
    value: ExpectedValues | PerWorld[ExpectedValues]
    case: bool = False
    substring: bool = False

    @model_validator(mode="before")
    @classmethod
    def _refuse_old_names(cls, given: object) -> object:
        return refuse_old_name(given, "parts", "substring")

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        given = self.value
        branches = (given.offline, given.online) if isinstance(given, PerWorld) else (given,)
        for branch in branches:
            texts = branch if isinstance(branch, tuple) else (branch,)
            if not texts or not all(normalise(str(text)) for text in texts):
                message = "every text holds the empty text: `value` must ask for something"
                raise ValueError(message)
        return self

    def match(self, values: Sequence[str], world: World, form: Form = str) -> Matched:
        """Look for every expected text in any of the values."""
        expected = self.value.of(world) if isinstance(self.value, PerWorld) else self.value
        wanted = expected if isinstance(expected, tuple) else (expected,)
        found = [normalise(value, case=self.case) for value in values]
        missing = [
            text
            for text in wanted
            if not self._is_in(normalise(form(str(text)), case=self.case), found)
        ]
        how = "in it" if self.substring else "in it as whole words"
        result = found_or_wanted(values, f"{listed(wanted)} {how}", met=not missing)
        if not missing or len(wanted) == 1:
            return result
        reason = f"{result.reason}; missing {listed(missing)}"
        return Matched(met=False, reason=reason, expected=result.expected)

    def computed_counts(self) -> frozenset[int]:
        """Return as many values as are listed, or one: one text may hold all that is listed."""
        value = self.value.offline if isinstance(self.value, PerWorld) else self.value
        return frozenset({1, len(value)} if isinstance(value, tuple) else {1})

    def _is_in(self, wanted: str, found: Sequence[str]) -> bool:
        if self.substring:
            return bool(wanted) and any(wanted in value for value in found)
        return any(holds_words(value, wanted) for value in found)
