"""What `draw` of a template says: from which values a seed draws a parameter's."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from typing import Annotated, Final, Self, TypeVar

from pydantic import BeforeValidator, Discriminator, Field, JsonValue, Tag, model_validator

from sites.fields import Strict

Item = TypeVar("Item")
_MOST: Final = 10_000


class Dice:
    """Draws numbers from a seed and the name of what is drawn, equal on every machine.

    Python promises no equal numbers of `random` across its versions; of SHA-256 it does.
    """

    def __init__(self, seed: int, *names: str | int) -> None:
        self._key = "\n".join(map(str, (seed, *names)))
        self._drawn = 0

    def below(self, bound: int) -> int:
        """Return a whole number from 0 to `bound` - 1."""
        self._drawn += 1
        digest = hashlib.sha256(f"{self._key}\n{self._drawn}".encode()).digest()
        return int.from_bytes(digest) % bound

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """Return the items in another order (Fisher and Yates)."""
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in items]


class DrawOne(Strict):
    """One of several values."""

    one_of: tuple[JsonValue, ...] = Field(min_length=1, max_length=_MOST)

    def value(self, dice: Dice) -> object:
        """Return one of them."""
        return self.one_of[dice.below(len(self.one_of))]


class DrawSample(Strict):
    """A list of `count` different ones of several values, in the order drawn."""

    sample: tuple[JsonValue, ...] = Field(min_length=1, max_length=_MOST)
    count: int = Field(ge=1)

    @model_validator(mode="after")
    def _has_enough(self) -> Self:
        if self.count > len(self.sample):
            raise ValueError(f"`count` is {self.count}, of {len(self.sample)} values in `sample`")
        return self

    def value(self, dice: Dice) -> object:
        """Return the list."""
        return dice.shuffled(self.sample)[: self.count]


class DrawInteger(Strict):
    """A whole number between two, both included."""

    integer: tuple[int, int]

    @model_validator(mode="after")
    def _ascends(self) -> Self:
        return _ascending(self, *self.integer)

    def value(self, dice: Dice) -> object:
        """Return the number."""
        low, high = self.integer
        return low + dice.below(high - low + 1)


class DrawAmount(Strict):
    """An amount between two, both included, written with as many decimals as `decimals` says."""

    amount: tuple[Decimal, Decimal]
    decimals: int = Field(default=2, ge=0, le=6)

    @model_validator(mode="after")
    def _ascends(self) -> Self:
        scaled = [bound.scaleb(self.decimals) for bound in self.amount]
        if any(bound != bound.to_integral_value() for bound in scaled):
            raise ValueError(f"`amount` has bounds with more decimals than {self.decimals}")
        return _ascending(self, *self.amount)

    def value(self, dice: Dice) -> object:
        """Return the amount as text: `19.90`."""
        low, high = (int(bound.scaleb(self.decimals)) for bound in self.amount)
        return str(Decimal(low + dice.below(high - low + 1)).scaleb(-self.decimals))


class DrawDay(Strict):
    """A day between two, both included."""

    day: tuple[date, date]

    @model_validator(mode="after")
    def _ascends(self) -> Self:
        return _ascending(self, *self.day)

    def value(self, dice: Dice) -> object:
        """Return the day as text: `2026-03-01`."""
        low, high = self.day
        return (low + timedelta(days=dice.below((high - low).days + 1))).isoformat()


_KINDS: Final = ("one_of", "sample", "integer", "amount", "day")


def _tag_of(rule: object) -> str:
    has = rule.__contains__ if isinstance(rule, Mapping) else partial(hasattr, rule)
    return next((f"drawn {kind}" for kind in _KINDS if has(kind)), "")


def _is_a_rule(rule: object) -> object:
    if not _tag_of(rule):
        raise ValueError(f"says from what is drawn: one of {', '.join(_KINDS)}")
    return rule


Draw = Annotated[
    Annotated[DrawOne, Tag("drawn one_of")]
    | Annotated[DrawSample, Tag("drawn sample")]
    | Annotated[DrawInteger, Tag("drawn integer")]
    | Annotated[DrawAmount, Tag("drawn amount")]
    | Annotated[DrawDay, Tag("drawn day")],
    Discriminator(_tag_of),
    BeforeValidator(_is_a_rule),
]
Rule = TypeVar("Rule")


def _ascending(rule: Rule, low: object, high: object) -> Rule:
    if low > high:  # type: ignore[operator]  # both are of one ordered type
        raise ValueError(f"its first bound, {low}, is above its second, {high}")
    return rule
