"""What the forum talks about: the shop's products and the encyclopedia's articles."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml
from django.utils.text import slugify
from shopseed import plan, vocabulary

WIKI = Path("/srv/forum/sources/wiki")
SHOP_HOST = "http://shop.arena.test"
WIKI_HOST = "http://wiki.arena.test"
SHORT = 150  # characters of a fact that may stand in a title
NOT_PROSE = frozenset({"in", "lead", "facts", "see", "aka", "autolink"})


@dataclass(frozen=True, slots=True)
class Product:
    """A product as the shop lists it."""

    title: str
    name: str  # without size and finish
    brand: str
    model: str
    kind: str
    clause: str
    finish: str
    price: str
    material: str
    place: str
    extra: str
    url: str


@dataclass(frozen=True, slots=True)
class Category:
    """A category of the shop: what its products are called, and what people say of them."""

    name: str
    noun: str
    made: str
    praise: tuple[str, ...]
    gripe: tuple[str, ...]
    products: tuple[Product, ...]


@dataclass(frozen=True, slots=True)
class Article:
    """An article of the encyclopedia: its sentences, each with the heading it stands under."""

    title: str
    sentences: tuple[tuple[str, str], ...]
    url: str

    @property
    def short(self) -> tuple[tuple[str, str], ...]:
        """Those that fit into a title."""
        return tuple(pair for pair in self.sentences if len(pair[1]) <= SHORT)


@cache
def categories() -> dict[str, Category]:
    """Return the shop's categories by name, each with its visible products."""
    departments = vocabulary.load()
    grouped: dict[str, list[Product]] = {}
    words = {one.name: one for department in departments for one in department.categories}
    for item in plan.catalogue(departments):
        sold = item.children[0] if item.children else item
        grouped.setdefault(item.words.name, []).append(
            Product(
                title=item.title,
                name=item.model.title(item.words),
                brand=item.model.brand,
                model=item.model.name,
                kind=item.model.kind.name,
                clause=item.model.kind.clause,
                finish=sold.finish or item.model.material,
                price=str(sold.price),
                material=item.model.material,
                place=item.model.place,
                extra=item.model.extra,
                url=f"{SHOP_HOST}/catalogue/{slugify(item.title)}_{item.id}/",
            )
        )
    return {
        name: Category(
            name=name,
            noun=words[name].noun.lower(),
            made=words[name].made.lower(),
            praise=words[name].praise,
            gripe=words[name].gripe,
            products=tuple(products),
        )
        for name, products in grouped.items()
    }


def _sentences(entry: dict[str, Any]) -> list[tuple[str, str]]:
    found = []
    for heading, prose in entry.items():
        if heading in NOT_PROSE:
            continue
        plain = re.sub(r"\[\[(?:[^\]|]+\|)?([^\]]+)\]\]", r"\1", str(prose)).replace("**", "")
        sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z])", " ".join(plain.split()))
        found += [(str(heading), sentence) for sentence in sentences if len(sentence) > 20]
    return found


@cache
def articles(pattern: str) -> dict[str, Article]:
    """Return the encyclopedia's articles of some files by title: `things/*`, `places/cities-*`."""
    found = {}
    for path in sorted(WIKI.glob(f"{pattern}.yaml")):
        for title, entry in yaml.safe_load(path.read_text(encoding="utf-8")).items():
            name = str(title)
            url = f"{WIKI_HOST}/wiki/A/{quote(name.replace(' ', '_'), safe='()')}"
            found[name] = Article(name, tuple(_sentences(entry)), url)
    return found
