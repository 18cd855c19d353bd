"""The county's lists: tables by height, length or date, and one index per topic."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from draft import Draft, DraftBullets, DraftSection, DraftTable

from region.built import Bridge, Castle, Lighthouse, Line, Museum, School, Station
from region.nature import Dish, Festival, Mineral, Species, Walk
from region.people import Person, Trade
from region.places import Hill, Island, Lake, River, Town, Village
from region.subject import Subject
from region.trade import Company, Maker, Ship
from region.works import Film, Novel, Painting, Piece
from region.world import World

Listed = TypeVar("Listed", bound=Subject)
TOPIC = "Lists of Merrowshire"


@dataclass(frozen=True, kw_only=True)
class Ranking(Generic[Listed]):
    """One list: its members in an order, and a row of cells for each."""

    title: str
    of: str
    by: str
    members: Sequence[Listed]
    key: Callable[[Listed], tuple[float | str, ...]]
    header: tuple[str, ...]
    row: Callable[[Listed], tuple[str, ...]]

    def draft(self) -> Draft:
        """Return the list as an article."""
        ordered = sorted(self.members, key=lambda one: (*self.key(one), one.title))
        rows = tuple(
            (str(rank), one.link, *self.row(one)) for rank, one in enumerate(ordered, start=1)
        )
        table = DraftTable(self.title, ("No.", *self.header), rows)
        first, last = ordered[0].link, ordered[-1].link
        return Draft(
            title=self.title,
            lead=(f"This **list** names {len(rows)} {self.of} of [[Merrowshire]], {self.by}.",),
            facts=(("Entries", str(len(rows))), ("First", first), ("Last", last)),
            sections=(
                DraftSection("List", (table,)),
                DraftSection(
                    "Notes",
                    (
                        (
                            f"{first} stands first and {last} last. All figures are those of the "
                            "entries' own articles."
                        ),
                    ),
                ),
            ),
            see_also=("Merrowshire", "Lists of Merrowshire"),
            topic=TOPIC,
            proper=True,
            autolink=False,
            marked=True,
        )


def rankings(world: World) -> Iterator[Draft]:
    """Yield the lists of the county."""
    for ranking in (*_of_places(world), *_of_buildings(world), *_of_culture(world)):
        yield ranking.draft()
    for trade in Trade:
        yield _people(world, trade).draft()


def indexes(drafts: Sequence[Draft]) -> Iterator[Draft]:
    """Yield one index per topic: the county's categories."""
    by_topic: dict[str, list[str]] = defaultdict(list)
    for draft in drafts:
        by_topic[draft.topic].append(draft.title)
    for topic, titles in sorted(by_topic.items()):
        by_letter: dict[str, list[str]] = defaultdict(list)
        for title in sorted(titles):
            by_letter[title[0].upper()].append(f"[[{title}]]")
        yield Draft(
            title=topic,
            lead=(f"This **index** holds the {len(titles)} articles under {topic}.",),
            facts=(("Articles", str(len(titles))),),
            sections=tuple(
                DraftSection(letter, (DraftBullets(tuple(links)),))
                for letter, links in sorted(by_letter.items())
            ),
            see_also=("Merrowshire",),
            topic="Indexes of Merrowshire",
            proper=True,
            autolink=False,
            marked=True,
        )


