"""Places with a name and opening hours: those that the shared world knows, and many drawn ones."""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from region.houses import House
from region.names import GIVEN, PEOPLE

_HERE = Path(__file__).parent
_WEBSITES = 0.45
_PHONES = 0.8
_WHEELCHAIR = ("yes", "yes", "limited", "no")


@dataclass(frozen=True, slots=True)
class Kind:
    """Something there is many of; see kinds.toml.

    Attributes:
        bare: whether it is a thing in the street, without an address.
    """

    count: int
    sites: str
    tags: Mapping[str, str]
    called: Sequence[str] = ()
    hours: str = ""
    extra: Mapping[str, Sequence[str]] | None = None
    bare: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """One place at the address of a house."""

    house: House
    tags: dict[str, str]


class Places:
    """Draws places for houses, and remembers which houses they took."""

    def __init__(self, houses: Sequence[House], wards: Mapping[House, str], rng: Random) -> None:
        words = tomllib.loads((_HERE / "kinds.toml").read_text(encoding="utf-8"))
        self._kinds = [Kind(**kind) for kind in words["kind"]]
        self._hours: Mapping[str, Sequence[str]] = words["hours"]
        self._words: Mapping[str, Sequence[str]] = words["names"]
        self._rng = rng
        self._wards = wards
        self._phones = itertools.count(100_000)
        self._taken: set[tuple[str, str]] = set()
        self._queues = {
            sites: iter(sorted(houses, key=lambda house: self._chance(house, sites)))
            for sites in ("centre", "main", "any")
        }
        self._used: set[House] = set()

    def use(self, house: House) -> None:
        """Remember that a house is taken."""
        self._used.add(house)

    def draw(self, total: int) -> Iterator[Place]:
        """Yield so many places, of all kinds in proportion to their counts."""
        wanted = sum(kind.count for kind in self._kinds)
        made = 0
        for number, kind in enumerate(self._kinds):
            last = number == len(self._kinds) - 1
            share = total - made if last else round(kind.count * total / wanted)
            made += share
            for _ in range(share):
                yield self._place(kind)

    def _chance(self, house: House, sites: str) -> float:
        """Return what to sort houses by: lower comes first (weighted drawing, Efraimidis 2006)."""
        weight = {
            "centre": (0.002 + house.centre**5) * (3 if house.main else 1),
            "main": (0.02 + house.centre**2) * (8 if house.main else 0.15),
            "any": (0.15 + house.centre**2) * (2 if house.main else 1),
        }[sites]
        return self._rng.expovariate(1) / weight

    def _next_house(self, kind: Kind) -> House:
        for house in self._queues[kind.sites]:
            if house not in self._used:
                self._used.add(house)
                return house
        msg = f"no house is left for {kind.tags}"
        raise LookupError(msg)

    def _place(self, kind: Kind) -> Place:
        house = self._next_house(kind)
        tags = dict(kind.tags)
        if kind.called:
            tags["name"] = self._name(kind, house)
        for key, values in (kind.extra or {}).items():
            tags[key] = self._rng.choice(values)
        if kind.bare:
            return Place(house, tags)
        if kind.hours:
            tags["opening_hours"] = self._rng.choice(self._hours[kind.hours])
        if kind.tags.get("amenity") not in ("atm", "charging_station"):
            self._contact(tags, house)
        return Place(house, {**tags, **house.tags()})

    def _contact(self, tags: dict[str, str], house: House) -> None:
        if self._rng.random() < _PHONES:
            tags["phone"] = f"+44 1632 {next(self._phones)}"
        if self._rng.random() < _WEBSITES:
            slug = re.sub(
                r"[^a-z0-9]+", "-", tags["name"].lower().replace("é", "e").replace("'", "")
            ).strip("-")
            tags["website"] = f"http://{slug}.{house.place.lower().replace(' ', '')}.example/"
        if self._rng.random() < 0.6:
            tags["wheelchair"] = self._rng.choice(_WHEELCHAIR)

    def _name(self, kind: Kind, house: House) -> str:
        """Return a name that no place of the town bears yet, where the patterns have one left."""
        name = ""
        for _ in range(40):
            pattern = self._rng.choice(kind.called)
            name = re.sub(r"\{(\w+?)\}", lambda slot: self._word(slot.group(1), house), pattern)
            if (name, house.place) not in self._taken or "{" not in pattern:
                break
        self._taken.add((name, house.place))
        return name

    def _word(self, slot: str, house: House) -> str:
        match slot:
            case "street":
                return house.street
            case "place":
                return house.place
            case "ward":
                return self._wards[house]
            case "person" | "person2":
                return self._rng.choice(PEOPLE)
            case "first" | "first2":
                return self._rng.choice(GIVEN)
            case _:
                return self._rng.choice(self._words[slot.rstrip("2")])
