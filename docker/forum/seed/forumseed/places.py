"""The forums themselves, and what each may talk about."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random
from typing import Any

from forumseed import sources
from forumseed.context import Setting
from forumseed.people import given_names
from forumseed.phrases import fill
from forumseed.vocabulary import load

FORUMS = 95
FEATURED = (
    "AskWaypost", "coffee", "fountainpens", "camping", "boardgames", "gardening", "London", "Kyoto",
    "cycling", "books", "todayilearned", "cooking", "vinyl", "handtools", "travel", "technology",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Place:
    """A forum to be.

    Attributes:
        kind: gear, city, talk, learned or made: which templates its threads use.
        pack: what it talks about, if its kind is talk.
        share: its part of all threads, compared with the other forums.
    """

    id: int
    name: str
    title: str
    description: str
    kind: str
    share: float
    setting: Setting
    pack: str = ""


def places() -> list[Place]:
    """Return all forums in the order of their ids."""
    known, threads = load("forums"), load("threads")
    rows = [
        *(("gear", name, title, cats, things) for name, title, cats, things in known["gear"]),
        *(("city", name, f"{name}, by those who live there", [], [name]) for name in known["city"]),
        *(("talk", name, title, [pack], []) for name, title, pack in known["talk"]),
    ]
    if len(rows) != FORUMS:
        message = f"{len(rows)} forums instead of {FORUMS}"
        raise ValueError(message)
    names = [row[1] for row in rows]
    return [_place(number, row, names, threads) for number, row in enumerate(rows, start=1)]


def _place(
    number: int,
    row: tuple[str, str, str, list[str], list[str]],
    names: list[str],
    threads: dict[str, Any],
) -> Place:
    kind, name, title, first, things = row
    rng = Random(f"forum/place/{name}")
    shop, cities = sources.categories(), sources.articles("places/cities-*")
    objects = sources.articles("things/*")
    pack: dict[str, list[str]] = {}
    share = rng.uniform(0.5, 1.6)
    match kind:
        case "gear":
            categories = [shop[one] for one in first]
            known = [objects[thing] for thing in things]
        case "city":
            categories, known = list(shop.values()), [cities[name]]
        case _:
            kind = first[0] if first[0] in {"learned", "made"} else "talk"
            categories = list(shop.values())
            known = list(objects.values()) + (list(cities.values()) if kind == "learned" else [])
            pack = load("talk").get(first[0], {})
            share *= 1.7
    setting = Setting(
        forum=name, slots=threads["slots"], categories=categories, articles=known, pack=pack,
        cities=sorted(cities), names=given_names(), forums=[one for one in names if one != name],
        here=name, places=threads["city"]["place"], uses=threads["city"]["use_city"],
    )  # fmt: skip
    return Place(
        number, name, title, _description(kind, title, setting, rng, threads), kind, share, setting,
        first[0] if first else "",
    )  # fmt: skip


def _description(
    kind: str, title: str, setting: Setting, rng: Random, threads: dict[str, Any]
) -> str:
    nouns = [one.name.lower() for one in setting.categories][:5]
    listed = f"{', '.join(nouns[:-1])} and {nouns[-1]}" if len(nouns) > 1 else nouns[0]
    values = {"nouns": listed, "here": setting.here, "title": title}
    pool = threads["sidebar"]["talk" if kind in {"learned", "made"} else kind]
    return fill(rng.choice(pool), rng, values.__getitem__).replace("**", "")


def sidebar(place: Place, names: list[str], threads: dict[str, Any]) -> str:
    """Return a forum's sidebar as Markdown: what it is for, its rules, and where else to go."""
    rng = Random(f"forum/sidebar/{place.name}")
    rules = rng.sample(threads["sidebar"]["rules"], rng.randint(3, 5))
    others = rng.sample([name for name in names if name != place.name], 3)
    articles = rng.sample(place.setting.articles, min(2, len(place.setting.articles)))
    lines = [place.description, "", "**Rules**", ""]
    lines += [f"{number}. {rule}" for number, rule in enumerate(rules, start=1)]
    if articles:
        links = ", ".join(f"[{one.title}]({one.url})" for one in articles)
        lines += ["", f"Read up: {links}"]
    lines += ["", "See also: " + ", ".join(f"/f/{name}" for name in others)]
    return "\n".join(lines)


def tags(place: Place) -> str:
    """Return a forum's tags: the kind of its subject, and its products where it has few."""
    if place.kind != "gear":
        return "places" if place.kind == "city" else "talk"
    products = [
        re.sub(r"\W+", "_", one.name.lower().replace("'", "")) for one in place.setting.categories
    ]
    return ", ".join(["things", *products])
