"""Everything between the towns: roads, villages, railway, paths, woods, the airport, the shore."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

from region.geometry import Line, Noise, Point, band, blob, crosses, nearest_on, smooth, unit
from region.land import HEIGHT, RIVER_WIDTH, WIDTH, Land, beyond
from region.osm import Member, Osm
from region.town import Plan

Tags = Mapping[str, str]

_COUNTRY = tomllib.loads((Path(__file__).parent / "country.toml").read_text(encoding="utf-8"))
VILLAGES: tuple[tuple[str, Point, str], ...] = tuple(
    (one["name"], Point(*one["at"]), one["postcode"]) for one in _COUNTRY["village"]
)
AIRPORT = Point(16_900, 2_600)


def lay_ground(osm: Osm, land: Land, plans: Sequence[Plan], rng: Random) -> None:
    """Add the shore, the river, lakes, woods and fields."""
    osm.line(beyond(land.shore), {"natural": "water", "water": "sea", "name": "Merrow Bay"})
    osm.line(land.shore, {"natural": "coastline"})
    osm.line(land.river, {"waterway": "river", "name": "River Merrow"})
    osm.line(
        band(land.river, RIVER_WIDTH),
        {"natural": "water", "water": "river", "name": "River Merrow"},
    )
    tries = 0
    for name in _COUNTRY["woods"]:
        while tries < 2_000:
            tries += 1
            at = Point(rng.uniform(3_200, WIDTH - 600), rng.uniform(500, HEIGHT - 500))
            size = rng.uniform(180, 620)
            if _is_open(at, size + 250, land, plans):
                osm.line(blob(at, size, rng), {"natural": "wood", "name": name})
                break
    for lake in _COUNTRY["lake"]:
        at, size = Point(*lake["at"]), lake["radius"]
        name = lake["name"]
        osm.line(blob(at, size, rng), {"natural": "water", "water": "lake", "name": name})


def _is_open(at: Point, margin: float, land: Land, plans: Sequence[Plan]) -> bool:
    villages = all(at.to(village) > margin + 250 for _, village, _ in VILLAGES)
    towns = all(at.to(plan.centre) > plan.radius * 1.2 + margin for plan in plans)
    river = nearest_on(land.river, at)[0] > margin
    return (
        villages
        and towns
        and river
        and not land.is_sea(at, margin)
        and at.to(AIRPORT) > margin + 1_300
    )


def winding(points: Sequence[Point], rng: Random) -> list[Point]:
    """Return a line through points that bends like a road."""
    noise = Noise(rng, 2_400)
    line = [points[0]]
    for a, b in itertools.pairwise(points):
        pieces = max(2, int(a.to(b) // 420))
        aside = unit(a, b).left()
        for piece in range(1, pieces):
            at = a + (b - a).times(piece / pieces)
            ease = min(piece, pieces - piece, 3) / 3
            line.append(at + aside.times(90 * noise.at(at) * ease))
        line.append(b)
    return smooth(line, 2)


def add_way(osm: Osm, land: Land, nodes: Sequence[int], tags: Tags) -> list[int]:
    """Add a way through nodes, with each stretch over the river as a bridge of its own."""
    ways: list[int] = []
    kept: list[int] = [nodes[0]]
    for before, after in itertools.pairwise(nodes):
        a, b = osm.at(before), osm.at(after)
        if _over_river(land.river, a, b):
            if len(kept) > 1:
                ways.append(osm.way(kept, tags))
            ways.append(osm.way([before, after], {**tags, "bridge": "yes", "layer": "1"}))
            kept = [after]
        else:
            kept.append(after)
    if len(kept) > 1:
        ways.append(osm.way(kept, tags))
    return ways


def _over_river(river: Line, a: Point, b: Point) -> bool:
    return crosses(river, a, b)


def add_road(
    osm: Osm,
    land: Land,
    start: int,
    through: Sequence[Point | int],
    end: int,
    tags: Tags,
    rng: Random,
) -> list[int]:
    """Add a winding road between two nodes, through points or nodes that are there already."""
    stops = [start, *through, end]
    places = [osm.at(stop) if isinstance(stop, int) else stop for stop in stops]
    known = {osm.at(stop): stop for stop in stops if isinstance(stop, int)}
    nodes: list[int] = []
    for a, b in itertools.pairwise(places):
        line = winding([a, b], rng)
        fresh = line[1:] if nodes else line
        nodes += [known[at] if at in known else osm.node(at) for at in fresh]
    add_way(osm, land, nodes, tags)
    return nodes


def add_airport(osm: Osm, land: Land, gate: int, rng: Random) -> None:
    """Add the airport, and the road to it."""
    a = AIRPORT
    ring = [
        a + Point(-1150, -330),
        a + Point(1150, -330),
        a + Point(1150, 380),
        a + Point(-1150, 380),
    ]
    osm.line([*ring, ring[0]], {"aeroway": "aerodrome", "name": "Merrowshire Airport", "iata": "MWS", "icao": "EGMW",
             "phone": "+44 1632 947000", "website": "http://airport.merrowshire.example/", "wheelchair": "yes"})  # fmt: skip
    osm.line(
        [a + Point(-1000, -150), a + Point(1000, -150)],
        {"aeroway": "runway", "ref": "09/27", "surface": "asphalt"},
    )
    osm.line([a + Point(-700, 40), a + Point(700, 40)], {"aeroway": "taxiway"})
    hall = [a + Point(-130, 190), a + Point(130, 190), a + Point(130, 270), a + Point(-130, 270)]
    osm.line(
        [*hall, hall[0]],
        {
            "aeroway": "terminal",
            "building": "yes",
            "name": "Merrowshire Airport Terminal",
            "opening_hours": "Mo-Su 04:30-23:30",
        },
    )
    osm.node(
        a + Point(-60, 310),
        {"highway": "bus_stop", "name": "Merrowshire Airport", "network": "Merrow Buses"},
    )
    forecourt = osm.node(a + Point(0, 300))
    add_road(
        osm,
        land,
        gate,
        [],
        forecourt,
        {"highway": "primary", "name": "Airport Road", "ref": "A394", "maxspeed": "50 mph"},
        rng,
    )


def add_beaches(osm: Osm, land: Land, beaches: Sequence[tuple[str, float, float]]) -> None:
    """Add strips of sand: a name, and from where to where along the shore."""
    for name, south, north in beaches:
        shore = [at for at in land.shore if south <= at.y <= north]
        ring = [*shore, *[Point(at.x - 55, at.y) for at in reversed(shore)]]
        osm.line(
            [*ring, ring[0]],
            {"natural": "beach", "surface": "sand", "name": name, "supervised": "May-Sep"},
        )


def add_railway(osm: Osm, stations: Sequence[tuple[str, Point, Tags]], rng: Random) -> None:
    """Add the line through all stations, and the stations on it."""
    places = [at for _, at, _ in stations]
    nodes: list[int] = []
    for leg, (a, b) in enumerate(itertools.pairwise(places)):
        line = winding([a, b], rng)
        for at in line if leg == 0 else line[1:]:
            named = next(((name, tags) for name, place, tags in stations if place == at), None)
            extra = (
                {
                    "railway": "station",
                    "public_transport": "station",
                    "train": "yes",
                    "name": named[0],
                    **named[1],
                }
                if named
                else {}
            )
            nodes.append(osm.node(at, extra))
    way = osm.way(
        nodes,
        {
            "railway": "rail",
            "name": "Merrow Valley Line",
            "gauge": "1435",
            "electrified": "no",
            "maxspeed": "75 mph",
        },
    )
    stops = [Member("node", node, "stop") for node in nodes if osm.nodes[node - 1].tags]
    osm.relation(
        [*stops, Member("way", way)],
        {
            "type": "route",
            "route": "train",
            "name": "Port Merrow – Alderbridge – Saltby",
            "operator": "Merrow Valley Railway",
            "interval": "01:00",
        },
    )
