"""`how: exact` and `how: found`: a value equals the expected one, or there is one at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from arena_core.worlds import World
from evaluators.fields import Expected, ExpectedValues, PerWorld, by_world, in_world
from evaluators.matchers.base import ExpectedText, Form, Matched, Matcher, found_or_wanted, listed
from evaluators.values.pairing import pair_up
from evaluators.values.text import is_equal, shown


class ExactMatcher(Matcher):
    """Met where a value equals the expected one.

    Both sides are normalised as `evaluators.values.text.normalise` says; case is folded unless
    `case`. A list is compared with all values: in order, or as a multiset where `ordered` is false;
    the empty list asks that nothing was found. A number written without quotes equals that number
    however many zeros it is written with (`12.5` and `12.50`).
    """

    how: Literal["exact"] = "exact"
    value: ExpectedValues | PerWorld[ExpectedValues]
    case: bool = False
    ordered: bool = True

    def match(self, values: Sequence[str], world: World, form: Form = str) -> Matched:
        """Compare one value, or all of them with a list."""
        expected = self.value.of(world) if isinstance(self.value, PerWorld) else self.value

        def read(wanted: Expected) -> str | float:
            return form(wanted) if isinstance(wanted, str) else wanted

        def equals(value: str, wanted: Expected) -> bool:
            return is_equal(value, read(wanted), case=self.case)

        if not isinstance(expected, tuple):
            whole = read(expected)
            fitting = [value for value in values if is_equal(value, whole, case=self.case)]
            return found_or_wanted(fitting or values, shown(str(expected)), met=bool(fitting))
        if self.ordered:
            met = len(values) == len(expected) and all(map(equals, values, expected))
        else:
            met = _pairs_up(values, expected, equals)
        order = "in this order" if self.ordered else "in any order"
        wanted = f"exactly {listed(expected)} {order}" if expected else "nothing"
        return found_or_wanted(values, wanted, met=met)

    @property
    def one_is_enough(self) -> bool:
        return not any(isinstance(branch, tuple) for _, branch in by_world(self.value))

    @property
    def asks_for_nothing(self) -> bool:
        """Whether it expects the empty list in one of the worlds."""
        return any(branch == () for _, branch in by_world(self.value))

    def computed_counts(self) -> frozenset[int]:
        value = in_world(self.value, World.OFFLINE)
        return frozenset({len(value) if isinstance(value, tuple) else 1})

    def whole_texts(self) -> Iterator[ExpectedText]:
        for world, branch in by_world(self.value):
            at = ("match", "value") if world is None else ("match", "value", world.value)
            for one in branch if isinstance(branch, tuple) else (branch,):
                yield ExpectedText(at, str(one), world)


def _pairs_up(
    found: Sequence[str], expected: Sequence[Expected], equals: Callable[[str, Expected], bool]
) -> bool:
    """Say whether values and expectations pair up one to one, whichever way they must be paired."""
    if len(found) != len(expected):
        return False
    fits = [[n for n, value in enumerate(found) if equals(value, wanted)] for wanted in expected]
    return len(pair_up(fits)) == len(expected)


class FoundMatcher(Matcher):
    """Met where there is a value at all: for locators that say themselves what is looked for."""

    how: Literal["found"] = "found"

    def match(self, values: Sequence[str], world: World, form: Form = str) -> Matched:  # noqa: ARG002 - anything will do
        return found_or_wanted(values, "anything", met=bool(values))

    @property
    def one_is_enough(self) -> bool:
        return True
