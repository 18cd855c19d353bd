"""Puts the region together: ground, towns, what is between them, and who lives where."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from region.blocks import Wish, take_blocks
from region.borders import add_borders
from region.geometry import Point, centroid
from region.grown import Grown
from region.houses import House, Postcodes, houses_of
from region.land import Land
from region.links import add_links
from region.names import street_names
from region.naming import name_streets
from region.osm import Osm
from region.places import Place, Places
from region.town import Plan, Town, grow

SEED = "arena map 2026"
HOUSES, PLACES = 100_000, 10_000
WORLD = tomllib.loads((Path(__file__).parent / "world.toml").read_text(encoding="utf-8"))

PLANS = (
    Plan("Port Merrow", Point(4_350, 4_700), 2_500, tuple(WORLD["wards"]), ("MW", 1)),
    Plan("Saltby", Point(4_400, 11_450), 2_300,
         ("Saltings", "Northgate", "Fish Row", "The Strand", "Oldbury", "Marsh End"), ("MW", 3)),
    Plan("Alderbridge", Point(14_500, 7_450), 2_620,
         ("Weirside", "Cathedral Close", "Alder Park", "Railway Town", "Southgate", "St Anne's"), ("MW", 5)),
)  # fmt: skip

_SPEED = {
    "primary": "30 mph",
    "secondary": "30 mph",
    "tertiary": "30 mph",
    "living_street": "10 mph",
}


@dataclass(slots=True)
class Region:
    """The whole map, and what only the drawing of tiles needs beside it."""

    osm: Osm = field(default_factory=Osm)
    houses: list[House] = field(default_factory=list)
    outlines: list[list[Point]] = field(default_factory=list)


def build(houses: int = HOUSES, places: int = PLACES) -> Region:
    """Make the region; the same arguments give the same map."""
    region, land = Region(), Land(SEED)
    grown = [_grow(plan, land) for plan in PLANS]
    for one in grown:
        _add_streets(region.osm, one)
    add_links(region.osm, land, grown, WORLD, Random(f"{SEED} links"))
    for one in grown:
        _add_blocks(region.osm, one)
    _settle(region, grown, land, houses, places)
    add_borders(region.osm, [one.town for one in grown])
    return region


def _grow(plan: Plan, land: Land) -> Grown:
    town = grow(plan, land, SEED)
    mine = plan.name == "Port Merrow"
    known = [name for name in WORLD["streets"] if mine or name != "Harbour Street"]
    wishes = (
        {name: plan.centre + Point(*map(float, at)) for name, at in WORLD["wish"].items()}
        if mine
        else {}
    )
    name_streets(town, known, wishes, SEED)
    rng = Random(f"{SEED} {plan.name} blocks")
    names, _ = street_names(rng, {street.name for street in town.streets})
    return Grown(town, take_blocks(town, land, list(_areas(town)), names, rng))


def _areas(town: Town) -> Iterator[Wish]:
    for area in WORLD["area"]:
        if area.get("town", "Port Merrow") != town.plan.name:
            continue
        if "near" in area:
            yield Wish(area["tags"], Point(*map(float, area["near"])))
        else:
            street = next(street for street in town.streets if street.name == area["street"])
            line = town.line(street)
            yield Wish(area["tags"], line[len(line) // 2] - town.plan.centre)


def _add_streets(osm: Osm, one: Grown) -> None:
    """Add a town's streets; crossings and bends become nodes that others may start from."""
    for street in one.town.streets:
        tags = {"highway": street.highway, "name": street.name}
        tags["maxspeed"] = _SPEED.get(street.highway, "20 mph")
        if street.oneway:
            tags["oneway"] = "yes"
        nodes = [_spot(osm, one, street.edges[0].start)]
        for edge in street.edges:
            bend = osm.node(edge.bend)
            one.bends[edge.start, edge.end] = bend
            end = _spot(osm, one, edge.end)
            if edge.bridge:
                if len(nodes) > 1:
                    osm.way(nodes, tags)
                osm.way([nodes[-1], bend, end], {**tags, "bridge": "yes", "layer": "1"})
                nodes = [end]
            else:
                nodes += [bend, end]
        if len(nodes) > 1:
            osm.way(nodes, tags)


