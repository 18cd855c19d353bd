"""Longer pieces: tests of what the shop sells, and what the encyclopedia knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from random import Random

from gazette.sources import Entry, Plan, World, article_url, product_url
from gazette.story import Story
from gazette.writing import Filler, bullets, heading, link, paragraph, plain, quote, table, text

TESTS, ROUND_UPS, THINGS = 216, 60, 170
STARS = ("", "one star", "two stars", "three stars", "four stars", "five stars")
TOPICS = {
    "clothing": "Clothing",
    "food": "Food",
    "garden": "Nature",
    "home": "Household",
    "kitchen": "Kitchen",
    "leisure": "Play",
    "materials": "Materials",
    "music": "Instruments",
    "outdoor": "On the road",
    "stationery": "On paper",
    "technology": "Machines",
    "tools": "Workshop",
}
UNCOUNTED = {
    "Soap",
    "Ink",
    "Paper",
    "Papyrus",
    "Hiking",
    "Chess",
    "Tennis",
    "Ice hockey",
    "Cutlery",
    "Seed",
}
Draft = tuple[str, object]


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
            return _test(product, rng, filler, date, world)
        case "round-up", words:
            return _round_up(words, rng, filler, date, world)
        case "thing", (topic, Entry() as entry):
            return _thing(str(topic), entry, rng, filler, date)
        case "city", Entry() as city:
            return _city(city, rng, filler, date)
    raise ValueError(draft[0])


def _department(world: World, plan_words: object) -> str:
    return next(one.name for one in world.departments if plan_words in one.categories)


def _test(product: Plan, rng: Random, filler: Filler, date: datetime, world: World) -> Story:
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
    opening = filler.one_of(
        (
            "We bought one at Harbour & Pine, as everybody does, and gave it to {person} of {street}.",
            "It came on a {weekday}, and by {weekday2} half of {cafe} had tried it.",
            "{person}, {trade} by trade, used it every day for six weeks and kept a diary.",
            "Readers asked for this test, {many} of them since {season}.",
        )
    )
    facts = [
        ("Price", f"£{product.price}"),
        ("Weight", product.weight),
        ("Made in", link(article_url(model.place), model.place)),
    ]
    if model.material:
        facts.append(("Material", text(model.material)))
    facts += [("Size", text(product.size)), ("Our verdict", f"<strong>{STARS[stars]}</strong>")]
    say = rng.choice(
        (
            "Sold on the spot.",
            "We would buy it again.",
            "Wait for a sale.",
            "A present for somebody patient.",
            "Nothing to add.",
        )
    )
    return Story(
        category=f"Tested/{_department(world, words)}",
        tags=("Tested", words.name, model.brand),
        subject=f"shop/{words.name}",
        date=date,
        title=title,
        blocks=[
            paragraph(text(opening)),
            paragraph(text(product.description)),
            heading("In use"),
            *(paragraph(text(one)) for one in good),
            paragraph(text("Against it: " + " ".join(bad))),
            table([(label, value) for label, value in facts if value]),
            paragraph(
                f"{text(say)} The shop has it as {link(product_url(product), product.title)}."
            ),
        ],
        filler=filler,
        talk="Tested",
        more_talk=(*words.praise, *words.gripe),
        excerpt=f"{product.description.split('. ')[0]}. Our verdict: {STARS[stars]}.",
    )


def _round_up(words: object, rng: Random, filler: Filler, date: datetime, world: World) -> Story:
    mine = [plan for plan in world.products if plan.words is words and plan.parent is None]
    count = rng.randrange(4, 8)
    chosen = sorted(rng.sample(mine, count), key=lambda plan: plan.price)
    ceiling = (int(chosen[-1].price) // 10 + 1) * 10
    best = max(chosen, key=lambda plan: (plan.model.quality, -plan.id))
    name = words.name.lower()
    numbers = ("", "", "", "", "Four", "Five", "Six", "Seven")
    title = rng.choice(
        (
            f"{numbers[count]} {name} under £{ceiling}",
            f"Which {name}? {numbers[count]} compared",
            f"The {name} we would buy",
        )
    )
    filler.give("price", str(best.price))
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
            paragraph(
                text(
                    filler.one_of(
                        (
                            "{person} and {person2} took them home, used them, swapped them and argued.",
                            "We laid them out on a table in {venue} and let {many} passers-by choose.",
                            "{few^} weeks, one kitchen scale and a good deal of tea: this is what we found.",
                        )
                    )
                )
            ),
            paragraph(
                text(
                    f"{words.praise[0]} That is what people say of a good one; of a bad one they say: {words.gripe[0]}"
                )
            ),
            table(rows, ("Product", "Price", "Weight", "Made in")),
            heading("Our choice"),
            paragraph(f"The {link(product_url(best), best.title)}. {text(best.description)}"),
            bullets([text(one) for one in rng.sample(words.praise, min(3, len(words.praise)))]),
        ],
        filler=filler,
        talk="Tested",
        more_talk=(*words.praise, *words.gripe),
    )


def _sections(entry: Entry) -> Iterator[str]:
    for section in entry.sections:
        yield heading(section.heading)
        for block in section.blocks:
            if isinstance(block, str):
                yield paragraph(text(plain(block)))


def _thing(topic: str, entry: Entry, rng: Random, filler: Filler, date: datetime) -> Story:
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
    if topic in {"materials", "food"} or name in UNCOUNTED:
        title = title.replace("the " + name.lower(), name.lower())
    local = filler.one_of(
        (
            "There is one in {museum}; {person} will open the case if asked.",
            "{person} of {street} has collected them for {years} years and stopped counting at {many}.",
            "When {person} gave a talk on it at {venue}, {many} people came.",
            "In Port Merrow it came ashore, they say, with the {boat}.",
        )
    )
    facts = [(text(label), text(plain(value))) for label, value in entry.facts]
    more = link(article_url(entry.name), f"the encyclopedia's article on {name}")
    return Story(
        category=f"Explained/{TOPICS[topic]}",
        tags=("Explained", name, *(see.partition(" (")[0] for see in entry.see[:1])),
        subject=f"thing/{topic}/{name}",
        date=date,
        title=title,
        blocks=[
            paragraph(text(plain(" ".join(entry.lead.split())))),
            paragraph(text(local)),
            *_sections(entry),
            *([table(facts)] if facts else []),
            paragraph(f"More in {more}."),
        ],
        filler=filler,
        talk="Explained",
    )


def _city(city: Entry, rng: Random, filler: Filler, date: datetime) -> Story:
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
    opening = filler.one_of(
        (
            "{person} of {street} went by train and came back with a full notebook.",
            "Our reader {person} has been three times and would go again tomorrow.",
            "The choir of St Brannock's was invited, and {few} of them sent us postcards.",
        )
    )
    tip = filler.one_of(
        (
            "Go {weather}, the light is best then.",
            "Take a good rain jacket and leave the car.",
            "Ask for {dish}; they will not have it, but a conversation begins.",
            "Book the museum for {weekday}.",
        )
    )
    return Story(
        category="Cities",
        tags=("Travel", name, *(see.partition(" (")[0] for see in city.see[:1])),
        subject=f"city/{city.name}",
        date=date,
        title=title,
        blocks=[
            paragraph(text(opening)),
            paragraph(text(plain(" ".join(city.lead.split())))),
            *_sections(city),
            quote(tip, filler.say("{person}")),
            paragraph(f"Read on in {link(article_url(city.name), 'the encyclopedia')}."),
        ],
        filler=filler,
        talk="Places",
    )
