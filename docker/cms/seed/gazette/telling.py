"""The words of the town's stories: written when all is drawn that lists and counts of the site show.

A story keeps the title, tags, people and places of its draft; what is said of them has a stream of
chance of its own, so that another word here moves no comment and no picture elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import Any

from gazette import kitchen
from gazette.stories import body
from gazette.story import Story


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
    if "Recipes" in kind["tags"]:
        story.points = kitchen.of_cooks(told.peek("dish"))
        return kitchen.recipe(story.title, story.date.month, rng, told, body)
    if "Eating out" in kind["tags"]:
        story.points = kitchen.of_guests()
        return kitchen.review(story.title, rng, told, body)
    story.told = None
    return []
