"""Words of messages: counts with their noun, and the nearest to a name that does not exist."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from difflib import get_close_matches
from typing import Final

MOST_NAMES: Final = 10


def listed(names: Iterable[str], *, none: str = "none") -> str:
    """Return names for a message: at most ten, and how many more there are."""
    known = list(dict.fromkeys(names))
    shown = ", ".join(known[:MOST_NAMES])
    more = f" and {len(known) - MOST_NAMES} more" if len(known) > MOST_NAMES else ""
    return f"{shown}{more}" or none


def offered(asked: str, names: Iterable[str], *, intro: str = "there are") -> str:
    """Return what somebody may have meant who named what does not exist.

    Args:
        asked: the name that does not exist.
        names: those that do, in the order of the list; keys and sets are sorted.
        intro: what stands before the list: `there are`, `it has`.
    """
    ordered = sorted(names) if isinstance(names, AbstractSet | Mapping) else list(names)
    near = nearest(asked, ordered)
    meant = f"did you mean '{near}'? " if near else ""
    return f"{meant}{intro}: {listed(ordered)}"


def counted(number: int, one: str, several: str = "") -> str:
    """Return a number with its noun, in the singular or in the plural.

    Args:
        number: how many.
        one: the noun, with whatever follows it that changes too: `episode is`.
        several: its plural; with an `s` at the end where omitted.
    """
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


def nearest(asked: str, names: Iterable[str]) -> str | None:
    """Return the name that somebody may have meant; None where none is like it."""
    by_letters = {name.casefold(): name for name in names}
    near = get_close_matches(asked.casefold(), by_letters, n=1)
    return by_letters[near[0]] if near else None
