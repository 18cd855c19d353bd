"""What may be said in a thread: of what its title is on first, and of what is near it after."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from goods import points as of_goods

from forumseed import subjects
from forumseed.matter import Matter, known_of, prose
from forumseed.phrases import small
from forumseed.subjects import Topic

if TYPE_CHECKING:
    from forumseed.sources import Article, Product
    from forumseed.threads import Draft

FACT_THREADS = frozenset({"learned", "made"})
RECOMMENDS = frozenset({"advice", "weekly"})
SETTLED = (
    "=stay",
    "=weekend",
    "=worth",
    "=wrong",
    "=walk",
)  # visits on which no sights are asked for
FOR_LOCALS = frozenset({
    "repair café", "bicycle workshop", "tram depot", "town hall", "allotments", "central station",
    "bakery on the corner", "stationer's", "cinema", "theatre", "record shop",
})  # fmt: skip
QUIET = 8  # comments, up to which a thread keeps to what it is on
EACH_PRODUCT = 9  # comments, for which one more is spoken of
OVER = 1.05  # how much dearer than the budget a thing may be


def topics(draft: Draft, matter: Matter, count: int) -> list[Topic]:
    """Return the topics of a thread that is to have so many comments, the nearest first."""
    rng = Random(f"forum/topics/{draft.id}")
    found = [one for one in _topics(draft, matter, count, rng) if matter.holds(one.needs)]
    near = [one for one in found if not one.is_wide and (one.good or one.bad)]
    wide = [one for one in found if one.is_wide and (one.good or one.bad)]
    return near if near and count <= QUIET else near + wide


def afield(draft: Draft, matter: Matter) -> list[Topic]:
    """Return what a long thread comes to when all that it is on has been said."""
    place = draft.place
    if place.kind == "city":
        told = matter.said.get("place")
        return [subjects.spot(one) for one in matter.context.setting.places if one != told]
    if place.kind == "gear":
        others = [one for one in matter.context.category.products if one is not matter.product]
        return [_owned(matter, one) for one in others]
    if place.kind in FACT_THREADS:
        articles = matter.context.setting.articles
        return [_read(one) for one in matter.rng.sample(articles, min(len(articles), 12))]
    named = set(matter.said.values())
    return [
        _named(subjects.subject(place.pack, one), one)
        for one in _subjects(matter)
        if one not in named
    ]


def _topics(draft: Draft, matter: Matter, count: int, rng: Random) -> Iterator[Topic]:
    place, intent = draft.place, draft.intent
    if draft.is_pinned:
        yield from subjects.points("pinned")
    elif place.kind in FACT_THREADS or intent == "fact":
        yield from _of_article(matter)
        yield from subjects.points("made" if place.kind == "made" else "learned")
    elif place.kind == "gear":
        yield from _of_gear(matter, intent, count, rng)
    elif place.kind == "city":
        yield from _of_city(matter, intent, count, rng)
    else:
        names = [matter.said[one] for one in ("subject", "subject2") if one in matter.said]
        names = names or [
            one for one in _subjects(matter) if one.removeprefix("a ") in draft.title.lower()
        ]
        for name in names:
            known = subjects.subject(place.pack, name)
            yield known if len(names) == 1 else _named(known, name)
        yield from subjects.points(place.pack)


def _subjects(matter: Matter) -> list[str]:
    """Return the pack's subjects, for titles that name one without a gap for it."""
    return matter.context.setting.pack.get("subject", [])


def _named(topic: Topic, name: str) -> Topic:
    """Say of which of two subjects each saying is."""
    good, bad = (tuple(f"{name}: {one}" for one in told) for told in (topic.good, topic.bad))
    return Topic(about=name, good=good, bad=bad)


