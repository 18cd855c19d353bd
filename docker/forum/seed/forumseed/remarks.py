"""What may be said in a thread: the points of its forum and of what it tells, with gaps filled."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import TYPE_CHECKING

from goods import points as of_goods
from talking import Fill, Point, Talk, points

from forumseed.phrases import articles_agree, small
from forumseed.vocabulary import load

if TYPE_CHECKING:
    from forumseed.context import Context
    from forumseed.sources import Product
    from forumseed.threads import Draft

GAP = re.compile(r"\{(\w+)\}")
ALWAYS = frozenset({"noun", "nouns", "here"})
# A sentence that begins so can stand after "that".
PLAIN = re.compile(
    r"(The|A|An|In|It|They|Its|Most|Some|Many|Until|After|At|By|On|This|Both|Two|Today) "
)
OTHER_ENDS = frozenset({"place", "noun", "finish", "things"})  # what a thread on a city may be on
FACT_THREADS = frozenset({"learned", "made"})
EACH_PRODUCT, EACH_PART = 16, 5  # comments, for which one more is spoken of


@cache
def bank() -> dict[str, tuple[Point, ...]]:
    """Return what members think, by the kind of a forum or its pack."""
    files = ("gear", "city", "packs", "facts")
    return {
        name: points(tables) for file in files for name, tables in load(f"remarks/{file}").items()
    }


def talk(draft: Draft, count: int) -> Talk:
    """Return the talk of a thread that is to have so many comments."""
    rng = Random(f"forum/talk/{draft.id}")
    context = draft.context
    if context is None:
        message = f"thread {draft.id} has no text yet"
        raise ValueError(message)
    return Talk(rng, tuple(_points(draft, context, count, rng)), _filler(draft, context))


def _points(draft: Draft, context: Context, count: int, rng: Random) -> Iterator[Point]:
    place = draft.place
    if draft.is_pinned:
        yield from bank()["meta"]
        return
    if place.kind in FACT_THREADS or draft.intent == "fact":
        yield from bank()["made" if place.kind == "made" else "learned"]
        yield from _of_article(context)
        return
    own = bank()[place.pack if place.kind == "talk" else place.kind]
    spots = [one for one in own if place.kind == "city" and _is_spot(one)]
    yield from (one for one in own if one not in spots)
    yield from _some_spots(spots, draft, context, count, rng)
    if place.kind == "gear":
        parts = list(_of_products(context, count, rng))
        yield from rng.sample(parts, min(len(parts), 5 + count // EACH_PART))


def _is_spot(point: Point) -> bool:
    return not point.needs and "{" not in point.about


def _some_spots(
    spots: list[Point], draft: Draft, context: Context, count: int, rng: Random
) -> list[Point]:
    """Return the spots of a city that a thread is on, and some more where it asks for any."""
    told = f"{draft.title} {draft.body}"
    named = [one for one in spots if one.about.removeprefix("the ") in told]
    is_open = draft.intent in {"visit", "live"} and OTHER_ENDS.isdisjoint(context.said)
    wanted = (3 if is_open else 0) + count // EACH_PART
    others = [one for one in spots if one not in named]
    return named + rng.sample(others, min(wanted, len(others)))


def _of_products(context: Context, count: int, rng: Random) -> Iterator[Point]:
    """Yield points on the product that the thread names, or on some that come to mind."""
    said = context.said
    named = [context.product] if "product" in said or "model" in said else []
    named += [context.other] if "product2" in said else []
    wanted = min(6, (1 if named else 2) + count // EACH_PRODUCT) - len(named)
    others = [one for one in context.category.products if one not in named]
    named += rng.sample(others, max(0, min(wanted, len(others))))
    is_sole = len(named) == 1
    for product in named:
        for point in of_goods(context.category.name, _known(product)):
            yield point if is_sole else _of_one(point, product)


def _known(product: Product) -> str:
    return f"{product.kind} | {product.material} | {product.finish}".lower()


def _of_one(point: Point, product: Product) -> Point:
    """Say of which product a point is."""
    about = point.about
    name = f"the {product.brand} {product.model}"

    def of_it(clauses: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(f"with {name} {one}" for one in clauses)

    asks = tuple((asked.replace(about, f"{about} of {name}"), told) for asked, told in point.asks)
    return Point(f"{about} of {name}", of_it(point.good), of_it(point.bad), asks)


def _of_article(context: Context) -> Iterator[Point]:
    """Yield what the encyclopedia tells, by heading."""
    if context.article is None:
        return
    told: dict[str, list[str]] = defaultdict(list)
    for heading, sentence in context.article.sentences:
        if PLAIN.match(sentence) and sentence.endswith(".") and "; " not in sentence:
            told[heading].append(small(sentence).rstrip("."))
    for heading, sentences in told.items():
        yield Point(f"the part on {small(heading)}", tuple(sentences), ())


def _filler(draft: Draft, context: Context) -> Fill:
    """Return what fills the gaps of points: with what the thread says, and nothing else."""

    def fill(text: str) -> str | None:
        for name in GAP.findall(text):
            if name not in ALWAYS and name not in context.said and name != draft.intent:
                return None
        return articles_agree(GAP.sub(value, text))

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name == draft.intent:
            return ""
        return context.said.get(name) or context(name)

    return fill
