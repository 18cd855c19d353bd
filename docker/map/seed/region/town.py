"""A town that grew in rings: streets round a market square, and the blocks between them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from region.geometry import Noise, Point, crosses, polar, unit
from region.land import Land

Spot = tuple[int, int]
Cell = tuple[int, int]

_SQUARE = 64.0
_RING = 88.0
_GOES_ON = {"primary": 1.0, "secondary": 1.0, "tertiary": 0.97, "living_street": 1.0}
_NAME_REACHES = {"primary": 13, "secondary": 10, "living_street": 8}


@dataclass(frozen=True, slots=True)
class Plan:
    """What is decided about a town before it grows.

    Attributes:
        wards: its parts, from east round by north.
        postcode: the letters and number its postcodes begin with.
    """

    name: str
    centre: Point
    radius: float
    wards: tuple[str, ...]
    postcode: tuple[str, int]


@dataclass(slots=True)
class Edge:
    """The stretch of a street between two crossings, and the blocks on both its sides."""

    start: Spot
    end: Spot
    bend: Point
    left: Cell
    right: Cell
    bridge: bool = False


@dataclass(slots=True)
class Street:
    """Edges in a row that bear one name."""

    highway: str
    edges: list[Edge]
    oneway: bool = False
    name: str = ""


@dataclass(slots=True)
class Town:
    """A grown town: where its crossings are, its streets, its blocks."""

    plan: Plan
    spots: dict[Spot, Point] = field(default_factory=dict)
    streets: list[Street] = field(default_factory=list)

    def cell_ring(self, cell: Cell) -> list[Point] | None:
        """Return the closed ring around a block, where all its corners are on land."""
        ring, sector = cell
        inner, outer = spokes(ring), spokes(ring + 1)
        step = outer // inner
        corners = [(ring, sector), (ring, (sector + 1) % inner)]
        corners += [(ring + 1, (sector * step + k) % outer) for k in range(step, -1, -1)]
        if any(corner not in self.spots for corner in corners):
            return None
        found = [self.spots[corner] for corner in corners]
        return [*found, found[0]]

    def line(self, street: Street) -> list[Point]:
        """Return where a street leads."""
        points = [self.spots[street.edges[0].start]]
        for edge in street.edges:
            points += [edge.bend, self.spots[edge.end]]
        return points

    def ward_of(self, point: Point) -> int:
        """Return the number of the ward that a point of the town is in."""
        away = point - self.plan.centre
        turn = math.atan2(away.y, away.x) / (2 * math.pi) % 1
        return int(turn * len(self.plan.wards)) % len(self.plan.wards)


def spokes(ring: int) -> int:
    """Return how many crossings a ring has: the further out, the more."""
    radius = _radius(ring)
    for reach, count in ((190, 8), (430, 16), (900, 32), (1_800, 64)):
        if radius < reach:
            return count
    return 128


def grow(plan: Plan, land: Land, seed: str) -> Town:
    """Lay out a town's crossings and the streets between them, still without names."""
    rng = Random(f"{seed} {plan.name}")
    town = Town(plan)
    _mark_spots(town, land, rng)
    for street in (*_rings(town), *_radials(town)):
        town.streets += _broken(town, street, land, rng)
    _drop_cut_off(town)
    return town


def _radius(ring: int) -> float:
    return _SQUARE + (ring - 1) * _RING


def _mark_spots(town: Town, land: Land, rng: Random) -> None:
    plan = town.plan
    warp_x, warp_y = Noise(rng, 1_500), Noise(rng, 1_500)
    edge = Noise(rng, 1.9)
    ring = 1
    while _radius(ring) < plan.radius * 1.5:
        count = spokes(ring)
        for number in range(count):
            angle = 2 * math.pi * number / count
            reach = plan.radius * (1 + 0.22 * edge.at(polar(angle, 1.0)))
            if _radius(ring) > reach:
                continue
            at = plan.centre + polar(angle, _radius(ring))
            strength = min(1.0, _radius(ring) / 400)
            at += Point(95 * warp_x.at(at) * strength, 95 * warp_y.at(at) * strength)
            at += Point(rng.gauss(0, 5) * strength, rng.gauss(0, 5) * strength)
            if not land.is_sea(at, 45):
                town.spots[ring, number] = land.off_the_river(at)
        ring += 1


