"""Longer pieces: tests of what the shop sells, and what the encyclopedia knows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Any

from gazette.sources import Entry, Plan, World, article_url, goods, product_url, vocabulary
from gazette.story import Story
from gazette.writing import Filler, bullets, heading, link, paragraph, plain, quote, table, text

if TYPE_CHECKING:
    from shopseed.vocabulary import Words

TESTS, ROUND_UPS, THINGS = 216, 60, 170
STARS = ("", "one star", "two stars", "three stars", "four stars", "five stars")
_TEXTS, _MORE = vocabulary("features"), vocabulary("more")
# A topic of the encyclopedia's things -> the newspaper's category.
TOPICS: Mapping[str, str] = {name: one["category"] for name, one in _TEXTS["topics"].items()}
SETS = frozenset({"cutlery", "dominoes", "dice", "playing cards", "seeds"})
UNCOUNTED = frozenset(_TEXTS["words"]["uncounted"])
Draft = tuple[str, Any]


def assignments(world: World) -> list[Draft]:
    """Return what is to be written: which product, which category, which thing, which city."""
    rng = Random("features")
    leaves = [words for department in world.departments for words in department.categories]
    chosen: list[Draft] = []
    for number in range(TESTS):
        words = leaves[number % len(leaves)]
        mine = [plan for plan in world.products if plan.words is words and plan.parent is None]
        chosen.append(("test", mine[rng.randrange(len(mine))]))
    chosen += [("round-up", words) for words in rng.sample(leaves, ROUND_UPS)]
    chosen += [("thing", thing) for thing in rng.sample(world.things, THINGS)]
    chosen += [("city", city) for city in world.cities]
    return chosen


def write(
    draft: Draft, number: int, world: World, town: Mapping[str, Sequence[str]], date: datetime
) -> Story:
    """Write one feature."""
    filler = Filler(Random(f"feature/{number}"), world, town, {}, date)
    rng = Random(f"feature/{number}/choices")
    match draft:
        case "test", Plan() as product:
            return _test(product, number, rng, filler, date, world)
        case "round-up", words:
            return _round_up(words, number, rng, filler, date, world)
        case "thing", (topic, Entry() as entry):
            return _thing(str(topic), entry, number, rng, filler, date)
        case "city", Entry() as city:
            return _city(city, number, rng, filler, date)
    raise ValueError(draft[0])


def _told(filler: Filler, number: int, given: tuple[str, ...]) -> tuple[Filler, Random]:
    """Return what fills the printed words' gaps, and their own stream of chance: see telling.py."""
    return filler.again(Random(f"gaps/feature/{number}"), given), Random(f"words/feature/{number}")


def _opening(told: Filler, rng: Random, kind: str, key: str) -> str:
    return told.say(rng.choice([*_TEXTS[kind][key], *_MORE[kind][key]]))


def _shares_a_word(gripe: str, praise: Sequence[str]) -> bool:
    """Tell whether one speaks of the same part as the others, which would contradict them."""
    said = {word for one in praise for word in re.findall(r"[a-z]{5,}", one.lower())}
    return not said.isdisjoint(re.findall(r"[a-z]{5,}", gripe.lower()))


def _department(world: World, plan_words: Words) -> str:
    return next(one.name for one in world.departments if plan_words in one.categories)


