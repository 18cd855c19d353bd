"""What ties the towns together: roads, villages on them, the railway, paths, the harbour."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from region.country import (
    VILLAGES,
    add_airport,
    add_beaches,
    add_railway,
    add_road,
    lay_ground,
)
from region.geometry import Point, along
from region.grown import Grown
from region.houses import houses_by
from region.land import Land
from region.names import FIRST
from region.osm import Member, Osm

_RURAL = {"highway": "secondary", "maxspeed": "50 mph"}


def add_links(
    osm: Osm, land: Land, grown: Sequence[Grown], world: Mapping[str, Any], rng: Random
) -> None:
    """Add everything outside the towns, joined to their streets."""
    merrow, saltby, alder = grown
    lay_ground(osm, land, [one.town.plan for one in grown], rng)
    village = {name: osm.node(at) for name, at, _ in VILLAGES}
    at = {name: place for name, place, _ in VILLAGES}
    trunk = {"highway": "trunk", "ref": "A391", "name": "Merrow Valley Road", "maxspeed": "60 mph"}
    add_road(
        osm,
        land,
        _gate(merrow, alder),
        [Point(9_000, 6_900)],
        _gate(alder, merrow),
        trunk,
        rng,
    )
    coast = {"highway": "primary", "ref": "A392", "name": "Coast Road", "maxspeed": "50 mph"}
    add_road(
        osm,
        land,
        _gate(merrow, saltby),
        [village["St Brannock"]],
        _gate(saltby, merrow),
        coast,
        rng,
    )
    moor = {"highway": "primary", "ref": "A393", "name": "Moor Road", "maxspeed": "60 mph"}
    add_road(
        osm,
        land,
        _gate(saltby, alder),
        [village["Oxley Moor"], village["Thornbury"]],
        _gate(alder, saltby),
        moor,
        rng,
    )
    add_airport(osm, land, _outer(alder, Point(15_800, 3_000)), rng)
    for name, ends in (
        (
            "Old Valley Road",
            (
                _outer(merrow, at["Lower Merrow"]),
                "Lower Merrow",
                _outer(alder, at["Lower Merrow"]),
            ),
        ),
        ("Fenwick Lane", (_outer(merrow, at["Fenwick"]), "Fenwick", village["Thornbury"])),
        (
            "Hallow Road",
            (village["Lower Merrow"], "Hallow Cross", _outer(alder, at["Hallow Cross"])),
        ),
        ("Windle Road", (_outer(merrow, at["Windle"]), "Windle", village["Hallow Cross"])),
        (
            "Upper Valley Road",
            (_outer(alder, at["Upper Merrow"]), "", village["Upper Merrow"]),
        ),
        (
            "Pinewood Road",
            (_outer(alder, at["Pinewood Magna"]), "", village["Pinewood Magna"]),
        ),
        ("Northern Lane", (village["Pinewood Magna"], "", village["Thornbury"])),
    ):
        start, middle, end = ends
        add_road(
            osm,
            land,
            start,
            [village[middle]] if middle else [],
            end,
            {**_RURAL, "name": name},
            rng,
        )
    for name, place, code in VILLAGES:
        _add_village(osm, village[name], name, place, code, rng)
    _add_railway(osm, rng)
    _add_paths(osm, land, merrow, saltby, alder, rng)
    _add_shore(osm, land, merrow, world)


def _gate(one: Grown, other: Grown) -> int:
    """Return the node where the main road from one town to another leaves it."""
    return _outer(one, other.town.plan.centre)


def _outer(one: Grown, towards: Point) -> int:
    """Return the outermost node of a main street on the way to a point."""
    spots = {
        spot
        for street in one.town.streets
        if street.highway in ("primary", "secondary")
        for edge in street.edges
        for spot in (edge.start, edge.end)
    }
    return one.spots[min(spots, key=lambda spot: (one.town.spots[spot].to(towards), spot))]


def nearest(one: Grown, place: Point) -> int:
    """Return the crossing of a town that is nearest to a point."""
    return one.spots[min(one.spots, key=lambda spot: (one.town.spots[spot].to(place), spot))]


def _add_village(osm: Osm, middle: int, name: str, at: Point, code: str, rng: Random) -> None:
    """Add two or three lanes from a village's middle, with houses and a pub's worth of people."""
    for _ in range(3):
        angle = rng.uniform(0, 2 * math.pi)
        line = [at]
        for _ in range(4):
            angle += rng.gauss(0, 0.25)
            line.append(line[-1] + (math.cos(angle) * 70, math.sin(angle) * 70))
        street = f"{rng.choice(FIRST)} Lane"
        nodes = [middle, *(osm.node(point) for point in line[1:])]
        osm.way(nodes, {"highway": "residential", "name": street, "maxspeed": "20 mph"})
        for house in houses_by(line, street, name, code, 24, rng):
            osm.node(house.at, house.tags())
    osm.node(
        at + Point(25.0, 14.0),
        {
            "amenity": "pub",
            "name": f"The {name} Inn",
            "opening_hours": "Mo-Su 12:00-23:00",
            "phone": f"+44 1632 95{rng.randrange(1000, 9999)}",
        },
    )


def _add_railway(osm: Osm, rng: Random) -> None:
    operator = {"operator": "Merrow Valley Railway", "wheelchair": "yes"}
    add_railway(
        osm,
        [
            ("Port Merrow", Point(5_350, 5_480), {**operator, "ref:crs": "PMW", "toilets": "yes"}),
            ("Lower Merrow Halt", Point(9_450, 5_900), operator),
            ("Alderbridge", Point(13_750, 8_150), {**operator, "ref:crs": "ALB", "toilets": "yes"}),
            ("Thornbury", Point(10_150, 10_350), operator),
            ("Saltby", Point(5_450, 11_900), {**operator, "ref:crs": "SLY", "toilets": "yes"}),
        ],
        rng,
    )


def _add_paths(
    osm: Osm, land: Land, merrow: Grown, saltby: Grown, alder: Grown, rng: Random
) -> None:
    """Add the marked walks and the cycle path: each a relation of what it follows."""
    middle = merrow.town.plan.centre
    walks = (
        ("Merrow Valley Way", "bicycle", {"highway": "cycleway", "foot": "yes", "name": "Merrow Valley Way", "surface": "asphalt"},
         nearest(merrow, Point(6_700, 5_900)), [Point(9_100, 6_300)], nearest(alder, Point(12_000, 6_900))),
        ("Old Railway Path", "bicycle", {"highway": "cycleway", "foot": "yes", "name": "Old Railway Path", "surface": "compacted"},
         nearest(merrow, middle + Point(900, 2_300)), [Point(6_600, 8_700)], nearest(saltby, Point(5_300, 9_300))),
        ("Ropewalk Trail", "hiking", {"highway": "footway", "name": "Ropewalk Trail"},
         nearest(merrow, middle + Point(2_300, -200)), [Point(8_000, 3_900)], _end(osm, VILLAGES[5][1])),
        ("Pinewood Round", "hiking", {"highway": "footway", "name": "Pinewood Round"},
         nearest(merrow, middle + Point(1_900, -1_500)), [Point(6_900, 1_700)], nearest(merrow, middle + Point(800, -2_400))),
    )  # fmt: skip
    for name, route, tags, start, through, end in walks:
        first = len(osm.ways)
        add_road(osm, land, start, through, end, tags, rng)
        _route(osm, name, route, first)
    for name, south, north in (("Cliff Path", 900, 5_900), ("Lighthouse Loop", -2_500, -900)):
        shore = [
            Point(p.x + 60, p.y) for p in land.shore if middle.y + south <= p.y <= middle.y + north
        ]
        town = saltby if name == "Cliff Path" else merrow
        first = len(osm.ways)
        nodes = [
            nearest(merrow, shore[0]),
            *(osm.node(p) for p in shore),
            nearest(town, shore[-1]),
        ]
        osm.way(nodes, {"highway": "footway", "name": name, "surface": "ground"})
        _route(osm, name, "hiking", first)


def _end(osm: Osm, at: Point) -> int:
    """Return the node at a place that is on the map already."""
    return next(node.id for node in osm.nodes if node.at == at)


def _route(osm: Osm, name: str, route: str, first: int) -> None:
    members = [Member("way", way.id) for way in osm.ways[first:]]
    page = f"http://cms.arena.test/visitors-guide/walks/{name.lower().replace(' ', '-')}/"
    osm.relation(
        members,
        {
            "type": "route",
            "route": route,
            "name": name,
            "network": "lwn" if route == "hiking" else "lcn",
            "website": page,
        },
    )


def _add_shore(osm: Osm, land: Land, merrow: Grown, world: Mapping[str, Any]) -> None:
    middle = merrow.town.plan.centre
    add_beaches(
        osm,
        land,
        [
            (name, middle.y + south, middle.y + north)
            for name, (south, north) in world["beaches"].items()
        ],
    )
    foot = nearest(merrow, Point(land.coast(middle.y - 60), middle.y - 60))
    root = osm.at(foot)
    pier = [root, *(at for at, _ in along([root, Point(land.coast(root.y) - 330, root.y)], 60, 60))]
    osm.way(
        [foot, *(osm.node(at) for at in pier[1:])],
        {"man_made": "pier", "highway": "footway", "name": "Merrow Pier"},
    )
    for lone in world["lone"]:
        if "near" in lone:
            at = middle + Point(*map(float, lone["near"]))
        else:
            y = middle.y + lone["shore"]
            at = Point(land.coast(y) + 18, y)
        osm.node(at, lone["tags"])
