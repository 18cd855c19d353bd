"""Houses along the streets, with numbers, postcodes and outlines."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import count, pairwise
from random import Random

from region.geometry import Line, Point, along
from region.land import Land
from region.town import Cell, Town

_ASIDE = 13.0
_CLEAR = 15.0
_UNIT = 34  # houses that share a postcode, about
_LETTERS = "ABDEFGHJLNPQRSTUWXYZ"  # a unit of a British postcode has no C I K M O V


@dataclass(frozen=True, slots=True)
class House:
    """One address.

    Attributes:
        along: the street's direction there.
        centre: how near the town's middle it is, from 0 at the edge to 1.
        main: whether it stands in a main street.
    """

    at: Point
    along: Point
    number: str
    street: str
    place: str
    postcode: str
    centre: float
    main: bool

    def tags(self) -> dict[str, str]:
        """Return its address."""
        return {
            "addr:housenumber": self.number,
            "addr:street": self.street,
            "addr:city": self.place,
            "addr:postcode": self.postcode,
        }

    def outline(self, rng: Random) -> list[Point]:
        """Return the ring of its walls."""
        deep, wide = rng.uniform(3.8, 5.4), rng.uniform(3.6, 5.4)
        if self.centre > 0.75:
            wide = 5.6
        a, b = self.along.times(wide), self.along.left().times(deep)
        ring = [self.at + a + b, self.at + a - b, self.at - a - b, self.at - a + b]
        return [*ring, ring[0]]


class Postcodes:
    """Hands out postcodes, one after the other, within each sector of a town."""

    def __init__(self, area: str, district: int) -> None:
        self._area, self._district = area, district
        self._given: dict[int, Iterator[int]] = {}

    def next(self, ward: int) -> str:
        """Return the next postcode of a ward."""
        number = next(self._given.setdefault(ward, count()))
        sector, unit = divmod(number, len(_LETTERS) ** 2)
        first, second = divmod(unit, len(_LETTERS))
        letters = _LETTERS[first] + _LETTERS[second]
        return f"{self._area}{self._district + ward // 3} {1 + ward % 3 * 3 + sector}{letters}"


def houses_of(
    town: Town, land: Land, empty: Collection[Cell], codes: Postcodes, rng: Random
) -> Iterator[House]:
    """Yield the houses of a town, street by street: odd numbers left, even ones right."""
    for street in town.streets:
        numbers = (count(1, 2), count(2, 2))
        left_of_code, code = 0, ""
        main = street.highway in ("primary", "secondary")
        for edge in street.edges:
            if edge.bridge:
                continue
            line = [town.spots[edge.start], edge.bend, town.spots[edge.end]]
            for at, direction, side in _lots(line, rng):
                if (edge.left, edge.right)[side] in empty or not _buildable(at, land):
                    continue
                if left_of_code == 0:
                    left_of_code, code = _UNIT, codes.next(town.ward_of(at))
                left_of_code -= 1
                centre = 1 - min(1.0, at.to(town.plan.centre) / town.plan.radius)
                number = str(next(numbers[side]))
                yield House(at, direction, number, street.name, town.plan.name, code, centre, main)


def houses_by(
    line: Line, street: str, place: str, code: str, most: int, rng: Random
) -> Iterator[House]:
    """Yield up to so many houses along a village's street."""
    numbers = (count(1, 2), count(2, 2))
    for found, (at, direction, side) in enumerate(_lots(line, rng, gap=9.0)):
        if found == most:
            return
        yield House(at, direction, str(next(numbers[side])), street, place, code, 0.0, main=False)


def _lots(line: Line, rng: Random, gap: float = 0.0) -> Iterator[tuple[Point, Point, int]]:
    """Yield places for houses beside a line: where, the line's direction, left (0) or right (1)."""
    step = rng.uniform(10.4, 12.4) + gap
    free = sum(a.to(b) for a, b in pairwise(line)) - _CLEAR
    for walked, (on, direction) in enumerate(along(line, step, _CLEAR)):
        if _CLEAR + walked * step > free:
            return
        for side in (0, 1):
            out = direction.left().times(_ASIDE if side == 0 else -_ASIDE)
            yield on + out, direction, side


def _buildable(at: Point, land: Land) -> bool:
    return not land.is_sea(at, 12) and land.river_at(at) > 32