def _spot(osm: Osm, one: Grown, spot: tuple[int, int]) -> int:
    if spot not in one.spots:
        one.spots[spot] = osm.node(one.town.spots[spot])
    return one.spots[spot]


def _add_blocks(osm: Osm, one: Grown) -> None:
    """Add the blocks that are taken, and paths through parks and between houses."""
    rng = Random(f"{SEED} {one.town.plan.name} paths")
    parks = {block.cell for block in one.blocks if block.tags.get("leisure") == "park"}
    for block in one.blocks:
        osm.line(block.ring, block.tags)
    around: dict[tuple[int, int], list[int]] = {}
    for street in one.town.streets:
        for edge in street.edges:
            for cell in (edge.left, edge.right):
                around.setdefault(cell, []).append(one.bends[edge.start, edge.end])
    taken = {block.cell for block in one.blocks}
    for cell in sorted(around):
        bends = around[cell]
        if cell in parks and len(bends) > 1:
            middle = osm.node(centroid([*(osm.at(bend) for bend in bends), osm.at(bends[0])]))
            for bend in bends:
                osm.way([bend, middle], {"highway": "footway", "surface": "fine_gravel"})
        elif cell not in taken and len(bends) > 1 and rng.random() < 0.12:
            kind = (
                {"highway": "cycleway", "foot": "yes"}
                if rng.random() < 0.3
                else {"highway": "footway"}
            )
            osm.way(
                [bends[0], bends[len(bends) // 2]], {**kind, "surface": "asphalt", "lit": "yes"}
            )


def _settle(region: Region, grown: Sequence[Grown], land: Land, houses: int, places: int) -> None:
    """Build houses, give some to places, and keep exactly as many as wanted."""
    rng = Random(f"{SEED} houses")
    built: list[House] = []
    wards: dict[House, str] = {}
    for one in grown:
        plan = one.town.plan
        empty = {block.cell for block in one.blocks}
        codes = Postcodes(*plan.postcode)
        for house in houses_of(one.town, land, empty, codes, rng):
            built.append(house)
            wards[house] = plan.wards[one.town.ward_of(house.at)]
    region.outlines = [house.outline(rng) for house in built]
    shops = Places(built, wards, Random(f"{SEED} places"))
    known = list(_known(built, shops))
    drawn = list(shops.draw(places - len(known)))
    for place in (*known, *drawn):
        region.osm.node(_door(place, rng), place.tags)
    taken = {place.house for place in (*known, *drawn) if "addr:street" in place.tags}
    left = [house for house in built if house not in taken]
    if len(left) < houses:
        msg = f"only {len(left)} houses stand there, {houses} were asked for"
        raise ValueError(msg)
    kept = set(rng.sample(range(len(left)), houses))
    region.houses = [house for number, house in enumerate(left) if number in kept]
    for house in region.houses:
        region.osm.node(house.at, house.tags())


def _door(place: Place, rng: Random) -> Point:
    """Return where a place is marked: in its house, or by the kerb where it has no address."""
    if "addr:street" in place.tags:
        return place.house.at
    return place.house.at + place.house.along.times(rng.uniform(3, 6))


def _known(built: Sequence[House], shops: Places) -> Iterator[Place]:
    """Yield the places of the shared world, each in a house of its street."""
    used: set[House] = set()
    for number, place in enumerate(WORLD["place"]):
        town = place.get("town", "Port Merrow")
        street = place.get("street", "High Street")
        row = [h for h in built if h.place == town and h.street == street and h not in used]
        if "number" in place:
            house = next(h for h in row if h.number == place["number"])
        else:
            house = row[(number * 7 + len(row) // 3) % len(row)]
        used.add(house)
        shops.use(house)
        yield Place(house, {**place["tags"], **house.tags()})
