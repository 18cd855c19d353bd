"""What the newspaper does not make up: the shop's people and products, the wiki's articles."""

from __future__ import annotations

import re
import sys
import tomllib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent
DOCKER = HERE.parent.parent
sys.path[:0] = [
    str(DOCKER / "shop" / "seed"),
    str(DOCKER / "wiki" / "articles"),
    str(DOCKER / "talk"),
]

from goods import points as goods  # noqa: E402, F401  (found through the path above)
from handwritten import HERE as ARTICLES  # noqa: E402  (found through the path above)
from handwritten import Entry, entries  # noqa: E402
from region.built import Museum  # noqa: E402, F401
from region.nature import Walk  # noqa: E402, F401
from region.sport import Club  # noqa: E402, F401
from region.world import World as County  # noqa: E402, F401
from region.world import grow  # noqa: E402, F401
from shopseed.plan import Plan, catalogue  # noqa: E402
from shopseed.vocabulary import Department, load, phrases  # noqa: E402
from talking import Kind, Point, Remark, Talk, points  # noqa: E402, F401

SHOP = "http://shop.arena.test"
WIKI = "http://wiki.arena.test"
FORUM = "http://forum.arena.test"


@dataclass(frozen=True, slots=True)
class World:
    """Everything that other sites know already.

    Attributes:
        products: single products with a price, in the order of their ids.
        things: topic (the file's name) and article, in the order of the files.
    """

    first: tuple[str, ...]
    last: tuple[str, ...]
    streets: tuple[str, ...]
    departments: tuple[Department, ...]
    products: tuple[Plan, ...]
    things: tuple[tuple[str, Entry], ...]
    cities: tuple[Entry, ...]


def world() -> World:
    """Read the sources that lie beside this folder in docker/."""
    people = phrases("people")
    departments = load()
    streets = tuple(" ".join(street.split()) for street in people["streets"].split(","))
    return World(
        first=tuple(people["first"].split()),
        last=tuple(name.replace("de-Jong", "de Jong") for name in people["last"].split()),
        streets=streets,
        departments=tuple(departments),
        products=tuple(plan for plan in catalogue(departments) if plan.price is not None),
        things=tuple(_articles("things", "*")),
        cities=tuple(entry for _, entry in _articles("places", "cities-*")),
    )


def vocabulary(name: str) -> dict[str, Any]:
    """Return one of the hand-written lists of this folder."""
    return tomllib.loads((HERE / "vocabulary" / f"{name}.toml").read_text(encoding="utf-8"))


def slug(title: str) -> str:
    """Return a title as both the shop and WordPress write it in an address."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain)).strip("-_")


def product_url(product: Plan) -> str:
    """Return where the shop shows a product."""
    return f"{SHOP}/catalogue/{slug(product.title)}_{product.id}/"


def article_url(title: str) -> str:
    """Return where the encyclopedia has an article."""
    return f"{WIKI}/wiki/A/{title.replace(' ', '_')}"


def _articles(folder: str, name: str) -> Iterator[tuple[str, Entry]]:
    for path in sorted((ARTICLES / folder).glob(f"{name}.yaml")):
        for entry in entries(path):
            yield path.stem, entry
