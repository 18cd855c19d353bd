"""The standing pages, some below others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

from gazette.sources import World, slug, vocabulary
from gazette.writing import Filler, paragraph, table, text

TOTAL = 60
TIDES = "Tide tables"


@dataclass(slots=True)
class Page:
    """One page; `parent` is a page before it."""

    title: str
    slug: str
    blocks: list[str]
    parent: Page | None
    order: int
    id: int = 0


def pages(world: World, town: Mapping[str, Sequence[str]]) -> list[Page]:
    """Return all pages, parents first; the months of the tide tables fill them up to 60."""
    made: dict[str, Page] = {}
    show = {"show": ["the oldest piece, by the door", "the model of the harbour", "the last room"]}
    for entry in vocabulary("pages")["page"]:
        names = town[entry["each"]] if "each" in entry else (entry["title"],)
        for name in names:
            filler = Filler(
                Random(f"page/{name}"), world, town, show, datetime(2026, 5, 1, tzinfo=UTC)
            )
            filler.give("name", name)
            for gap, word in {entry.get("each", "name"): name, **entry.get("about", {})}.items():
                filler.give(gap, word)
            title = name.removeprefix("the ")
            title = title[0].upper() + title[1:]
            blocks = [paragraph(text(filler.say(one))) for one in entry["text"]]
            made[title] = Page(
                title, slug(title), blocks, made.get(entry.get("parent", "")), len(made)
            )
    tides = made[TIDES]
    month = datetime(2026, 10, 1, tzinfo=UTC)
    while len(made) < TOTAL:
        title = f"Tides in {month:%B %Y}"
        made[title] = Page(title, slug(title), [_tides(month)], tides, len(made))
        month = (month + timedelta(days=32)).replace(day=1)
    return list(made.values())


def _tides(month: datetime) -> str:
    """Return a month's table; high water comes 12 h 25 min after the one before."""
    water = datetime(2026, 10, 1, 2, 40, tzinfo=UTC)
    days: dict[str, list[str]] = {}
    while water < month + timedelta(days=32):
        if water >= month and water.month == month.month:
            days.setdefault(f"{water:%a %d}", []).append(f"{water:%H:%M}")
        water += timedelta(hours=12, minutes=25)
    return table(
        [(day, times[0], times[1] if len(times) > 1 else "-") for day, times in days.items()],
        ("Day", "Morning", "Evening"),
    )
