"""Points on a plane of metres, lines through them, smooth noise, and the way to longitude, latitude."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

ORIGIN_LON, ORIGIN_LAT = -4.72, 50.78
METRES_A_DEGREE = 111_320.0
_SHRINK = math.cos(math.radians(ORIGIN_LAT))


class Point(NamedTuple):
    """Metres east and north of the region's south-western corner."""

    x: float
    y: float

    def __add__(self, other: tuple[float, ...]) -> Point:  # type: ignore[override]
        return Point(self.x + other[0], self.y + other[1])

    def __sub__(self, other: tuple[float, ...]) -> Point:
        return Point(self.x - other[0], self.y - other[1])

    def times(self, factor: float) -> Point:
        """Return it stretched."""
        return Point(self.x * factor, self.y * factor)

    def left(self) -> Point:
        """Return it turned by a quarter to the left."""
        return Point(-self.y, self.x)

    def to(self, other: Point) -> float:
        """Return the distance to another point, in metres."""
        return math.hypot(self.x - other.x, self.y - other.y)

    @property
    def lon(self) -> float:
        """Degrees east, to a centimetre."""
        return round(ORIGIN_LON + self.x / (METRES_A_DEGREE * _SHRINK), 7)

    @property
    def lat(self) -> float:
        """Degrees north, to a centimetre."""
        return round(ORIGIN_LAT + self.y / METRES_A_DEGREE, 7)


Line = Sequence[Point]


def polar(angle: float, radius: float) -> Point:
    """Return the point at an angle (radians, from east) and a distance from the origin."""
    return Point(math.cos(angle) * radius, math.sin(angle) * radius)


def unit(start: Point, end: Point) -> Point:
    """Return the direction from one point to another, of length one."""
    return (end - start).times(1 / (start.to(end) or 1.0))


def length(line: Line) -> float:
    """Return how long a line is, in metres."""
    return sum(a.to(b) for a, b in itertools.pairwise(line))


def along(line: Line, step: float, start: float = 0.0) -> Iterator[tuple[Point, Point]]:
    """Yield points on a line, one every `step` metres from `start` on, each with the direction there."""
    ahead = start
    for a, b in itertools.pairwise(line):
        here, direction = a.to(b), unit(a, b)
        while ahead <= here:
            yield a + direction.times(ahead), direction
            ahead += step
        ahead -= here


def nearest_on(line: Line, point: Point) -> tuple[float, Point]:
    """Return how far a point is from a line, and the line's point that is nearest to it."""
    best = (math.inf, line[0])
    for a, b in itertools.pairwise(line):
        dx, dy = b.x - a.x, b.y - a.y
        share = ((point.x - a.x) * dx + (point.y - a.y) * dy) / (dx * dx + dy * dy or 1.0)
        share = min(1.0, max(0.0, share))
        on = Point(a.x + share * dx, a.y + share * dy)
        best = min(best, (point.to(on), on))
    return best


def cross(a: Point, b: Point, c: Point, d: Point) -> bool:
    """Whether the stretch from a to b crosses that from c to d."""
    return _turn(a, b, c) != _turn(a, b, d) and _turn(c, d, a) != _turn(c, d, b)


def crosses(line: Line, a: Point, b: Point) -> bool:
    """Whether the stretch from a to b crosses a line."""
    return any(cross(c, d, a, b) for c, d in itertools.pairwise(line))


def _turn(a: Point, b: Point, c: Point) -> bool:
    return (b.x - a.x) * (c.y - a.y) > (b.y - a.y) * (c.x - a.x)


def band(line: Line, width: float) -> list[Point]:
    """Return the ring around a line that is `width` metres wide."""
    half = width / 2
    sides: tuple[list[Point], list[Point]] = ([], [])
    for index, point in enumerate(line):
        before, after = line[max(0, index - 1)], line[min(len(line) - 1, index + 1)]
        aside = unit(before, after).left().times(half)
        sides[0].append(point + aside)
        sides[1].append(point - aside)
    ring = [*sides[0], *reversed(sides[1])]
    return [*ring, ring[0]]


def smooth(line: Line, rounds: int = 2) -> list[Point]:
    """Return a line with its corners cut (Chaikin)."""
    points = list(line)
    for _ in range(rounds):
        cut = [points[0]]
        for a, b in itertools.pairwise(points):
            cut += [a.times(0.75) + b.times(0.25), a.times(0.25) + b.times(0.75)]
        points = [*cut, points[-1]]
    return points


def blob(centre: Point, radius: float, rng: Random, corners: int = 14) -> list[Point]:
    """Return a closed ring that looks grown."""
    turns = [rng.uniform(0.72, 1.22) for _ in range(corners)]
    ring = [
        centre + polar(2 * math.pi * index / corners, radius * turn)
        for index, turn in enumerate(turns)
    ]
    return smooth([*ring, ring[0]], 1)


def inside(ring: Line, point: Point) -> bool:
    """Whether a closed ring holds a point."""
    held = False
    for a, b in itertools.pairwise(ring):
        if (a.y > point.y) != (b.y > point.y):
            held ^= point.x < (b.x - a.x) * (point.y - a.y) / (b.y - a.y) + a.x
    return held


def centroid(ring: Line) -> Point:
    """Return the mean of a closed ring's corners."""
    corners = ring[:-1]
    return Point(sum(p.x for p in corners) / len(corners), sum(p.y for p in corners) / len(corners))


class Noise:
    """A smooth random field between about -1 and 1: a few waves in random directions."""

    def __init__(self, rng: Random, wave: float) -> None:
        self._waves = [
            (polar(rng.uniform(0, 2 * math.pi), rng.uniform(0.6, 1.6) * 2 * math.pi / wave),
             rng.uniform(0, 2 * math.pi))
            for _ in range(5)
        ]  # fmt: skip

    def at(self, point: Point) -> float:
        """Return its value at a point."""
        total = sum(math.sin(k.x * point.x + k.y * point.y + phase) for k, phase in self._waves)
        return total / 2.5
