"""`how: regex`: a value matches a regular expression of the task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from arena_core.worlds import World
from evaluators.fields import PerWorld, by_world, in_world
from evaluators.matchers.base import Form, Matched, Matcher, found_or_wanted, listed
from evaluators.values.patterns import LONGEST_TEXT, matches, pattern_fault
from evaluators.values.text import normalise, shown

# What meets none of a pattern's wishes and all of a vacuous one's.
_PROBES: Final = ("", "0", "a b", "zebra: 12%")


def _as_tuple(given: object) -> object:
    return (given,) if isinstance(given, str) else given


def _sound(pattern: str) -> str:
    fault = pattern_fault(pattern)
    if fault is not None:
        raise ValueError(f"{shown(pattern)} {fault}")
    return pattern


Pattern = Annotated[str, AfterValidator(_sound)]
Patterns = Annotated[
    tuple[Pattern, ...],
    Field(min_length=1, max_length=20),
    BeforeValidator(_as_tuple, json_schema_input_type=str | tuple[str, ...]),
]


class RegexMatcher(Matcher):
    """Met where a value matches all of the patterns, and does not match `unless`.

    Patterns stand in tasks alone: what an answer or a page says is text, whatever it looks like.
    A pattern must match a value from end to end, unless `substring`. Values are in their normal
    form (`evaluators.values.text.normalise`), with every white space a blank, so that no line end
    is in them; patterns stand as they are written. Case makes no difference unless `case`. Of URLs
    the values are `site:/path`, decoded.

    Attributes:
        value: one pattern or several, of RE2 (https://github.com/google/re2/wiki/Syntax).
        unless: a pattern that the value must not match, in the same way.
    """

    is_whole: ClassVar[bool] = False

    how: Literal["regex"] = "regex"
    value: Patterns | PerWorld[Patterns]
    unless: Pattern | None = Field(default=None, exclude_if=lambda value: value is None)
    case: bool = False
    substring: bool = False

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        for world in World:
            if self.unless is None and all(self._fits(one, world) for one in _PROBES):
                raise ValueError("every text matches: the patterns must ask for something")
        return self

    def match(self, values: Sequence[str], world: World, form: Form = str) -> Matched:  # noqa: ARG002 - a pattern stands as it is
        fitting = [one for one in values if self._fits(normalise(one, case=True), world)]
        result = found_or_wanted(fitting or values, self._wanted(world), met=bool(fitting))
        if fitting or all(len(one) <= LONGEST_TEXT for one in values):
            return result
        reason = f"{result.reason}; one of more than {LONGEST_TEXT:,} characters matches nothing"
        return Matched(met=False, reason=reason, expected=result.expected)

    @property
    def one_is_enough(self) -> bool:
        return True

    @property
    def patterns(self) -> Iterator[str]:
        for _, patterns in by_world(self.value):
            yield from patterns

    def _fits(self, text: str, world: World) -> bool:
        whole = not self.substring
        if not all(
            matches(one, text, case=self.case, whole=whole) for one in in_world(self.value, world)
        ):
            return False
        return self.unless is None or not matches(self.unless, text, case=self.case, whole=whole)

    def _wanted(self, world: World) -> str:
        where = "a part like" if self.substring else "like"
        but = "" if self.unless is None else f" and not like {shown(self.unless)}"
        return f"{where} {listed(in_world(self.value, world))}{but}"
