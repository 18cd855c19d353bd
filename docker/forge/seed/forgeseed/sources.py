"""What the forge does not make up: the shop's people and products, and the words of this folder."""

from __future__ import annotations

import sys
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE.parent.parent / "shop" / "seed"))

from shopseed.plan import catalogue  # noqa: E402  (found through the path above)
from shopseed.vocabulary import load, phrases  # noqa: E402


@dataclass(frozen=True, slots=True)
class Names:
    """What people of the shared world are called."""

    first: tuple[str, ...]
    last: tuple[str, ...]


@cache
def names() -> Names:
    """Return the first and last names that all sites draw from."""
    people = phrases("people")
    last = (name.replace("de-Jong", "de Jong") for name in people["last"].split())
    return Names(tuple(people["first"].split()), tuple(last))


@cache
def products() -> tuple[str, ...]:
    """Return the names of the shop's products, without size and finish."""
    seen: dict[str, None] = {}
    for item in catalogue(load()):
        seen.setdefault(item.model.title(item.words))
    return tuple(seen)


@cache
def vocabulary(name: str) -> dict[str, Any]:
    """Return one of the hand-written files of this folder."""
    return tomllib.loads((HERE / "vocabulary" / f"{name}.toml").read_text(encoding="utf-8"))


def plain(text: str) -> str:
    """Return a name in lower case, without accents and blanks, as in a login."""
    folded = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return "".join(letter for letter in folded.lower() if letter.isalnum() or letter in ".-")
