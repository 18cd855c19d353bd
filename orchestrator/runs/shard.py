"""Shards of a run: which of its trials one machine plays, with no word from the others."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Final, Self

from arena_core.errors import UsageError

MOST_SHARDS: Final = 100_000
_WRITTEN: Final = re.compile(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class Shard:
    """One of so many shares of a run's trials, counted from 1.

    A trial belongs to a share by the digest of its own name alone. So the shares of any number
    are disjoint and make up the whole, and a trial stays where it is if others are added.
    """

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `2/4`."""
        found = _WRITTEN.fullmatch(text)
        if found is not None:
            number, count = map(int, found.groups())
            if number <= count <= MOST_SHARDS:
                return cls(number, count)
        message = f"'{text}' is no shard: it is I/N, such as 2/4 for the second of four"
        hint = f"I counts from 1 to N, and N goes up to {MOST_SHARDS:,}"
        raise UsageError(message, hint=hint)

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def has(self, trial: str) -> bool:
        """Whether a trial of this name, as `EpisodeKey.name` gives it, belongs to the share."""
        digest = hashlib.sha256(trial.encode()).digest()
        return int.from_bytes(digest) % self.count == self.number - 1
