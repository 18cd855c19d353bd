"""One page per year: everything that other articles date there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from draft import Draft, DraftBullets, DraftSection

from region.subject import Event, Kind, year_title
from region.world import World

FIRST, LAST = 1800, 2025


def year_pages(world: World) -> Iterator[Draft]:
    """Yield the pages of all years that the county's articles tell of."""
    events: dict[int, list[Event]] = defaultdict(list)
    for event in world.events():
        events[event.year].append(event)
    for year in range(FIRST, LAST + 1):
        yield _page(year, events[year])


def _page(year: int, events: list[Event]) -> Draft:
    beside = [year_title(near) for near in (year - 1, year + 1) if FIRST <= near <= LAST]
    kinds = {kind: [one.words for one in events if one.kind is kind] for kind in Kind}
    return Draft(
        title=year_title(year),
        lead=(f"**{year}** in [[Merrowshire]]: what this encyclopedia dates to the year.",),
        facts=(
            ("Entries", str(len(events))),
            ("Births", str(len(kinds[Kind.BIRTH]))),
            ("Deaths", str(len(kinds[Kind.DEATH]))),
        ),
        sections=tuple(
            DraftSection(kind.value, (DraftBullets(tuple(sorted(words))),))
            for kind, words in kinds.items()
            if words
        ),
        see_also=(*beside, "Years in Merrowshire"),
        topic="Years in Merrowshire",
        proper=True,
        autolink=False,
        marked=True,
    )