def _of_places(world: World) -> tuple[Ranking[Any], ...]:
    land = world.land
    return (
        Ranking[Hill](
            title="List of hills of Merrowshire by height",
            of="hills",
            by="the highest first",
            members=land.hills,
            key=lambda one: (-one.height,),
            header=("Hill", "Height (m)", "District", "Rock"),
            row=lambda one: (f"{one.height}", one.district.link, one.rock),
        ),
        Ranking[River](
            title="List of rivers of Merrowshire by length",
            of="rivers",
            by="the longest first",
            members=land.rivers,
            key=lambda one: (-one.length,),
            header=("River", "Length (km)", "District", "Mean flow (m³/s)"),
            row=lambda one: (f"{one.length}", one.district.link, f"{one.flow}"),
        ),
        Ranking[Lake](
            title="List of lakes of Merrowshire by area",
            of="lakes",
            by="the largest first",
            members=land.lakes,
            key=lambda one: (-one.area,),
            header=("Lake", "Area (ha)", "Depth (m)", "District"),
            row=lambda one: (f"{one.area:,}", f"{one.depth}", one.district.link),
        ),
        Ranking[Island](
            title="List of islands of Merrowshire by area",
            of="islands",
            by="the largest first",
            members=land.islands,
            key=lambda one: (-one.area,),
            header=("Island", "Area (ha)", "Population (2021)", "Ferry from"),
            row=lambda one: (f"{one.area:,}", f"{one.population:,}", one.ferry.link),
        ),
        Ranking[Town](
            title="List of towns in Merrowshire by population",
            of="towns",
            by="the largest first",
            members=land.towns,
            key=lambda one: (-one.population,),
            header=("Town", "Population (2021)", "District", "Market day", "First recorded"),
            row=lambda one: (
                f"{one.population:,}",
                one.district.link,
                one.market,
                f"{one.recorded}",
            ),
        ),
        Ranking[Village](
            title="List of villages in Merrowshire by population",
            of="villages",
            by="the largest first",
            members=land.villages,
            key=lambda one: (-one.population,),
            header=("Village", "Population (2021)", "District", "Nearest town"),
            row=lambda one: (f"{one.population:,}", one.district.link, one.near.link),
        ),
    )


def _of_buildings(world: World) -> tuple[Ranking[Any], ...]:
    built = world.buildings
    return (
        Ranking[Lighthouse](
            title="List of lighthouses of Merrowshire by height",
            of="lighthouses",
            by="the tallest first",
            members=built.lighthouses,
            key=lambda one: (-one.height,),
            header=("Lighthouse", "Height (m)", "Built", "Range (nautical miles)", "Nearest port"),
            row=lambda one: (f"{one.height}", f"{one.opened}", f"{one.reach}", one.place.link),
        ),
        Ranking[Bridge](
            title="List of bridges of Merrowshire by length",
            of="bridges",
            by="the longest first",
            members=built.bridges,
            key=lambda one: (-one.length,),
            header=("Bridge", "Length (m)", "Place", "River", "Opened"),
            row=lambda one: (
                f"{one.length}",
                one.place.link,
                one.river.link,
                f"{one.opened}",
            ),
        ),
        Ranking[Museum](
            title="List of museums in Merrowshire",
            of="museums",
            by="by the year of opening",
            members=built.museums,
            key=lambda one: (one.opened,),
            header=("Museum", "Opened", "City or town", "Visitors (2025)", "Closed on"),
            row=lambda one: (
                f"{one.opened}",
                one.place.link,
                f"{one.visitors:,}",
                one.closed_on,
            ),
        ),
        Ranking[Line](
            title="List of railway lines in Merrowshire",
            of="railway lines",
            by="the oldest first",
            members=built.lines,
            key=lambda one: (one.opened,),
            header=("Line", "Opened", "From", "To", "Length (km)"),
            row=lambda one: (
                f"{one.opened}",
                one.start.link,
                one.end.link,
                f"{one.length}",
            ),
        ),
        Ranking[Station](
            title="List of railway stations in Merrowshire",
            of="railway stations",
            by="by name",
            members=built.stations,
            key=lambda one: (one.title,),
            header=("Station", "Line", "Platforms", "Passengers a year", "Closed"),
            row=lambda one: (
                one.line.link,
                f"{one.platforms}",
                "–" if one.passengers is None else f"{one.passengers:,}",
                str(one.closed or "–"),
            ),
        ),
        Ranking[School](
            title="List of schools in Merrowshire",
            of="schools",
            by="the oldest first",
            members=built.schools,
            key=lambda one: (one.opened,),
            header=("School", "Founded", "Place", "Pupils"),
            row=lambda one: (f"{one.opened}", one.place.link, f"{one.pupils:,}"),
        ),
        Ranking[Castle](
            title="List of castles in Merrowshire",
            of="castles",
            by="the oldest first",
            members=built.castles,
            key=lambda one: (one.begun,),
            header=("Castle", "Begun", "Place", "State"),
            row=lambda one: (f"{one.begun}", one.place.link, one.state),
        ),
    )


