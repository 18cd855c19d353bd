"""The county's places: districts, cities, towns, villages, rivers, lakes, hills and islands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from region.dice import Dice
from region.subject import Event, Kind, Subject
from region.words import Words

WAYS = ("north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class District(Subject):
    """One of the nine districts of the county."""

    character: str
    coastal: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hill(Subject):
    """A hill; no two are equally high."""

    district: District
    height: int
    rock: str
    cairn: int | None
    climbed: int | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class River(Subject):
    """A river that ends in another one or, where that is None, in the sea."""

    district: District
    length: int
    source: Hill | None
    mouth: River | None
    flow: float
    sea: str | None
    navigable: int | None
    frozen: int | None

    def events(self) -> Iterator[Event]:
        """Yield the winter in which it froze."""
        if self.frozen is not None:
            yield Event(year=self.frozen, kind=Kind.EVENT, words=f"The {self.link} freezes over.")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Settlement(Subject):
    """A city, town or village."""

    district: District
    population: int
    population_1901: int
    recorded: int
    elevation: int
    river: River | None
    known_for: str
    custom: str
    feast: str

    @property
    def change(self) -> str:
        """Return how the census of 2021 compares with that of 1901."""
        share = 100 * (self.population - self.population_1901) / self.population_1901
        return f"{abs(share):.0f} per cent {'more' if share >= 0 else 'fewer'}"

    @property
    def rank(self) -> str:
        """Return what sort of settlement it is."""
        return "village"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class City(Settlement):
    """One of the three cities; what is told of them is written by hand."""

    about: str
    history: str
    economy: str

    @property
    def rank(self) -> str:
        """Return what sort of settlement it is."""
        return "city"

    def events(self) -> Iterator[Event]:
        """Yield nothing: the cities' charters are older than the year pages."""
        yield from ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Town(Settlement):
    """A market town, with the city that it looks to."""

    near: City
    distance: int
    way: str
    market: str
    hall: int

    @property
    def rank(self) -> str:
        """Return what sort of settlement it is."""
        return "town"

    def events(self) -> Iterator[Event]:
        """Yield the opening of its town hall."""
        words = f"The town hall of {self.link} is opened."
        yield Event(year=self.hall, kind=Kind.OPENING, words=words)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Village(Settlement):
    """A village, with the town that it looks to."""

    near: Town
    distance: int
    way: str
    households: int
    electric: int | None

    def events(self) -> Iterator[Event]:
        """Yield the coming of electric light."""
        if self.electric is not None:
            words = f"Electric light comes to {self.link}."
            yield Event(year=self.electric, kind=Kind.EVENT, words=words)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lake(Subject):
    """A lake; no two have the same area."""

    district: District
    area: int
    depth: int
    outflow: River | None
    dammed: int | None
    fish: str

    def events(self) -> Iterator[Event]:
        """Yield the dam, where it has one."""
        if self.dammed is not None:
            words = f"The dam that holds {self.link} is finished."
            yield Event(year=self.dammed, kind=Kind.OPENING, words=words)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Island(Subject):
    """An island off the coast; no two have the same area."""

    district: District
    area: int
    population: int
    distance: int
    ferry: City | Town
    emptied: int | None

    def events(self) -> Iterator[Event]:
        """Yield the year in which the last families left."""
        if self.emptied is not None:
            words = f"The last families leave {self.link}."
            yield Event(year=self.emptied, kind=Kind.EVENT, words=words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Land:
    """All places of the county."""

    districts: tuple[District, ...]
    hills: tuple[Hill, ...]
    rivers: tuple[River, ...]
    cities: tuple[City, ...]
    towns: tuple[Town, ...]
    villages: tuple[Village, ...]
    lakes: tuple[Lake, ...]
    islands: tuple[Island, ...]

    @property
    def settlements(self) -> tuple[Settlement, ...]:
        """Return cities, towns and villages."""
        return (*self.cities, *self.towns, *self.villages)

    @property
    def ports(self) -> tuple[City | Town, ...]:
        """Return the cities and towns on the coast."""
        return tuple(one for one in (*self.cities, *self.towns) if one.district.coastal)


def grow_land(words: Words, villages: int) -> Land:
    """Return the county's places, with that many villages."""
    districts = tuple(
        District(
            title=one["name"],
            name=one["name"],
            character=one["character"],
            coastal=one["coastal"] == "True",
        )
        for one in words.records("districts")
    )
    hills = _hills(words, districts)
    rivers = _rivers(words, districts, hills)
    cities = _cities(words, districts, rivers)
    towns = _towns(words, districts, cities, rivers)
    return Land(
        districts=districts,
        hills=hills,
        rivers=rivers,
        cities=cities,
        towns=towns,
        villages=_villages(words, towns, rivers, villages),
        lakes=_lakes(words, districts, rivers),
        islands=_islands(words, districts, (*cities, *towns)),
    )


def _hills(words: Words, districts: Sequence[District]) -> tuple[Hill, ...]:
    dice = Dice("hills")
    inland = [one for one in districts if not one.coastal]
    names = dice.some(words.pairs("hill_first", "hill_last", " "), 190)
    heights = sorted(dice.distinct(len(names), 96, 874), reverse=True)
    return tuple(
        Hill(
            title=name,
            name=name,
            # The high ones stand in the Tarnlands, the rest anywhere inland.
            district=districts[5] if height > 560 else dice.pick(inland),
            height=height,
            rock="slate" if height > 560 else dice.pick(words["rocks"]),
            cairn=dice.between(1790, 1935) if dice.happens(0.4) else None,
            climbed=dice.between(1760, 1890) if height > 400 else None,
        )
        for name, height in zip(dice.shuffled(names), heights, strict=True)
    )


def _rivers(
    words: Words, districts: Sequence[District], hills: Sequence[Hill]
) -> tuple[River, ...]:
    dice = Dice("rivers")
    names = words["river_names"]
    lengths = sorted(dice.distinct(len(names), 6, 118), reverse=True)
    merrow = River(
        title="River Merrow", name="River Merrow", district=districts[3], length=143,
        source=hills[0], mouth=None, flow=38.6, sea="the sea", navigable=47, frozen=1895,
    )  # fmt: skip
    rivers = [merrow]
    for name, length in zip(names, lengths, strict=True):
        longer = [one for one in rivers if one.length > length + 10 and one.length < length * 4]
        mouth = dice.pick(longer) if longer and dice.happens(0.8) else None
        if name == "Saltern":
            mouth = None
        rivers.append(
            River(
                title=f"River {name}" if not name.endswith("Water") else name,
                name=f"River {name}" if not name.endswith("Water") else name,
                district=districts[1] if name == "Saltern" else dice.pick(districts),
                length=length,
                source=dice.pick(hills) if dice.happens(0.7) else None,
                mouth=mouth,
                flow=round(length * dice.between(8, 22) / 100, 1),
                sea="the sea" if mouth is None else None,
                navigable=length // 3 if length > 60 else None,
                frozen=dice.between(1802, 1963) if dice.happens(0.3) else None,
            )
        )
    return tuple(rivers)


def _cities(
    words: Words, districts: Sequence[District], rivers: Sequence[River]
) -> tuple[City, ...]:
    by_name = {one.name: one for one in (*districts, *rivers)}
    dice = Dice("cities")
    cities = []
    for one in words.records("cities"):
        district, river = by_name[one["district"]], by_name[one["river"]]
        if not isinstance(district, District) or not isinstance(river, River):
            message = f"{one['name']}: needs a district and a river"
            raise TypeError(message)
        cities.append(
            City(
                title=one["name"], name=one["name"], district=district, river=river,
                population=int(one["population"]), population_1901=int(one["population_1901"]),
                recorded=int(one["chartered"]), elevation=int(one["elevation"]),
                known_for=dice.pick(words["known_for"]), custom=dice.pick(words["custom"]),
                feast=dice.pick(words["feast"]), about=one["lead"], history=one["history"],
                economy=one["economy"],
            )  # fmt: skip
        )
    return tuple(cities)


def _towns(
    words: Words,
    districts: Sequence[District],
    cities: Sequence[City],
    rivers: Sequence[River],
) -> tuple[Town, ...]:
    dice = Dice("towns")
    names = words["town_names"]
    sizes = dice.distinct(len(names), 3_400, 38_000)
    weekdays = ("Monday", "Wednesday", "Thursday", "Friday", "Saturday")
    towns = []
    for at, (name, size) in enumerate(zip(names, sizes, strict=True)):
        district = districts[at % len(districts)]
        towns.append(
            Town(
                title=name, name=name, district=district, population=size,
                population_1901=size * dice.between(45, 96) // 100,
                recorded=dice.between(1086, 1390), elevation=dice.between(3, 30)
                if district.coastal else dice.between(40, 210),
                river=_river_in(dice, rivers, district), known_for=dice.pick(words["known_for"]),
                custom=dice.pick(words["custom"]), feast=dice.pick(words["feast"]),
                near=dice.pick(cities), distance=dice.between(9, 38), way=dice.pick(WAYS),
                market=dice.pick(weekdays), hall=dice.between(1801, 1913),
            )  # fmt: skip
        )
    return tuple(towns)


def _villages(
    words: Words, towns: Sequence[Town], rivers: Sequence[River], count: int
) -> tuple[Village, ...]:
    dice = Dice("villages")
    names = dice.some(words.pairs("village_first", "village_last", ""), count)
    sizes = dice.distinct(count, 41, 3_390)
    villages = []
    for name, size in zip(names, sizes, strict=True):
        town = dice.pick(towns)
        villages.append(
            Village(
                title=name, name=name, district=town.district, population=size,
                population_1901=max(30, size * dice.between(50, 190) // 100),
                recorded=dice.between(1086, 1540), elevation=town.elevation + dice.between(2, 90),
                river=_river_in(dice, rivers, town.district) if dice.happens(0.6) else None,
                known_for=dice.pick(words["known_for"]), custom=dice.pick(words["custom"]),
                feast=dice.pick(words["feast"]), near=town, distance=dice.between(2, 14),
                way=dice.pick(WAYS), households=max(14, round(size / dice.between(20, 27) * 10)),
                electric=dice.between(1919, 1958) if dice.happens(0.35) else None,
            )  # fmt: skip
        )
    return tuple(villages)


def _river_in(dice: Dice, rivers: Sequence[River], district: District) -> River | None:
    here = [one for one in rivers if one.district is district]
    return dice.pick(here) if here else None


def _lakes(
    words: Words, districts: Sequence[District], rivers: Sequence[River]
) -> tuple[Lake, ...]:
    dice = Dice("lakes")
    names = dice.some(words.pairs("lake_first", "lake_last", " "), 64)
    areas = dice.distinct(len(names), 3, 1_480)
    fish = ("perch", "pike", "char", "brown trout", "tench", "roach")
    lakes = []
    for name, area in zip(names, areas, strict=True):
        district = districts[5] if dice.happens(0.5) else dice.pick(districts)
        lakes.append(
            Lake(
                title=name, name=name, district=district, area=area, depth=dice.between(2, 78),
                outflow=_river_in(dice, rivers, district),
                dammed=dice.between(1842, 1968) if dice.happens(0.25) else None,
                fish=dice.pick(fish),
            )  # fmt: skip
        )
    return tuple(lakes)


def _islands(
    words: Words, districts: Sequence[District], ports: Sequence[City | Town]
) -> tuple[Island, ...]:
    dice = Dice("islands")
    names = words["island_names"]
    areas = dice.distinct(len(names), 4, 2_300)
    harbours = [one for one in ports if one.district.coastal]
    islands = []
    for name, area in zip(names, areas, strict=True):
        lived_on = area > 600
        islands.append(
            Island(
                title=name, name=name, district=districts[2], area=area,
                population=dice.between(18, 900) if lived_on else 0, distance=dice.between(1, 26),
                ferry=dice.pick(harbours),
                emptied=dice.between(1841, 1953) if not lived_on and area > 120 else None,
            )  # fmt: skip
        )
    return tuple(islands)