def _rings(town: Town) -> Iterator[Street]:
    for ring in sorted({ring for ring, _ in town.spots}):
        count = spokes(ring)
        inner = spokes(ring - 1) if ring > 1 else 1
        match ring:
            case 1:
                highway = "living_street"
            case 6 | 14:
                highway = "secondary"
            case 10:
                highway = "tertiary"
            case _:
                highway = "residential"
        edges = [
            Edge(
                (ring, number),
                (ring, (number + 1) % count),
                Point(0, 0),
                (ring - 1, number * inner // count),
                (ring, number),
            )
            for number in range(count)
        ]
        part = count // 8 if ring > 1 else count
        for first in range(0, count, part):
            yield Street(highway, edges[first : first + part], oneway=ring in (2, 3))


def _radials(town: Town) -> Iterator[Street]:
    """Yield the streets that lead outwards; each begins at the ring that first has room for it."""
    last = max(ring for ring, _ in town.spots)
    finest = spokes(last)
    for spoke in range(finest):
        rings = [r for r in range(1, last + 1) if spoke * spokes(r) % finest == 0]
        if len(rings) < 2:
            continue
        main = spoke * 8 % finest == 0
        index = spoke * 8 // finest
        highway = ("primary" if index % 2 == 0 else "secondary") if main else "residential"
        edges = []
        for ring in rings[:-1]:
            number = spoke * spokes(ring) // finest
            edges.append(
                Edge(
                    (ring, number),
                    (ring + 1, spoke * spokes(ring + 1) // finest),
                    Point(0, 0),
                    (ring, number),
                    (ring, (number - 1) % spokes(ring)),
                )
            )
        yield Street(highway, edges)


def _broken(town: Town, street: Street, land: Land, rng: Random) -> Iterator[Street]:
    """Yield what is left of a street where the sea, the river and chance interrupt it."""
    reach = _NAME_REACHES.get(street.highway, rng.choice((4, 5, 6, 8)))
    kept: list[Edge] = []
    for edge in street.edges:
        usable = _usable(town, street, edge, land, rng)
        if kept and (not usable or len(kept) >= reach):
            yield Street(street.highway, kept, street.oneway)
            kept = []
        if usable:
            kept.append(edge)
    if kept:
        yield Street(street.highway, kept, street.oneway)


def _usable(town: Town, street: Street, edge: Edge, land: Land, rng: Random) -> bool:
    chance = rng.random()
    if edge.start not in town.spots or edge.end not in town.spots:
        return False
    start, end = town.spots[edge.start], town.spots[edge.end]
    edge.bridge = crosses(land.river, start, end)
    if edge.bridge and street.highway == "residential":
        return False
    if start.to(end) < 18 or chance > _GOES_ON.get(street.highway, 0.88):
        return False
    aside = unit(start, end).left().times(0 if edge.bridge else rng.gauss(0, 4))
    edge.bend = (start + end).times(0.5) + aside
    return not land.is_sea(edge.bend, 30)


def _drop_cut_off(town: Town) -> None:
    """Drop the streets that cannot be reached from the market square."""
    beside: dict[Spot, set[Spot]] = {}
    for street in town.streets:
        for edge in street.edges:
            beside.setdefault(edge.start, set()).add(edge.end)
            beside.setdefault(edge.end, set()).add(edge.start)
    reached: set[Spot] = set()
    waiting = [min(beside)]
    while waiting:
        spot = waiting.pop()
        if spot not in reached:
            reached.add(spot)
            waiting += beside[spot]
    town.streets = [street for street in town.streets if street.edges[0].start in reached]
