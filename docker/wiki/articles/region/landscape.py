"""Grows the county's places."""

from __future__ import annotations

from collections.abc import Sequence

from region.dice import Dice
from region.places import City, District, Hill, Island, Lake, Land, River, Town, Village
from region.words import Words

WAYS = ("north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west")


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
        title="River Merrow",
        name="River Merrow",
        district=districts[3],
        length=143,
        source=hills[0],
        mouth=None,
        flow=38.6,
        sea="the sea",
        navigable=47,
        frozen=1895,
    )
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
                title=one["name"],
                name=one["name"],
                district=district,
                river=river,
                population=int(one["population"]),
                population_1901=int(one["population_1901"]),
                recorded=int(one["chartered"]),
                elevation=int(one["elevation"]),
                known_for=dice.pick(words["known_for"]),
                custom=dice.pick(words["custom"]),
                feast=dice.pick(words["feast"]),
                about=one["lead"],
                history=one["history"],
                economy=one["economy"],
            )
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
                title=name,
                name=name,
                district=district,
                population=size,
                population_1901=size * dice.between(45, 96) // 100,
                recorded=dice.between(1086, 1390),
                elevation=dice.between(3, 30) if district.coastal else dice.between(40, 210),
                river=_river_in(dice, rivers, district),
                known_for=dice.pick(words["known_for"]),
                custom=dice.pick(words["custom"]),
                feast=dice.pick(words["feast"]),
                near=dice.pick(cities),
                distance=dice.between(9, 38),
                way=dice.pick(WAYS),
                market=dice.pick(weekdays),
                hall=dice.between(1801, 1913),
            )
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
                title=name,
                name=name,
                district=town.district,
                population=size,
                population_1901=max(30, size * dice.between(50, 190) // 100),
                recorded=dice.between(1086, 1540),
                elevation=town.elevation + dice.between(2, 90),
                river=_river_in(dice, rivers, town.district) if dice.happens(0.6) else None,
                known_for=dice.pick(words["known_for"]),
                custom=dice.pick(words["custom"]),
                feast=dice.pick(words["feast"]),
                near=town,
                distance=dice.between(2, 14),
                way=dice.pick(WAYS),
                households=max(14, round(size / dice.between(20, 27) * 10)),
                electric=dice.between(1919, 1958) if dice.happens(0.35) else None,
            )
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
                title=name,
                name=name,
                district=district,
                area=area,
                depth=dice.between(2, 78),
                outflow=_river_in(dice, rivers, district),
                dammed=dice.between(1842, 1968) if dice.happens(0.25) else None,
                fish=dice.pick(fish),
            )
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
                title=name,
                name=name,
                district=districts[2],
                area=area,
                population=dice.between(18, 900) if lived_on else 0,
                distance=dice.between(1, 26),
                ferry=dice.pick(harbours),
                emptied=dice.between(1841, 1953) if not lived_on and area > 120 else None,
            )
        )
    return tuple(islands)
