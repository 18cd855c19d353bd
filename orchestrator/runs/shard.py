"""Shards of a run: which of its trials one machine plays, with no word from the others."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from arena_core.errors import UsageError
from arena_core.names import counted, listed

MOST_SHARDS: Final = 100_000
_NAMED: Final = 5
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


def in_order(found: Sequence[tuple[Shard, Path]]) -> list[Path]:
    """Return the folders of all shards of a whole by their number.

    Raises:
        UsageError: one is missing or there twice, or they are shards of different numbers.
    """
    by_shard: dict[Shard, Path] = {}
    for shard, path in found:
        if shard in by_shard:
            message = f"{by_shard[shard]} and {path}: are both shard {shard}"
            raise UsageError(message, hint="its trials would count twice: name one of them")
        by_shard[shard] = path
    counts = sorted({shard.count for shard in by_shard})
    if len(counts) > 1:
        message = f"they are shards of {' and of '.join(map(str, counts))}"
        raise UsageError(message, hint="name the shards of one command")
    wanted = [Shard(number, counts[0]) for number in range(1, counts[0] + 1)]
    missing = [shard for shard in wanted if shard not in by_shard]
    if missing:
        named = listed(map(str, missing[:_NAMED]))
        more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        message = f"of {counts[0]} shards {counted(len(missing), 'is', 'are')} missing:"
        hint = f"play {'it' if len(missing) == 1 else 'them'} by the same command, with --shard"
        raise UsageError(f"{message} {named}{more}", hint=f"{hint} {missing[0]}")
    return [by_shard[shard] for shard in wanted]