def _of_culture(world: World) -> tuple[Ranking[Any], ...]:
    arts, nature = world.arts, world.nature
    return (
        Ranking[Painting](
            title="List of paintings of Merrowshire",
            of="paintings",
            by="the oldest first",
            members=arts.paintings,
            key=lambda one: (one.year,),
            header=("Painting", "Year", "Artist", "Museum"),
            row=lambda one: (f"{one.year}", one.maker.link, one.museum.link),
        ),
        Ranking[Piece](
            title="List of music of Merrowshire",
            of="musical works",
            by="the oldest first",
            members=arts.pieces,
            key=lambda one: (one.year,),
            header=("Work", "Year", "Composer", "Minutes"),
            row=lambda one: (f"{one.year}", one.maker.link, f"{one.minutes}"),
        ),
        Ranking[Novel](
            title="List of novels of Merrowshire",
            of="novels",
            by="the oldest first",
            members=arts.novels,
            key=lambda one: (one.year,),
            header=("Novel", "Year", "Author", "Pages"),
            row=lambda one: (f"{one.year}", one.maker.link, f"{one.pages}"),
        ),
        Ranking[Film](
            title="List of films of Merrowshire",
            of="films",
            by="the oldest first",
            members=arts.films,
            key=lambda one: (one.year,),
            header=("Film", "Year", "Director", "Minutes"),
            row=lambda one: (f"{one.year}", one.maker.link, f"{one.minutes}"),
        ),
        Ranking[Ship](
            title="List of ships of Merrowshire",
            of="ships",
            by="by the year of launch",
            members=world.ships,
            key=lambda one: (one.launched,),
            header=("Ship", "Launched", "Kind", "Home port", "Fate"),
            row=lambda one: (
                f"{one.launched}",
                one.form,
                one.port.link,
                f"{one.fate}, {one.ended}",
            ),
        ),
        Ranking[Company](
            title="List of companies of Merrowshire",
            of="companies",
            by="the oldest first",
            members=world.companies,
            key=lambda one: (one.opened,),
            header=("Company", "Founded", "Kind", "Place", "Closed"),
            row=lambda one: (f"{one.opened}", one.form, one.place.link, str(one.closed or "–")),
        ),
        Ranking[Maker](
            title="List of makers of goods",
            of="makers whose goods are sold in the shop",
            by="by name",
            members=world.makers,
            key=lambda one: (one.title,),
            header=("Maker", "Made in", "Kinds of goods"),
            row=lambda one: (one.city, f"{one.count}"),
        ),
        Ranking[Species](
            title="List of species of Merrowshire",
            of="species",
            by="by the year of description",
            members=nature.species,
            key=lambda one: (one.described,),
            header=("Species", "Described", "Group", "Described by"),
            row=lambda one: (f"{one.described}", one.group, one.describer.link),
        ),
        Ranking[Mineral](
            title="List of minerals of Merrowshire",
            of="minerals",
            by="by name",
            members=nature.minerals,
            key=lambda one: (one.title,),
            header=("Mineral", "Hardness", "Density (g/cm³)", "Found on"),
            row=lambda one: (one.hardness, one.density, one.hill.link),
        ),
        Ranking[Dish](
            title="List of dishes of Merrowshire",
            of="dishes",
            by="by name",
            members=nature.dishes,
            key=lambda one: (one.title,),
            header=("Dish", "Home", "Course", "First recipe"),
            row=lambda one: (one.place.link, one.course, f"{one.recorded}"),
        ),
        Ranking[Festival](
            title="List of festivals in Merrowshire",
            of="festivals",
            by="the oldest first",
            members=nature.festivals,
            key=lambda one: (one.founded,),
            header=("Festival", "First held", "Month", "Visitors (2025)"),
            row=lambda one: (f"{one.founded}", one.month, f"{one.visitors:,}"),
        ),
        Ranking[Walk](
            title="List of walks in Merrowshire",
            of="walks",
            by="the longest first",
            members=nature.walks,
            key=lambda one: (-one.length,),
            header=("Walk", "Length (km)", "Start", "End", "Ascent (m)"),
            row=lambda one: (
                f"{one.length}",
                one.start.link,
                (one.end or one.start).link,
                f"{one.climb:,}",
            ),
        ),
    )


def _people(world: World, trade: Trade) -> Ranking[Person]:
    return Ranking[Person](
        title=f"List of {trade}s of Merrowshire",
        of=f"{trade}s",
        by="by the year of birth",
        members=world.society.of(trade),
        key=lambda one: (one.born,),
        header=("Name", "Born", "Died", "Birthplace"),
        row=lambda one: (f"{one.born}", str(one.died or "–"), one.birthplace.link),
    )
