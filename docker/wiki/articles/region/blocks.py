"""Lists and tables inside articles: what others say of a subject, by the name in prose/."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from draft import DraftBlock, DraftBullets, DraftTable

from region.built import (
    Bridge,
    Castle,
    Church,
    Lighthouse,
    Line,
    Mill,
    Museum,
    School,
    Station,
    Street,
    Venue,
)
from region.nature import Festival, Mineral, Species, Walk
from region.people import Person, Trade
from region.places import City, Hill, Island, Lake, River, Settlement, Town, Village
from region.sport import Career, Club, Season
from region.subject import Subject
from region.trade import Company, Maker, Ship
from region.works import Film, Novel, Painting, Piece, Work
from region.world import World

Block = Callable[[World, Subject], DraftBlock | None]


class Related:
    """Gives the blocks that name other subjects, from one world."""

    def __init__(self, world: World) -> None:
        self._world = world

    def __call__(self, name: str, subject: Subject) -> DraftBlock | None:
        """Return the block of that name for the subject, or None if it has nothing to show."""
        return BLOCKS[name](self._world, subject)


def _bullets(lines: Sequence[str]) -> DraftBlock | None:
    return DraftBullets(tuple(lines)) if lines else None


def _table(
    caption: str, header: tuple[str, ...], rows: Sequence[tuple[str, ...]]
) -> DraftBlock | None:
    return DraftTable(caption, header, tuple(rows)) if rows else None


def _towns(world: World, it: Subject) -> DraftBlock | None:
    towns = [one for kind in (City, Town) for one in world.naming(it, kind)]
    ordered = sorted(towns, key=lambda one: -one.population)
    rows = [(one.link, one.rank, f"{one.population:,}") for one in ordered]
    return _table("Cities and towns", ("Name", "Kind", "Population (2021)"), rows)


def _villages(world: World, it: Subject) -> DraftBlock | None:
    rows = [(one.link, one.near.link, f"{one.population:,}") for one in world.naming(it, Village)]
    return _table("Villages", ("Village", "Nearest town", "Population (2021)"), rows)


def _rivers(world: World, it: Subject) -> DraftBlock | None:
    ordered = sorted(world.naming(it, River), key=lambda one: -one.length)
    return _bullets([f"{one.link}, {one.length} km" for one in ordered])


def _hills(world: World, it: Subject) -> DraftBlock | None:
    ordered = sorted(world.naming(it, Hill), key=lambda one: -one.height)
    return _bullets([f"{one.link}, {one.height} m" for one in ordered])


def _lakes(world: World, it: Subject) -> DraftBlock | None:
    ordered = sorted(world.naming(it, Lake), key=lambda one: -one.area)
    return _bullets([f"{one.link}, {one.area:,} ha" for one in ordered])


def _islands(world: World, it: Subject) -> DraftBlock | None:
    ordered = sorted(world.naming(it, Island), key=lambda one: -one.area)
    return _bullets([f"{one.link}, {one.area:,} ha" for one in ordered])


def _museums(world: World, it: Subject) -> DraftBlock | None:
    rows = [
        (one.link, str(one.opened), f"{one.visitors:,}", one.admission)
        for one in world.naming(it, Museum)
    ]
    return _table("Museums", ("Museum", "Opened", "Visitors (2025)", "Admission"), rows)


def _schools(world: World, it: Subject) -> DraftBlock | None:
    return _bullets(
        [
            f"{one.link}, founded in {one.opened}, {one.pupils:,} pupils"
            for one in world.naming(it, School)
        ]
    )


def _churches(world: World, it: Subject) -> DraftBlock | None:
    found = world.naming(it, Church)
    return _bullets([f"{one.link}, with a tower of {one.tower} metres" for one in found])


def _mills(world: World, it: Subject) -> DraftBlock | None:
    return _bullets([f"{one.link}, a {one.form} of {one.opened}" for one in world.naming(it, Mill)])


def _castles(world: World, it: Subject) -> DraftBlock | None:
    return _bullets([f"{one.link}, begun in {one.begun}" for one in world.naming(it, Castle)])


def _clubs(world: World, it: Subject) -> DraftBlock | None:
    found = world.naming(it, Club)
    return _bullets([f"{one.link}, founded in {one.founded}" for one in found])


def _stations(world: World, it: Subject) -> DraftBlock | None:
    lines = []
    for one in world.naming(it, Station):
        until = f", closed in {one.closed}" if one.closed is not None else ""
        lines.append(f"{one.link} on the {one.line.link}, opened in {one.opened}{until}")
    return _bullets(lines)


def _line_stations(world: World, it: Subject) -> DraftBlock | None:
    rows = [
        (one.link, str(one.closed or "–"), "–" if one.passengers is None else f"{one.passengers:,}")
        for one in world.naming(it, Station)
    ]
    return _table("Stations", ("Station", "Closed", "Passengers a year"), rows)


def _bridges(world: World, it: Subject) -> DraftBlock | None:
    rows = [
        (one.link, one.river.link, str(one.opened), f"{one.length} m")
        for one in world.naming(it, Bridge)
    ]
    return _table("Bridges", ("Bridge", "River", "Opened", "Length"), rows)


def _festivals(world: World, it: Subject) -> DraftBlock | None:
    found = world.naming(it, Festival)
    return _bullets([f"{one.link}, in {one.month}, since {one.founded}" for one in found])


def _streets(world: World, it: Subject) -> DraftBlock | None:
    rows = [(one.link, f"{one.length:,}", str(one.houses)) for one in world.naming(it, Street)]
    return _table("Streets", ("Street", "Length (m)", "Houses"), rows)


def _street_museums(world: World, it: Subject) -> DraftBlock | None:
    return _bullets([f"{one.link}, on {one.topic}" for one in world.naming(it, Museum)])


def _venues(world: World, it: Subject) -> DraftBlock | None:
    return _bullets(
        [f"{one.link}, {one.form}, opened in {one.opened}" for one in world.naming(it, Venue)]
    )


def _natives(world: World, it: Subject) -> DraftBlock | None:
    born = [one for one in world.naming(it, Person) if one.birthplace is it]
    ordered = sorted(born, key=lambda one: (one.born, one.title))
    return _bullets([f"{one.link} ({one.life}), {one.trade}" for one in ordered])


def _companies(world: World, it: Subject) -> DraftBlock | None:
    found = world.naming(it, Company)
    return _bullets([f"{one.link}, {one.form}, founded in {one.opened}" for one in found])


def _around(world: World, it: Subject) -> DraftBlock | None:
    found = [one for one in world.naming(it, Village) if one.near is it]
    rows = [(one.link, one.way, str(one.distance), f"{one.population:,}") for one in found]
    header = ("Village", "Direction from the town", "Distance (km)", "Population (2021)")
    return _table("Villages around", header, rows)


def _arts(world: World, it: Subject) -> DraftBlock | None:
    lines = []
    for one in sorted(world.naming(it, Work), key=lambda work: (work.year, work.title)):
        kind = type(one).__name__.lower().replace("piece", "musical work")
        lines.append(f"{one.link} ({one.year}), a {kind} by {one.maker.link}")
    return _bullets(lines)


def _tributaries(world: World, it: Subject) -> DraftBlock | None:
    found = sorted(world.naming(it, River), key=lambda one: -one.length)
    return _bullets([f"{one.link}, {one.length} km" for one in found])


def _settlements(world: World, it: Subject) -> DraftBlock | None:
    found = world.naming(it, Settlement)
    return _bullets([f"{one.link}, {one.rank}" for one in found])


def _species(world: World, it: Subject) -> DraftBlock | None:
    found = world.naming(it, Species)
    return _bullets([f"{one.link}, a {one.group}, described in {one.described}" for one in found])


def _minerals(world: World, it: Subject) -> DraftBlock | None:
    found = world.naming(it, Mineral)
    return _bullets([f"{one.link}, found in {one.found}" for one in found])


def _springs(world: World, it: Subject) -> DraftBlock | None:
    return _bullets([f"The {one.link} rises here" for one in world.naming(it, River)])


def _walks(world: World, it: Subject) -> DraftBlock | None:
    return _bullets([f"{one.link}, {one.length} km" for one in world.naming(it, Walk)])


def _lighthouses(world: World, it: Subject) -> DraftBlock | None:
    found = world.naming(it, Lighthouse)
    return _bullets([f"{one.link}, {one.height} m, built in {one.opened}" for one in found])


def _hung(world: World, it: Subject) -> DraftBlock | None:
    found = sorted(world.naming(it, Painting), key=lambda one: one.number)
    rows = [(one.number, one.link, one.maker.link, str(one.year)) for one in found]
    return _table("Paintings", ("Number", "Painting", "Artist", "Year"), rows)


def _films(world: World, it: Subject) -> DraftBlock | None:
    found = world.naming(it, Film)
    return _bullets([f"{one.link} ({one.year}) by {one.maker.link}" for one in found])


def _built_ships(world: World, it: Subject) -> DraftBlock | None:
    found = sorted(world.naming(it, Ship), key=lambda one: one.launched)
    return _bullets([f"{one.link}, {one.form}, launched in {one.launched}" for one in found])


def _books(world: World, it: Subject) -> DraftBlock | None:
    found = sorted(world.naming(it, Novel), key=lambda one: one.year)
    return _bullets([f"{one.link} ({one.year}) by {one.maker.link}" for one in found])


def _goods(world: World, it: Subject) -> DraftBlock | None:
    return _bullets(list(it.goods)) if isinstance(it, Maker) else None


def _workshops(world: World, it: Subject) -> DraftBlock | None:
    if not isinstance(it, Maker):
        return None
    rows = [(department, f"[[{city}]]") for department, city in it.workshops]
    return _table("Departments and workshops", ("Department of the shop", "Made in"), rows)


def _titles(world: World, it: Subject) -> DraftBlock | None:
    won = [one for one in world.football.seasons if one.champion is it]
    return _bullets([f"[[{one.title}]], with {one.points} points" for one in won])


def _players(world: World, it: Subject) -> DraftBlock | None:
    found = sorted(world.naming(it, Career), key=lambda one: (one.since, one.title))
    rows = [
        (
            one.player.link,
            one.position,
            f"{one.since}–{one.until}",
            str(one.matches),
            str(one.goals),
        )
        for one in found
    ]
    return _table("Players", ("Player", "Position", "Years", "Matches", "Goals"), rows)


def _standings(world: World, it: Subject) -> DraftBlock | None:
    if not isinstance(it, Season):
        return None
    rows = [
        (
            str(rank),
            one.club.link,
            *(str(value) for value in (one.won, one.drawn, one.lost, one.scored, one.conceded)),
            str(one.points),
        )
        for rank, one in enumerate(it.table, start=1)
    ]
    header = ("Place", "Club", "Won", "Drawn", "Lost", "Scored", "Conceded", "Points")
    return _table("Final table", header, rows)


def _pupils(world: World, it: Subject) -> DraftBlock | None:
    pupils = [one for one in world.naming(it, Person) if one.teacher is it]
    return _bullets([f"{one.link} ({one.life})" for one in pupils])


def _dish_festivals(world: World, it: Subject) -> DraftBlock | None:
    return _bullets([f"{one.link}, in {one.month}" for one in world.naming(it, Festival)])


def _work(  # noqa: C901, PLR0911  one case a trade
    world: World, it: Subject
) -> DraftBlock | None:
    if not isinstance(it, Person):
        return None
    match it.trade:
        case Trade.PAINTER:
            return _painted(world, it)
        case Trade.COMPOSER:
            made: Sequence[Work] = [one for one in world.naming(it, Piece) if one.maker is it]
        case Trade.NOVELIST:
            made = world.naming(it, Novel)
        case Trade.DIRECTOR:
            made = world.naming(it, Film)
        case Trade.NATURALIST:
            return _described(world, it)
        case Trade.ENGINEER:
            return _engineered(world, it)
        case Trade.CAPTAIN:
            found = world.naming(it, Ship)
            return _bullets([f"First master of the {one.form} {one.link}" for one in found])
        case Trade.FOOTBALLER:
            return _played(world, it)
        case Trade.POLITICIAN:
            return f"{it.She} sat in the county council and stood for {it.field}."
    ordered = sorted(made, key=lambda one: (one.year, one.title))
    return _bullets([f"{one.link} ({one.year})" for one in ordered])


def _painted(world: World, it: Person) -> DraftBlock | None:
    found = sorted(world.naming(it, Painting), key=lambda one: (one.year, one.title))
    rows = [(one.link, str(one.year), one.medium, one.museum.link) for one in found]
    return _table("Paintings", ("Painting", "Year", "Medium", "Museum"), rows)


def _described(world: World, it: Person) -> DraftBlock | None:
    species = [f"{one.link} ({one.described}), a {one.group}" for one in world.naming(it, Species)]
    minerals = [f"{one.link} ({one.found}), a stone" for one in world.naming(it, Mineral)]
    return _bullets([*species, *minerals])


def _engineered(world: World, it: Person) -> DraftBlock | None:
    works: tuple[Lighthouse | Line | Bridge, ...] = (
        *world.naming(it, Lighthouse),
        *world.naming(it, Line),
        *world.naming(it, Bridge),
    )
    found = [one for one in works if one.engineer is it]
    ordered = sorted(found, key=lambda one: (one.opened, one.title))
    return _bullets([f"{one.link} ({one.opened})" for one in ordered])


def _played(world: World, it: Person) -> DraftBlock | None:
    careers = [one for one in world.football.careers if one.player is it]
    return _bullets(
        [
            f"{one.position.capitalize()} of {one.club.link} from {one.since} to {one.until}: "
            f"{one.matches} matches, {one.goals} goals"
            for one in careers
        ]
    )


BLOCKS: Final[dict[str, Block]] = {
    "towns": _towns,
    "villages": _villages,
    "rivers": _rivers,
    "hills": _hills,
    "lakes": _lakes,
    "islands": _islands,
    "museums": _museums,
    "schools": _schools,
    "churches": _churches,
    "mills": _mills,
    "castles": _castles,
    "clubs": _clubs,
    "stations": _stations,
    "line_stations": _line_stations,
    "bridges": _bridges,
    "festivals": _festivals,
    "streets": _streets,
    "street_museums": _street_museums,
    "venues": _venues,
    "natives": _natives,
    "companies": _companies,
    "around": _around,
    "arts": _arts,
    "tributaries": _tributaries,
    "settlements": _settlements,
    "species": _species,
    "minerals": _minerals,
    "springs": _springs,
    "walks": _walks,
    "lighthouses": _lighthouses,
    "hung": _hung,
    "films": _films,
    "built_ships": _built_ships,
    "books": _books,
    "goods": _goods,
    "workshops": _workshops,
    "titles": _titles,
    "players": _players,
    "standings": _standings,
    "pupils": _pupils,
    "dish_festivals": _dish_festivals,
    "work": _work,
}
