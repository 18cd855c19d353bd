"""webarena-verified's `ValueComparator`: what differs between an expected and an actual value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from evaluators.readings.verified.typed import Typed


@dataclass(frozen=True, slots=True)
class Comparison:
    """Compares two values, one line a difference.

    Attributes:
        ordered: the order of lists matters.
        unseen: keys whose values are not compared.
        more_keys: further keys of the actual value do not matter.
    """

    ordered: bool = False
    unseen: frozenset[str] = field(default=frozenset())
    more_keys: bool = False

    def differences(self, expected: Any, actual: Any, path: str) -> list[str]:
        """Return every difference.

        Raises:
            ValueError: an object is met twice in the actual value, or an expected one is empty.
        """
        return self._compared(expected, actual, path, set())

    def _compared(self, expected: Any, actual: Any, path: str, seen: set[int]) -> list[str]:
        if isinstance(actual, (dict, list, tuple)):
            if id(actual) in seen:
                message = f"Circular reference detected at path '{path}'"
                raise ValueError(message)
            seen.add(id(actual))
        if expected is None or actual is None:
            return [] if expected is actual else [f"{path}: expected {expected}, got {actual}"]
        if isinstance(expected, dict):
            return self._objects(expected, actual, path, seen)
        if isinstance(expected, (list, tuple)):
            return self._lists(expected, actual, path, seen)
        same = expected.equals(actual) if isinstance(expected, Typed) else expected == actual
        return [] if same else [f"{path}: expected {expected}, got {actual}"]

    def _objects(
        self, expected: dict[str, Any], actual: Any, path: str, seen: set[int]
    ) -> list[str]:
        if not isinstance(actual, dict):
            return [f"{path}: expected a structured object, but got {type(actual).__name__}"]
        if not expected:
            message = "Expected object must have at least one key"
            raise ValueError(message)
        found: list[str] = []
        missing, more = {*expected} - {*actual}, {*actual} - {*expected}
        if missing:
            found.append(f"{path}: missing keys {sorted(missing)}")
        if more and not self.more_keys:
            found.append(f"{path}: extra keys {sorted(more)}")
        for name in [one for one in expected if one in actual and one not in self.unseen]:
            found += self._compared(expected[name], actual[name], f"{path}.{name}", seen)
        return found

    def _lists(self, expected: Any, actual: Any, path: str, seen: set[int]) -> list[str]:
        if not isinstance(actual, (list, tuple)):
            return [f"{path}: expected an array, but got {type(actual).__name__}"]
        if self.ordered:
            found = [*self._in_order(expected, actual, path, seen)]
            if len(expected) != len(actual):
                found.append(f"{path}: {len(actual)} elements and not {len(expected)}")
            return found
        return self._greedily(expected, actual, path, seen)

    def _in_order(self, expected: Any, actual: Any, path: str, seen: set[int]) -> Iterator[str]:
        for index, (one, other) in enumerate(zip(expected, actual, strict=False)):
            yield from self._compared(one, other, f"{path}[{index}]", seen)

    def _greedily(self, expected: Any, actual: Any, path: str, seen: set[int]) -> list[str]:
        """Give each expected element the first free one that is equal: no other is tried after."""
        free = list(range(len(actual)))
        missing = 0
        for number, one in enumerate(expected):
            for index in free:
                trial = {*seen}
                if not self._compared(one, actual[index], f"{path}[{number}]", trial):
                    seen |= trial
                    free.remove(index)
                    break
            else:
                missing += 1
        if not missing and not free:
            return []
        return [f"{path}: {missing} of {len(expected)} elements are missing, {len(free)} are extra"]