def _test(
    product: Plan, number: int, rng: Random, filler: Filler, date: datetime, world: World
) -> Story:
    model, words = product.model, product.words
    short = f"{model.brand} {model.name}"
    stars = min(5, max(1, round(model.quality + rng.uniform(-0.6, 0.6))))
    filler.give("price", str(product.price))
    title = rng.choice(
        (
            f"Tested: {product.title}",
            f"Tested: {product.title}",
            f"Six weeks with the {short} {words.noun}",
            f"{short} {words.noun}: {STARS[stars]}",
            f"Is the {short} {words.noun} worth £{product.price}?",
        )
    )
    good = rng.sample(words.praise, min(len(words.praise), 1 + stars // 3))
    bad = rng.sample(words.gripe, min(len(words.gripe), 1 if stars > 2 else 2))
    bad = [one for one in bad if not _shares_a_word(one, good)] or [
        next((one for one in words.gripe if not _shares_a_word(one, good)), bad[0])
    ]
    filler.one_of(_TEXTS["test"]["opening"])
    facts = [
        ("Price", f"£{product.price}"),
        ("Weight", product.weight),
        ("Made in", link(article_url(model.place), model.place)),
    ]
    if model.material:
        facts.append(("Material", text(model.material)))
    facts += [("Size", text(product.size)), ("Our verdict", f"<strong>{STARS[stars]}</strong>")]
    rng.choice(_TEXTS["test"]["say"][str(stars)])
    filler.give("noun", one_of(words.noun))
    told, last = _told(filler, number, ("price", "noun"))
    say = last.choice([*_TEXTS["test"]["say"][str(stars)], *_MORE["test"]["say"][str(stars)]])
    return Story(
        category=f"Tested/{_department(world, words)}",
        tags=("Tested", words.name, model.brand),
        subject=f"shop/{words.name}",
        date=date,
        title=title,
        blocks=[
            paragraph(text(_opening(told, last, "test", "opening"))),
            paragraph(text(product.description)),
            heading(last.choice(_MORE["test"]["use"])),
            *(paragraph(text(one)) for one in good),
            paragraph(text(f"{last.choice(_MORE['test']['against'])}: {' '.join(bad)}")),
            table([(label, value) for label, value in facts if value]),
            paragraph(
                f"{text(say)} {last.choice(_MORE['test']['shop'])}"
                f" {link(product_url(product), product.title)}."
            ),
        ],
        filler=filler,
        told=told,
        talk="Tested",
        points=goods(words.name, f"{model.kind.name} | {model.material}".lower()),
        excerpt=f"{product.description.split('. ')[0]}. Our verdict: {STARS[stars]}.",
    )


def _price(plan: Plan) -> Decimal:
    if plan.price is None:
        message = f"{plan.title} has no price"
        raise ValueError(message)
    return plan.price


def _round_up(
    words: Words, number: int, rng: Random, filler: Filler, date: datetime, world: World
) -> Story:
    mine = [plan for plan in world.products if plan.words is words and plan.parent is None]
    count = rng.randrange(4, 8)
    chosen = sorted(rng.sample(mine, count), key=_price)
    ceiling = (int(_price(chosen[-1])) // 10 + 1) * 10
    best = max(chosen, key=lambda plan: (plan.model.quality, -plan.id))
    name = words.name.lower()
    counts = ("", "", "", "", "Four", "Five", "Six", "Seven")
    title = rng.choice(
        (
            f"{counts[count]} {name} under £{ceiling}",
            f"Which {name}? {counts[count]} compared",
            f"The {name} we would buy",
        )
    )
    filler.one_of(_TEXTS["round_up"]["opening"])
    filler.give("price", str(best.price))
    filler.give("noun", one_of(words.noun))
    best_of = rng.sample(words.praise, min(3, len(words.praise)))
    told, last = _told(filler, number, ("price", "noun"))
    say = last.choice(_MORE["round_up"]["say"]).format(good=words.praise[0], bad=words.gripe[0])
    rows = [
        (link(product_url(plan), plan.title), f"£{plan.price}", plan.weight, text(plan.model.place))
        for plan in chosen
    ]
    return Story(
        category=f"Tested/{_department(world, words)}",
        tags=("Tested", "Compared", words.name),
        subject=f"shop/{words.name}",
        date=date,
        title=title,
        blocks=[
            paragraph(text(_opening(told, last, "round_up", "opening"))),
            paragraph(text(say)),
            table(rows, ("Product", "Price", "Weight", "Made in")),
            heading(last.choice(_MORE["round_up"]["choice"])),
            paragraph(f"The {link(product_url(best), best.title)}. {text(best.description)}"),
            bullets([text(one) for one in best_of if one != words.praise[0]]),
        ],
        filler=filler,
        told=told,
        talk="Tested",
        points=goods(words.name, ""),
    )


def one_of(noun: str) -> str:
    """Return a noun that `a` may stand before: a pair of pliers."""
    name = noun.lower()
    if name in SETS:
        return f"set of {name}"
    return f"pair of {name}" if name.endswith("s") and not name.endswith("ss") else name


def _spoken(heading: str) -> str:
    """Return a heading as it stands in a sentence."""
    return heading if heading[1:2].isupper() else heading[:1].lower() + heading[1:]


def _sections(entry: Entry) -> Iterator[str]:
    for section in entry.sections:
        yield heading(section.heading)
        for block in section.blocks:
            if isinstance(block, str):
                yield paragraph(text(plain(block)))


def _thing(
    topic: str, entry: Entry, number: int, rng: Random, filler: Filler, date: datetime
) -> Story:
    name = entry.name.partition(" (")[0]
    section = rng.choice(entry.sections).heading
    title = rng.choice(
        (
            f"A short history of the {name.lower()}",
            f"{name}: {section[0].lower()}{section[1:]}",
            f"Things we use: {name.lower()}",
            f"What do you know about the {name.lower()}?",
        )
    )
    is_stuff = topic in {"materials", "food"} or name in UNCOUNTED
    if is_stuff:
        title = title.replace("the " + name.lower(), name.lower())
    filler.one_of(_TEXTS["thing"]["local"])
    facts = [(text(label), text(plain(value))) for label, value in entry.facts]
    filler.give("thing", name.lower() if is_stuff else f"the {name.lower()}")
    filler.give("part", _spoken(section))
    told, last = _told(filler, number, ("thing", "part"))
    more = link(article_url(entry.name), f"the encyclopedia's article on {name}")
    return Story(
        category=f"Explained/{TOPICS[topic]}",
        tags=("Explained", name, *(see.partition(" (")[0] for see in entry.see[:1])),
        subject=f"thing/{topic}/{name}",
        date=date,
        title=title,
        blocks=[
            paragraph(text(plain(" ".join(entry.lead.split())))),
            paragraph(text(told.one_of(_MORE["thing"]["local"]))),
            *_sections(entry),
            *([table(facts)] if facts else []),
            paragraph(f"{last.choice(_MORE['thing']['more'])} {more}."),
        ],
        filler=filler,
        told=told,
        talk="Explained",
    )


def _city(city: Entry, number: int, rng: Random, filler: Filler, date: datetime) -> Story:
    name = city.name.partition(" (")[0]
    title = rng.choice(
        (
            f"A weekend in {name}",
            f"Letter from {name}",
            f"{name} for beginners",
            f"By train to {name}",
            f"Three days in {name}",
        )
    )
    filler.one_of(_TEXTS["city"]["opening"])
    filler.one_of(_TEXTS["city"]["tip"])
    filler.say("{person}")
    filler.give("city", name)
    filler.give("part", _spoken(rng.choice(city.sections).heading))
    told, last = _told(filler, number, ("city", "part"))
    return Story(
        category="Cities",
        tags=("Travel", name, *(see.partition(" (")[0] for see in city.see[:1])),
        subject=f"city/{city.name}",
        date=date,
        title=title,
        blocks=[
            paragraph(text(_opening(told, last, "city", "opening"))),
            paragraph(text(plain(" ".join(city.lead.split())))),
            *_sections(city),
            quote(_opening(told, last, "city", "tip"), told.say("{person}")),
            paragraph(
                f"{last.choice(_MORE['city']['more'])} {link(article_url(city.name), 'the encyclopedia')}."
            ),
        ],
        filler=filler,
        told=told,
        talk="Places",
    )
