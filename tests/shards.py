"""Slow tests in shards of about equal time: `pytest -m slow --shard 2/6`.

A shard takes whole modules, since the tests of a module share what is started for the first. How
long a module takes goes by its tests' marks. A test that might not be done by ARENA_TESTS_UNTIL
(Unix time) is skipped, and so is one whose name has a site that ARENA_TESTS_WITHOUT names: there
was no time to build its image.
"""

from __future__ import annotations

import os
import re
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import pytest

_WORD: Final = re.compile(r"[a-z]+")
# What a slow test takes at most if its mark says nothing else.
USUAL_MINUTES = 4


def shards(minutes: Mapping[str, float], count: int) -> list[set[str]]:
    """Return modules in so many shards; the longest module goes first, to the shortest shard."""
    found: list[set[str]] = [set() for _ in range(count)]
    lengths = [0.0] * count
    for module, length in sorted(minutes.items(), key=lambda one: (-one[1], one[0])):
        shortest = lengths.index(min(lengths))
        found[shortest].add(module)
        lengths[shortest] += length
    return found


@dataclass(slots=True, eq=False)
class Shard:
    """The plug-in behind `--shard K/N`."""

    number: int
    count: int
    until: float = field(default_factory=lambda: float(os.environ.get("ARENA_TESTS_UNTIL", "inf")))
    without: frozenset[str] = field(
        default_factory=lambda: frozenset(os.environ.get("ARENA_TESTS_WITHOUT", "").split())
    )

    @classmethod
    def read(cls, text: str) -> Shard:
        """Read `K/N`, for example `2/6`."""
        number, _, count = text.partition("/")
        if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
            raise pytest.UsageError(f"--shard {text}: expected K/N, for example 2/6")
        return cls(int(number), int(count))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Keep the tests of this shard."""
        minutes: defaultdict[str, float] = defaultdict(float)
        for item in items:
            minutes[str(item.path)] += _minutes(item)
        mine = shards(minutes, self.count)[self.number - 1]
        config.hook.pytest_deselected(items=[one for one in items if str(one.path) not in mine])
        items[:] = [one for one in items if str(one.path) in mine]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Skip what might take too long, and what has no image."""
        for site in self.without & frozenset(_WORD.findall(item.nodeid)):
            pytest.skip(f"there was no time to build the image of {site} (ARENA_TESTS_WITHOUT)")
        minutes = _minutes(item)
        if time.time() + 60 * minutes > self.until:
            pytest.skip(f"no {minutes:.0f} minutes are left for it (ARENA_TESTS_UNTIL)")


def _minutes(item: pytest.Item) -> float:
    return max(
        (float(one.kwargs.get("minutes", USUAL_MINUTES)) for one in item.iter_markers("slow")),
        default=0.0,
    )