def _of_gear(matter: Matter, intent: str, count: int, rng: Random) -> Iterator[Topic]:
    if issue := matter.fill("{issue}"):
        yield subjects.remedy(issue)
    if intent in RECOMMENDS:
        yield from _goods_to_buy(matter, count, rng)
    elif (product := matter.product) and (intent != "problem" or count > QUIET):
        parts = list(_parts(matter, product))
        for part in rng.sample(parts, min(len(parts), 4 + count // 3)):
            yield replace(part, is_wide=intent == "problem")
    elif intent == "opinion":
        yield _of_kind(matter)
    yield from subjects.points("gear")


def _parts(matter: Matter, product: Product) -> Iterator[Topic]:
    """Yield what customers say of a product, part by part."""
    for one in of_goods(matter.context.category.name, known_of(product)):
        yield Topic(
            about=one.about,
            good=tuple(f"[on mine |with mine |on ours ||||]{told}" for told in one.good),
            bad=tuple(f"[on mine |after a while |on ours |with mine ]{told}" for told in one.bad),
            asks=one.asks if one.bad else (),
        )


def _of_kind(matter: Matter) -> Topic:
    """Return what customers say of whatever {nouns} they have."""
    good = [f"with a good one {told}" for told in matter.phrases("good")]
    bad = [f"with [a poor one|cheap ones] {told}" for told in matter.phrases("minor")]
    return Topic(about="the {noun} itself", good=tuple(good), bad=tuple(bad))


def _goods_to_buy(matter: Matter, count: int, rng: Random) -> Iterator[Topic]:
    """Yield products of the shop that the thread's author may want."""
    named = matter.product if {"product", "model"} & matter.said.keys() else None
    brands = {matter.said.get("brand"), matter.said.get("brand2")} - {None}
    ceiling = float(matter.said.get("budget", 10**6)) * OVER
    others = [
        one
        for one in matter.context.category.products
        if one is not named
        and float(one.price) <= ceiling
        and (named or not brands or one.brand in brands)
    ]
    wanted = min(8, (1 if named else 3) + count // EACH_PRODUCT)
    if named and "product2" in matter.said:
        yield from (_to_buy(matter, one) for one in (named, matter.context.other))
    elif named:
        yield from _parts(matter, named)
    models = {one.model: one for one in rng.sample(others, min(len(others), wanted))}
    for product in models.values():
        yield _to_buy(matter, product)


def _to_buy(matter: Matter, product: Product) -> Topic:
    name, kind = f"the {product.brand} {product.model}", product.kind.lower()
    good, bad = [], []
    for one in of_goods(matter.context.category.name, known_of(product)):
        good += [
            f"[look at|I would try|have a look at|we have|I have] {name}: {told}"
            for told in one.good
        ]
        bad += [f"[I had|we had|I tried] {name}, and {told}" for told in one.bad]
    within = ", [which is|so] inside your budget" if "budget" in matter.said else ""
    good.append(f"{name} is £{product.price} at Harbour & Pine{within}")
    good.append(
        f"for {{purpose}} we use {name}, the {kind} one, and [would buy it again|want no other]"
    )
    asks = (
        (
            f"has anyone here [used|had] {name} for [long|a while]?",
            tuple(f"[yes, and|for over a year now, and|I have, and] {told}"
                  for point in of_goods(matter.context.category.name, known_of(product))
                  for told in point.good),
        ),
    )  # fmt: skip
    return Topic(about=name, good=tuple(good), bad=tuple(bad), asks=asks)


def _read(article: Article) -> Topic:
    name = f"the article on {article.title}"
    told = [small(one).rstrip(".") for _, one in prose(article)]
    return Topic(about=name, good=tuple(f"{name} says that {one}" for one in told))


def _owned(matter: Matter, product: Product) -> Topic:
    name = f"the {product.brand} {product.model}"
    points = of_goods(matter.context.category.name, known_of(product))
    return Topic(
        about=name,
        good=tuple(
            f"[we have|I have|{{kin}} has] {name}, and {one}" for p in points for one in p.good
        ),
        bad=tuple(f"[we had|I had|{{kin}} had] {name}, and {one}" for p in points for one in p.bad),
    )


def _of_city(matter: Matter, intent: str, count: int, rng: Random) -> Iterator[Topic]:
    yield from subjects.points("city")
    place = matter.said.get("place")
    if place and "finish" not in matter.said and not matter.holds("=near"):
        yield subjects.spot(place)
    if intent == "visit" and not any(matter.holds(one) for one in SETTLED):
        spots = [one for one in matter.context.setting.places if one not in FOR_LOCALS]
        for name in rng.sample(spots, min(len(spots), 3 + count // 4)):
            yield subjects.spot(name)


def _of_article(matter: Matter) -> Iterator[Topic]:
    """Yield what the encyclopedia tells beside the title's fact, by heading."""
    told: dict[str, list[str]] = {}
    fact = matter.said.get("fact_short", "")
    for heading, sentence in prose(matter.context.article):
        if sentence.rstrip(".") not in fact:
            told.setdefault(heading, []).append(small(sentence).rstrip("."))
    for heading, sentences in told.items():
        good = tuple(
            f"[|the article also says that |it also says there that ]{one}" for one in sentences
        )
        yield Topic(about=f"the part on {small(heading)}", good=good)
