"""What there is to say of the shop's goods: its customers' praise and blame, part by part."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from shopseed import opinions
from talking import Point

if TYPE_CHECKING:
    from shopseed.opinions import Phrase

DAYS = 100  # nobody speaks of what shows only after years


@cache
def points(category: str, known: str) -> tuple[Point, ...]:
    """Return a category's points; `known` is what is known of the product, in small letters."""
    lists = opinions.shelves()[category].lists
    praise = _by_part(lists["good"], known)
    blame = _by_part((*lists["minor"], *lists["serious"]), known)
    return tuple(
        Point(
            f"the {part}",
            tuple(praise.get(part, ())),
            tuple(blame.get(part, ())),
            ((f"has [anybody|anyone] had trouble with the {part}?", _told(part, praise, blame)),),
        )
        for part in sorted({*praise, *blame})
    )


def uses(category: str, known: str) -> list[str]:
    """Return what a product is used for."""
    held = opinions.shelves()[category].lists["use"]
    return [one.text for one in held if one.holds(known, DAYS)]


def _told(part: str, praise: dict[str, list[str]], blame: dict[str, list[str]]) -> tuple[str, ...]:
    return (
        *(f"not so far, {one}" for one in praise.get(part, ())),
        *(f"a little, {one}" for one in blame.get(part, ())),
    )


def _by_part(phrases: tuple[Phrase, ...], known: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in phrases:
        part = opinions.part_of(one.text)
        if part and one.holds(known, DAYS):
            found.setdefault(part, []).append(opinions.PART.sub(r"\1", one.text))
    return found
