"""Names of streets and of whatever else there are many of: each only once in a town."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

_NAMES: Mapping[str, Sequence[str]] = tomllib.loads(
    (Path(__file__).parent / "names.toml").read_text(encoding="utf-8")
)
FIRST, PEOPLE, GIVEN = _NAMES["first"], _NAMES["people"], _NAMES["given"]
MAIN, MINOR = _NAMES["main"], _NAMES["minor"]


def street_names(rng: Random, taken: set[str]) -> tuple[Iterator[str], Iterator[str]]:
    """Return two endless rows of names, for main streets and for others; none comes twice."""
    pool = [
        f"{name}s" if name.endswith("er") and rng.random() < 0.3 else name
        for name in (*FIRST, *PEOPLE)
    ]

    def draw(kinds: Sequence[str]) -> Iterator[str]:
        while True:
            name = f"{rng.choice(pool)} {rng.choice(kinds)}"
            if name not in taken:
                taken.add(name)
                yield name

    return draw(MAIN), draw(MINOR)
