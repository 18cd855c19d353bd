"""Nature and custom of the county: species, minerals, dishes, festivals and walks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from region.dice import Dice
from region.people import Person, Society, Trade
from region.places import Hill, Lake, Land, Settlement, Village
from region.subject import Event, Kind, Subject
from region.words import Words


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Species(Subject):
    """A species first described from the county."""

    group: str
    latin: str
    describer: Person
    described: int
    habitat: Hill | Lake
    part: str
    size: int
    status: str
    feeds: str
    season: str

    def events(self) -> Iterator[Event]:
        """Yield its first description."""
        words = f"{self.describer.link} describes the {self.group} {self.link}."
        yield Event(year=self.described, kind=Kind.EVENT, words=words)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Mineral(Subject):
    """A mineral or rock named in the county."""

    colour: str
    hardness: str
    density: str
    hill: Hill
    use: str
    found: int
    finder: Person | None

    def events(self) -> Iterator[Event]:
        """Yield its first finding."""
        words = f"{self.link} is first found, on {self.hill.link}."
        yield Event(year=self.found, kind=Kind.EVENT, words=words)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Dish(Subject):
    """A dish of the county."""

    place: Settlement
    course: str
    first: str
    second: str
    third: str
    recorded: int
    minutes: int
    month: str

    def events(self) -> Iterator[Event]:
        """Yield its first recipe in print."""
        words = f"A recipe for {self.link} is printed for the first time."
        yield Event(year=self.recorded, kind=Kind.EVENT, words=words)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Festival(Subject):
    """A yearly festival; no two have equally many visitors."""

    place: Settlement
    month: str
    founded: int
    days: int
    visitors: int
    dish: Dish

    def events(self) -> Iterator[Event]:
        """Yield its first holding."""
        words = f"{self.link} is held for the first time."
        yield Event(year=self.founded, kind=Kind.EVENT, words=words)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Walk(Subject):
    """A waymarked path; no two are equally long.

    One that ends where it begins has no end, but that place as its round.
    """

    start: Settlement
    end: Settlement | None
    round: Settlement | None
    via: Village | None
    hill: Hill | None
    length: int
    climb: int
    marked: int

    def events(self) -> Iterator[Event]:
        """Yield its marking."""
        words = f"The {self.link} is waymarked."
        yield Event(year=self.marked, kind=Kind.OPENING, words=words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Nature:
    """Nature and custom."""

    species: tuple[Species, ...]
    minerals: tuple[Mineral, ...]
    dishes: tuple[Dish, ...]
    festivals: tuple[Festival, ...]
    walks: tuple[Walk, ...]


def grow_nature(words: Words, land: Land, society: Society) -> Nature:
    """Return nature and custom."""
    dishes = _dishes(words, land)
    return Nature(
        species=_species(words, land, society),
        minerals=_minerals(words, land, society),
        dishes=dishes,
        festivals=_festivals(words, land, dishes),
        walks=_walks(words, land),
    )


def _species(words: Words, land: Land, society: Society) -> tuple[Species, ...]:
    dice = Dice("species")
    groups = words.records("species_groups")
    last = {key: value for one in words.records("species_last_list") for key, value in one.items()}
    found: dict[str, Species] = {}
    firsts, epithets = words["species_first"], words["epithets"]
    while len(found) < 180:
        one = dice.pick(groups)
        at = dice.between(0, len(firsts) - 1)
        name = f"{firsts[at]} {dice.pick(last[one['group']].split('; '))}"
        describer = dice.pick(society.of(Trade.NATURALIST))
        wild: tuple[Hill | Lake, ...] = (*land.lakes, *land.hills)
        found[name] = Species(
            title=name,
            name=name,
            group=one["group"],
            latin=f"{one['latin']} {epithets[at]}",
            describer=describer,
            described=dice.between(*describer.working),
            habitat=dice.pick(wild),
            part=one["unit"],
            size=dice.between(int(one["low"]), int(one["high"])),
            status=dice.pick(words["status"]),
            feeds=dice.pick(words["feeds"]),
            season=dice.pick(words["months"][2:10]),
        )
    return tuple(found.values())


def _minerals(words: Words, land: Land, society: Society) -> tuple[Mineral, ...]:
    dice = Dice("minerals")
    minerals = []
    for name in words["mineral_names"]:
        found = dice.between(1801, 1954)
        minerals.append(
            Mineral(
                title=name,
                name=name,
                colour=dice.pick(words["mineral_colours"]),
                hardness=f"{dice.between(2, 15) / 2:g}",
                density=f"{dice.between(21, 52) / 10:.1f}",
                hill=dice.pick(land.hills),
                use=dice.pick(words["mineral_uses"]),
                found=found,
                finder=society.at_work(dice, Trade.NATURALIST, found),
            )
        )
    return tuple(minerals)


def _dishes(words: Words, land: Land) -> tuple[Dish, ...]:
    dice = Dice("dishes")
    named = {one.name: one for one in land.settlements}
    dishes = []
    for name in words["dish_names"]:
        stated = [place for key, place in named.items() if key in name]
        kind = next(one for one in words.records("courses") if one["word"] in name.lower())
        known = [one for one in words[kind["taste"]] if one.rstrip("s") in name.lower()]
        others = [one for one in words[kind["taste"]] if one not in known]
        first, second, third = (*known, *dice.some(others, 3))[:3]
        dishes.append(
            Dish(
                title=name,
                name=name,
                place=stated[0] if stated else dice.pick(land.towns),
                course=kind["course"],
                first=first,
                second=second,
                third=third,
                recorded=dice.between(1803, 1968),
                minutes=dice.between(2, 36) * 5,
                month=dice.pick(words["months"]),
            )
        )
    return tuple(dishes)


def _festivals(words: Words, land: Land, dishes: tuple[Dish, ...]) -> tuple[Festival, ...]:
    dice = Dice("festivals")
    hosts = (*land.cities, *land.towns)
    kinds = words.records("festivals")
    asked = [(place, kind) for place in hosts for kind in dice.some(kinds, 2)]
    visitors = dice.distinct(len(asked), 350, 62_000)
    return tuple(
        Festival(
            title=f"{place.name} {kind['name']}",
            name=f"{place.name} {kind['name']}",
            place=place,
            month=kind["month"],
            founded=dice.between(1806, 2016),
            days=dice.between(1, 9),
            visitors=count,
            dish=dice.pick(dishes),
        )
        for (place, kind), count in zip(asked, visitors, strict=True)
    )


def _walks(words: Words, land: Land) -> tuple[Walk, ...]:
    dice = Dice("walks")
    lengths = dice.distinct(len(words["walks"]), 12, 132)
    # The newspaper's guide, the map and people's notes speak of these, too.
    known = {one["name"]: one for one in words.records("town_walks")}
    walks = []
    for name, length in zip(words["walks"], lengths, strict=True):
        start, end = dice.some((*land.cities, *land.towns), 2)
        walk = Walk(
            title=name,
            name=name,
            start=start,
            end=end,
            round=None,
            via=dice.pick(land.villages),
            hill=dice.pick(land.hills),
            length=length,
            climb=length * dice.between(9, 38),
            marked=dice.between(1931, 2014),
        )
        walks.append(_as_known(walk, known[name], land) if name in known else walk)
    return tuple(walks)


def _as_known(walk: Walk, known: Mapping[str, str], land: Land) -> Walk:
    """Return a walk with the ends, the length and the ascent that other sites know."""
    cities = {city.name: city for city in land.cities}
    start, end = cities[known["start"]], cities.get(known.get("end", ""))
    return replace(
        walk,
        start=start,
        end=end,
        round=start if end is None else None,
        via=None,
        hill=None,
        length=int(known["length"]),
        climb=int(known["climb"]),
    )
