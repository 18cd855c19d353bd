"""All drafts of the county."""

from __future__ import annotations

from dataclasses import replace

from draft import Draft

from region.blocks import Related
from region.lists import indexes, rankings
from region.overview import overview
from region.prose import Prose
from region.sport import Career
from region.world import World, grow
from region.years import year_pages

INDEX = "Indexes of Merrowshire"


def county(world: World | None = None) -> list[Draft]:
    """Return the county's drafts, each with its topic's index among what to see also."""
    world = world or grow()
    prose = Prose(Related(world))
    drafts = [prose.draft(one) for one in world.subjects if not isinstance(one, Career)]
    drafts += [*overview(world), *rankings(world), *year_pages(world)]
    found = [_indexed(one) for one in drafts]
    topics = list(indexes(drafts))
    return [*found, *topics, *indexes(topics)]


def _indexed(draft: Draft) -> Draft:
    if draft.topic in {draft.title, *draft.see_also}:
        return draft
    return replace(draft, see_also=(*draft.see_also, draft.topic))
