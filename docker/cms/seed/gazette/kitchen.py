"""Recipes and reviews of restaurants: all that is said in one speaks of its dish."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from gazette.sources import Point, points, vocabulary
from gazette.writing import Filler, bullets, heading, text

DISHES: Mapping[str, Mapping[str, Any]] = vocabulary("dishes")["dish"]
_KITCHEN: Mapping[str, Mapping[str, Any]] = vocabulary("kitchen")
_RECIPES = vocabulary("recipes")
_TEXT, _REVIEW = _RECIPES["text"], _RECIPES["review"]
_WHENCE = {
    "my grandmother": "grandmother",
    "the galley": "galley",
    "a wet Sunday": "sunday",
    "the church": "fete",
}
_EXTRAS = ("beside", "change", "keep")
Markup = Callable[[str], str]


def recipe(title: str, month: int, rng: Random, filler: Filler, body: Markup) -> list[str]:
    """Return the blocks of a recipe under a title; `body` makes a sentence a paragraph."""
    dish = filler.say("{dish}")
    known = _KITCHEN[dish]
    opening = list(_opening(title, dish, month, rng, filler))
    lore = rng.sample(known["lore"], rng.choice((0, 1, 1, 2)))
    knack = rng.sample(known["knack"], rng.choice((0, 1, 1, 2)))
    extras = [
        filler.say(rng.choice(known[key])) for key in rng.sample(_EXTRAS, rng.choice((1, 1, 2, 3)))
    ]
    blocks = [body(one) for one in _joined(rng, [*opening, *lore])]
    blocks += [
        heading(rng.choice(_TEXT["needs"])),
        bullets([text(item) for item in DISHES[dish]["needs"]]),
    ]
    if rng.random() < 0.5:
        blocks.append(heading(rng.choice(_TEXT["how"])))
    steps = [
        rng.choice([DISHES[dish]["begin"], *known["begin"]]),
        rng.choice([DISHES[dish]["finish"], *known["finish"]]),
    ]
    blocks += [body(one) for one in _joined(rng, steps)]
    if rng.random() < 0.4:
        blocks.append(heading(rng.choice(_TEXT["heads"])))
    blocks += [body(one) for one in (*knack, *extras)]
    if rng.random() < 0.3:
        blocks.append(body(rng.choice(_TEXT["close"])))
    return blocks


def _opening(title: str, dish: str, month: int, rng: Random, filler: Filler) -> Iterator[str]:
    """Yield what a recipe begins with: its title promises where it is from, whose, or why now."""
    known = _KITCHEN[dish]
    if title.startswith("Recipe"):
        yield filler.one_of(_RECIPES["origin"][_whence(filler)])
    elif title.startswith("The secret"):
        yield known["secret"][filler.say("{trick}")]
    elif title.startswith("What to cook"):
        yield filler.one_of(known["ripe" if month in known["season"] else "unripe"])
        if rng.random() < 0.4:
            yield filler.one_of(_TEXT["cook"])
    elif " the way " in title:
        yield filler.one_of(known["way"])
    else:
        yield filler.one_of(known["plain"])


def _whence(filler: Filler) -> str:
    source = filler.say("{from}")
    for begin, key in _WHENCE.items():
        if source.startswith(begin):
            return key
    return "cafe" if source == filler.peek("cafe") else "pub"


def _joined(rng: Random, sentences: Sequence[str]) -> Iterator[str]:
    """Yield the sentences as paragraphs of one or two."""
    left = list(sentences)
    while left:
        count = rng.choice((1, 2))
        yield " ".join(left[:count])
        left = left[count:]


def review(title: str, rng: Random, filler: Filler, body: Markup) -> list[str]:
    """Return the blocks of a review of a pub or café: those that its title names."""
    where = "placecafe" if filler.peek("cafe", "?") in title else "place"
    texts = [filler.one_of(_REVIEW[where]), rng.choice(_REVIEW["room"])]
    dish = filler.peek("dish", "?")
    if dish in title:
        texts.append(rng.choice(_KITCHEN[dish]["served"]))
    texts += [filler.say(one) for one in rng.sample(_REVIEW["other"], 2 if dish in title else 3)]
    if rng.random() < 0.7:
        texts.append(rng.choice(_REVIEW["but"]))
    if rng.random() < 0.6:
        texts.append(filler.one_of(_REVIEW["when"]))
    return [body(one) for one in _joined(rng, texts)]


def picture_of(dish: str) -> tuple[Sequence[str], str]:
    """Return the titles of drawings that may stand beside a dish, and a caption of its own."""
    return _KITCHEN[dish]["picture"], _KITCHEN[dish].get("caption", "")


def of_cooks(dish: str) -> tuple[Point, ...]:
    """Return what those who cooked a dish have to say of it."""
    return points((*_KITCHEN[dish]["talk"], *_RECIPES["any"]["talk"]))


def of_guests() -> tuple[Point, ...]:
    """Return what those who ate at a pub or café have to say of it."""
    return points(_REVIEW["talk"])
