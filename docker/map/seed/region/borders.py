"""The county, its towns and their wards: what an address is inside of."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from region.country import VILLAGES
from region.geometry import Point, polar
from region.land import HEIGHT, WIDTH
from region.osm import Member, Osm
from region.town import Town

_POPULATION = {"Port Merrow": "84317", "Saltby": "52908", "Alderbridge": "131642"}
_REACH = 1.3


def add_borders(osm: Osm, towns: Sequence[Town]) -> None:
    """Add the boundaries and the labels of all that has a name."""
    county = [
        Point(-4_000, -150),
        Point(WIDTH + 200, -150),
        Point(WIDTH + 200, HEIGHT + 150),
        Point(-4_000, HEIGHT + 150),
    ]
    _boundary(osm, [*county, county[0]], "6", "Merrowshire", None)
    for town in towns:
        plan = town.plan
        label = osm.node(
            plan.centre, {"place": "city", "name": plan.name, "population": _POPULATION[plan.name]}
        )
        whole = [
            plan.centre + polar(math.radians(turn), plan.radius * _REACH)
            for turn in range(0, 360, 6)
        ]
        _boundary(osm, [*whole, whole[0]], "8", plan.name, label)
        for ward, middle, ring in _wards(town):
            suburb = osm.node(middle, {"place": "suburb", "name": ward})
            _boundary(osm, ring, "10", ward, suburb)
    for name, at, _ in VILLAGES:
        osm.node(at, {"place": "village", "name": name})


def _wards(town: Town) -> Iterator[tuple[str, Point, list[Point]]]:
    plan = town.plan
    turn = 360 / len(plan.wards)
    for number, ward in enumerate(plan.wards):
        arc = [
            plan.centre
            + polar(math.radians(number * turn + step * turn / 10), plan.radius * _REACH)
            for step in range(11)
        ]
        middle = plan.centre + polar(math.radians((number + 0.5) * turn), plan.radius * 0.55)
        yield ward, middle, [plan.centre, *arc, plan.centre]


def _boundary(osm: Osm, ring: Sequence[Point], level: str, name: str, label: int | None) -> None:
    tags = {"boundary": "administrative", "admin_level": level}
    way = osm.line(ring, tags)
    members = [Member("way", way, "outer")]
    if label is not None:
        members.append(Member("node", label, "label"))
    osm.relation(members, {"type": "boundary", **tags, "name": name})
