"""Seeded choice: the same words and figures at every build."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

Item = TypeVar("Item")
SEED = "Merrowshire 1"


class Dice:
    """A stream of choices of its own for each purpose, so that adding to one shifts no other."""

    def __init__(self, purpose: str) -> None:
        self._random = Random(f"{SEED}/{purpose}")

    def pick(self, items: Sequence[Item]) -> Item:
        """Return one of the items."""
        return items[self._random.randrange(len(items))]

    def some(self, items: Sequence[Item], count: int) -> tuple[Item, ...]:
        """Return that many different items, or all of them if there are fewer."""
        return tuple(self._random.sample(items, min(count, len(items))))

    def weighted(self, items: Sequence[Item], weights: Sequence[float]) -> Item:
        """Return one of the items, the heavier the likelier."""
        return self._random.choices(items, weights)[0]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """Return all items in another order."""
        return self._random.sample(items, len(items))

    def between(self, low: int, high: int) -> int:
        """Return a whole number from low to high, both included."""
        return self._random.randint(low, high)

    def distinct(self, count: int, low: int, high: int) -> list[int]:
        """Return different whole numbers, so that a list of them has one largest."""
        return self._random.sample(range(low, high + 1), count)

    def skewed(self, low: int, high: int) -> int:
        """Return a whole number from low to high, small ones far likelier."""
        return low + int((high - low) * self._random.random() ** 3)

    def happens(self, chance: float) -> bool:
        """Return whether something of that probability happens."""
        return self._random.random() < chance
