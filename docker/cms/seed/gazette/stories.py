"""Stories of the town, from the kinds in stories.toml."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from random import Random
from typing import Any

from gazette import kitchen
from gazette.sources import FORUM, SHOP, World, slug, vocabulary
from gazette.story import Story
from gazette.writing import Filler, bullets, heading, link, paragraph, quote, text

OPINION = {"Editorial", "Columns", "Letters"}
NOTICES = {"Events", "Lost and found"}
SUBHEADS: Sequence[str] = vocabulary("features")["words"]["subheads"]


def kinds() -> Iterator[dict[str, Any]]:
    """Yield each kind as often as it is written."""
    for kind in vocabulary("stories")["kind"]:
        for _ in range(kind["count"]):
            yield kind


def write(
    kind: dict[str, Any],
    number: int,
    world: World,
    town: Mapping[str, Sequence[str]],
    date: datetime,
) -> Story:
    """Draft one story of a kind, as the given day has it; `telling` writes what one reads."""
    rng = Random(f"story/{number}")
    filler = Filler(rng, world, town, kind.get("own", {}), date)
    title = filler.one_of(kind["title"])
    titled = filler.said
    blocks = [body(filler.one_of(kind["lead"]))]
    texts = [filler.one_of(pool) for pool in kind["body"]]
    cut = rng.randrange(1, len(texts)) if len(texts) > 2 else 0
    for place, sentence in enumerate(texts):
        if place == cut and rng.random() < 0.55:
            blocks.append(heading(rng.choice(SUBHEADS)))
        blocks.append(body(sentence))
    if "Recipes" in kind["tags"]:
        blocks[2:2] = [
            heading("You need"),
            bullets([text(item) for item in kitchen.DISHES[filler.say("{dish}")]["needs"]]),
        ]
    elif rng.random() < 0.25:
        blocks.append(
            quote(
                filler.one_of(vocabulary_says(kind["category"])), filler.say("{person3}, {street3}")
            )
        )
    tags = (*kind["tags"], *_more_tags(rng, filler, kind))
    filler.give(slug(kind["tags"][0]).replace("-", ""), "")  # what its readers know it is
    return Story(
        category=kind["category"],
        tags=tags,
        subject=kind["category"],
        date=date,
        title=title[0].upper() + title[1:],
        blocks=blocks,
        filler=filler,
        talk=talk_of(kind["category"]),
        kind=kind,
        titled=titled,
    )


def talk_of(category: str) -> str:
    """Return what the talk about a category is called."""
    if category in OPINION:
        return "Opinion"
    return "Noticeboard" if category in NOTICES else category


_TALK = vocabulary("talk")["quote"]


def vocabulary_says(category: str) -> Sequence[str]:
    """Return what people say about a category."""
    return _TALK[talk_of(category)]


def body(sentence: str) -> str:
    """Return a sentence as a paragraph; who is named in it and has a site is linked to."""
    markup = text(sentence)
    markup = markup.replace("Harbour &amp; Pine", link(SHOP + "/", "Harbour & Pine"), 1)
    return paragraph(markup.replace("the forum", link(FORUM + "/", "the forum"), 1))


def _more_tags(rng: Random, filler: Filler, kind: dict[str, Any]) -> Iterator[str]:
    """Yield the street or place of a story, for some."""
    everything = " ".join((*kind["title"], *kind["lead"]))
    for gap in ("street", "museum", "beach", "band", "club", "plant"):
        if f"{{{gap}" in everything and rng.random() < 0.6:
            words = filler.say(f"{{{gap}}}").removeprefix("the ")
            yield words[0].upper() + words[1:]
