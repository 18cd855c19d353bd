"""The words of the town's stories: written when all is drawn that lists and counts of the site show.

A story keeps the title, tags, people and places of its draft; what is said of them has a stream of
chance of its own, so that another word here moves no comment and no picture elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any

from gazette import kitchen
from gazette.fitted import WEEK
from gazette.sources import vocabulary
from gazette.stories import body, vocabulary_says
from gazette.story import Story
from gazette.writing import Filler, heading, quote

SEASONS = ("winter", "spring", "summer", "autumn")
TAKINGS = ("£340", "£415", "£570", "£780", "£1,060", "£1,240")
COLD, AUTUMN = "first cold evening", {9, 10, 11}
KEPT, JOINED, HEADED, QUOTED = 0.88, 0.3, 0.3, 0.2
_MORE: Mapping[str, Mapping[str, Any]] = vocabulary("more")
_HEADS: Sequence[str] = vocabulary("features")["words"]["last"]


def tell(stories: Iterable[Story]) -> None:
    """Give stories their words, and put their drawing and what they refer to where these belong."""
    for story in stories:
        if story.kind:
            story.told = story.filler.again(Random(f"gaps/{story.id}"), story.titled)
            story.blocks = _blocks(story, story.kind, Random(f"words/{story.id}")) or story.blocks
        if story.inset:
            place, drawing = story.inset
            story.blocks.insert(min(place, max(1, len(story.blocks) - 1)), drawing)
        if story.refers:
            story.blocks.append(story.refers)


def _blocks(story: Story, kind: Mapping[str, Any], rng: Random) -> list[str]:
    told = story.told
    if told is None:
        return []
    _set_in_time(story, told, rng)
    if "Recipes" in kind["tags"]:
        story.points = kitchen.of_cooks(told.peek("dish"))
        return kitchen.recipe(story.title, story.date.month, rng, told, body)
    if "Eating out" in kind["tags"]:
        story.points = kitchen.of_guests()
        return kitchen.review(story.title, rng, told, body)
    return _of_the_town(story, kind, rng, told)


def _set_in_time(story: Story, told: Filler, rng: Random) -> None:
    """Let it be the season of the day, on a day on which the museum is open, for small money."""
    month = story.date.month
    if "season" not in story.titled:
        told.alter("season", SEASONS[month % 12 // 3])
    if COLD in told.peek("weather") and month not in AUTUMN:
        told.alter("weather", "under a grey sky")
    if story.category in {"Running", "Events"} and "money" not in story.titled:
        told.alter("money", rng.choice(TAKINGS))
    if story.category == "Museums":
        closed = told.say("{closed}")
        told.alter("weekday", rng.choice([one for one in WEEK if one not in closed]))


def _of_the_town(story: Story, kind: Mapping[str, Any], rng: Random, told: Filler) -> list[str]:
    more = _MORE[f"{kind['category']}/{kind['tags'][-1]}"]
    fits = partial(_fits, story.title, told, more.get("only", ()))
    under: Mapping[str, Any] = next(
        (one for one in more.get("under", ()) if one["title"] in story.title), {}
    )
    leads = under.get("lead") or (*kind["lead"], *more["lead"])
    pools = under.get("body") or [
        (*pool, *more.get(f"body{place}", ())) for place, pool in enumerate(kind["body"], 1)
    ]
    kept = [pool for pool in pools if rng.random() < KEPT] or pools[:1]
    drawn = [rng.choice([one for one in pool if fits(one)] or [""]) for pool in (leads, *kept)]
    blocks = [body(one) for one in _paragraphs(rng, [told.say(one) for one in drawn if one])]
    if len(blocks) > 2 and rng.random() < HEADED:
        blocks.insert(len(blocks) - 1, heading(rng.choice(_HEADS)))
    said = [one for one in vocabulary_says(kind["category"]) if told.known(one)]
    if said and rng.random() < QUOTED:
        place = rng.randrange(1, len(blocks) + 1)
        blocks.insert(place, quote(told.one_of(said), told.say("{person3}, {street3}")))
    return blocks


def _fits(title: str, told: Filler, only: Iterable[Mapping[str, Any]], sentence: str) -> bool:
    """Tell whether a text is for the thing that the story is about."""
    return all(
        any(word in f"{title} {told.peek(one['of'])}" for word in one["has"])
        for one in only
        if any(word in sentence for word in one["words"])
    )


def _paragraphs(rng: Random, sentences: Sequence[str]) -> Iterator[str]:
    left = list(sentences)
    while left:
        count = 2 if rng.random() < JOINED else 1
        yield " ".join(left[:count])
        left = left[count:]
