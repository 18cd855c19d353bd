"""`how: include`: the values hold the expected texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal, Self

from pydantic import model_validator

from arena_core.worlds import World
from evaluators.fields import ExpectedValues, PerWorld, by_world, in_world
from evaluators.lint import LintContext, Problem
from evaluators.matchers.base import Form, Matched, Matcher, UrlForm, found_or_wanted, listed
from evaluators.values.logical_urls import decoded_path, holds_url
from evaluators.values.text import holds_words, normalise


class IncludeMatcher(Matcher):
    """Met where a value holds the expected text, as whole words unless `substring`.

    Normalised as in `exact`. What a negation stands right before is not held: `not paid` does not
    hold `paid`. A list asks for each of its texts, in any of the values. What counts
    as a word says `evaluators.values.text.holds_words`, of a URL
    `evaluators.values.logical_urls.holds_url`.
    """

    is_whole: ClassVar[bool] = False

    how: Literal["include"] = "include"
    value: ExpectedValues | PerWorld[ExpectedValues]
    case: bool = False
    substring: bool = False

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        for _, branch in by_world(self.value):
            texts = branch if isinstance(branch, tuple) else (branch,)
            if not texts or not all(normalise(str(text)) for text in texts):
                raise ValueError("every text holds the empty text: `value` must ask for something")
        return self

    def match(self, values: Sequence[str], world: World, form: Form = str) -> Matched:
        """Look for every expected text in any of the values."""
        expected = in_world(self.value, world)
        wanted = expected if isinstance(expected, tuple) else (expected,)
        is_url = isinstance(form, UrlForm)
        missing = [
            text for text in wanted if not self._is_in(form(str(text)), values, is_url=is_url)
        ]
        whole = "as whole segments" if is_url else "as whole words"
        how = "in it" if self.substring else f"in it {whole}"
        result = found_or_wanted(values, f"{listed(wanted)} {how}", met=not missing)
        if not missing or len(wanted) == 1:
            return result
        reason = f"{result.reason}; missing {listed(missing)}"
        return Matched(met=False, reason=reason, expected=result.expected)

    @property
    def one_is_enough(self) -> bool:
        return not any(isinstance(branch, tuple) for _, branch in by_world(self.value))

    def computed_counts(self) -> frozenset[int]:
        """Return as many values as are listed, or one: one text may hold all that is listed."""
        value = in_world(self.value, World.OFFLINE)
        return frozenset({1, len(value)} if isinstance(value, tuple) else {1})

    def lint(self, known: LintContext) -> Iterator[Problem]:  # noqa: ARG002 - whatever surrounds it
        """Yield numbers with decimals: what YAML makes of `12.50` is looked for as `12.5`."""
        for world, branch in by_world(self.value):
            place = ("match", "value") if world is None else ("match", "value", world.value)
            texts = branch if isinstance(branch, tuple) else (branch,)
            for text in texts:
                if isinstance(text, float):
                    message = f"{text} has no quotes: YAML drops zeros at its end, and `include`"
                    message += " looks for its digits as they stand. Put the text in quotes"
                    yield Problem(place, message)

    def _is_in(self, wanted: str, values: Sequence[str], *, is_url: bool) -> bool:
        if is_url and not self.substring:
            return any(holds_url(value, wanted, case=self.case) for value in values)
        text = normalise(decoded_path(wanted) if is_url else wanted, case=self.case)
        found = (normalise(value, case=self.case) for value in values)
        if self.substring:
            return bool(text) and any(text in value for value in found)
        return any(holds_words(value, text, said=True) for value in found)
