"""What stands in a town's blocks instead of houses: parks, schools, a hospital, works."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from region.geometry import Point, centroid
from region.land import Land
from region.town import Cell, Town

Tags = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Wish:
    """Something that wants a block of its own.

    Attributes:
        near: where it would like to be, in metres from the market square.
    """

    tags: Tags
    near: Point


@dataclass(frozen=True, slots=True)
class Block:
    """A block that is taken."""

    cell: Cell
    ring: Sequence[Point]
    tags: Tags


def take_blocks(
    town: Town, land: Land, known: Sequence[Wish], names: Iterator[str], rng: Random
) -> list[Block]:
    """Give blocks to what is known to be there, then to what every town has."""
    free = _free_blocks(town, land)
    taken = [
        Block(
            (0, 0),
            _square(town),
            {"place": "square", "name": "Market Square", "area": "yes", "highway": "pedestrian"},
        )
    ]
    for wish in (*known, *_usual(town, names, rng)):
        where = town.plan.centre + wish.near
        cell = min(free, key=lambda cell: centroid(free[cell]).to(where))
        taken.append(Block(cell, _shrunk(free.pop(cell), 9.0), wish.tags))
    return taken


def _square(town: Town) -> list[Point]:
    corners = [town.spots[1, number] for number in range(8) if (1, number) in town.spots]
    return _shrunk([*corners, corners[0]], 8.0)


def _free_blocks(town: Town, land: Land) -> dict[Cell, list[Point]]:
    cells = {}
    for ring, sector in town.spots:
        corners = town.cell_ring((ring, sector)) if ring >= 2 else None
        if corners and all(
            land.river_at((a + b).times(0.5)) > 40
            for a, b in zip(corners, corners[2:], strict=False)
        ):
            cells[ring, sector] = corners
    return cells


def _shrunk(ring: Sequence[Point], by: float) -> list[Point]:
    """Return a ring drawn towards its middle, so that the streets around it stay free."""
    middle = centroid(ring)
    return [
        middle + (at - middle).times(max(0.3, 1 - by * 1.4 / (at.to(middle) or 1.0))) for at in ring
    ]


def _usual(  # noqa: C901  a list of wishes, one after another
    town: Town, names: Iterator[str], rng: Random
) -> Iterator[Wish]:
    """Yield what every town has, each somewhere that suits it."""

    def somewhere(nearest: float, furthest: float) -> Point:
        reach = town.plan.radius
        while True:
            at = Point(rng.uniform(-1, 1) * reach, rng.uniform(-1, 1) * reach)
            if nearest * reach <= at.to(Point(0, 0)) <= furthest * reach:
                return at

    def name(last: str) -> str:
        return f"{next(names).rsplit(' ', 1)[0]} {last}"

    for kind in ("Park", "Gardens", "Park", "Green", "Park", "Recreation Ground", "Common", "Park"):
        yield Wish({"leisure": "park", "name": name(kind)}, somewhere(0.1, 0.9))
    for kind in (
        "Primary School",
        "Primary School",
        "Primary School",
        "Academy",
        "School",
        "Infant School",
    ):
        yield Wish({"amenity": "school", "name": name(kind)}, somewhere(0.15, 0.85))
    hospital = {"amenity": "hospital", "name": f"{town.plan.name} General Hospital", "emergency": "yes",
                "wheelchair": "yes", "opening_hours": "24/7"}  # fmt: skip
    yield Wish(hospital, somewhere(0.35, 0.5))
    yield Wish({"landuse": "cemetery", "name": f"{town.plan.name} Cemetery"}, somewhere(0.6, 0.8))
    for _ in range(4):
        yield Wish({"landuse": "allotments", "name": name("Allotments")}, somewhere(0.5, 0.95))
    for _ in range(5):
        yield Wish(
            {"leisure": "pitch", "sport": rng.choice(("soccer", "cricket", "tennis"))},
            somewhere(0.3, 0.95),
        )
    for _ in range(14):
        yield Wish(
            {"landuse": "industrial", "name": name("Industrial Estate")}, somewhere(0.75, 1.05)
        )
    for _ in range(5):
        yield Wish({"landuse": "retail", "name": name("Retail Park")}, somewhere(0.5, 0.9))
    for _ in range(4):
        yield Wish(
            {
                "amenity": "parking",
                "name": name("Car Park"),
                "fee": "yes",
                "capacity": str(rng.randrange(40, 300, 10)),
            },
            somewhere(0.08, 0.4),
        )
