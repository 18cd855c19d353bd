"""Grows what people built in the county."""

from __future__ import annotations

from region.built import (
    Bridge,
    Buildings,
    Castle,
    Church,
    Lighthouse,
    Line,
    Mill,
    Museum,
    School,
    Station,
    Street,
    Venue,
)
from region.dice import Dice
from region.people import Society, Trade
from region.places import City, Land, Settlement, Town, Village
from region.words import Words


def grow_buildings(words: Words, land: Land, society: Society) -> Buildings:
    """Return everything that was built."""
    streets = _streets(words, land)
    lines = _lines(words, land, society)
    return Buildings(
        lighthouses=_lighthouses(words, land, society),
        lines=lines,
        stations=_stations(land, lines),
        bridges=_bridges(words, land, society),
        churches=_churches(words, land),
        schools=_schools(words, land),
        streets=streets,
        museums=_museums(words, land, streets),
        venues=_venues(words, land, streets),
        castles=_castles(words, land, society),
        mills=_mills(words, land),
    )


def _lighthouses(words: Words, land: Land, society: Society) -> tuple[Lighthouse, ...]:
    dice = Dice("lighthouses")
    points = words["lighthouse_points"]
    heights = dice.distinct(len(points), 8, 57)
    lights = []
    for point, height in zip(points, heights, strict=True):
        opened = dice.between(1787, 1911)
        name = point if "Light" in point else f"{point} Lighthouse"
        named = [one for one in land.islands if one.name in name]
        anywhere = dice.pick(land.islands) if dice.happens(0.4) else None
        island = named[0] if named else anywhere
        lights.append(
            Lighthouse(
                title=name,
                name=name,
                opened=opened,
                island=island,
                height=height,
                place=dice.pick(land.ports) if island is None else island.ferry,
                focal=height + dice.between(2, 61),
                reach=dice.between(8, 26),
                light=f"{dice.pick(('one', 'two', 'three', 'four'))} "
                f"{dice.pick(('white', 'red', 'green'))} every {dice.between(5, 30)} seconds",
                colour=dice.pick(words["colours"]),
                automatic=dice.between(1961, 1998),
                engineer=society.at_work(dice, Trade.ENGINEER, opened),
            )
        )
    return tuple(lights)


def _lines(words: Words, land: Land, society: Society) -> tuple[Line, ...]:
    dice = Dice("lines")
    places = {one.name: one for one in (*land.cities, *land.towns)}
    return tuple(
        Line(
            title=one["name"],
            name=one["name"],
            start=places[one["from"]],
            end=places[one["to"]],
            opened=int(one["opened"]),
            length=int(one["length"]),
            engineer=society.at_work(dice, Trade.ENGINEER, int(one["opened"])),
        )
        for one in words.records("lines")
    )


def _stations(land: Land, lines: tuple[Line, ...]) -> tuple[Station, ...]:
    dice = Dice("stations")
    ends = {one for line in lines for one in (line.start, line.end)}
    ends |= {*land.cities, *land.towns}
    served = sorted(ends, key=lambda one: one.name) + list(dice.some(land.villages, 190))
    passengers = dice.distinct(len(served), 2_100, 98_000)
    stations = []
    for place, count in zip(served, passengers, strict=True):
        own = [line for line in lines if place in (line.start, line.end)]
        line = own[0] if own else dice.weighted(lines, [one.length for one in lines])
        shut = isinstance(place, Village) and dice.happens(0.45)
        busy = count * 40 if isinstance(place, City) else count * 4
        title = f"{place.name} railway station"
        stations.append(
            Station(
                title=title,
                name=f"{place.name} station",
                place=place,
                opened=line.opened,
                line=line,
                platforms=dice.between(1, 2) if isinstance(place, Village) else dice.between(2, 7),
                passengers=None if shut else (count if isinstance(place, Village) else busy),
                closed=dice.between(1951, 1969) if shut else None,
            )
        )
    return tuple(stations)


def _bridges(words: Words, land: Land, society: Society) -> tuple[Bridge, ...]:
    dice = Dice("bridges")
    wet = [one for one in land.settlements if one.river is not None]
    wanted = [
        (name, place)
        for place in dice.some(wet, 170)
        for name in [dice.pick(words["bridge_names"])]
    ]
    lengths = dice.distinct(len(wanted), 7, 260)
    bridges = []
    for (name, place), length in zip(wanted, lengths, strict=True):
        opened = dice.between(1611, 1978)
        able = [one for one in words.records("bridge_kinds") if int(one["since"]) <= opened]
        form = dice.pick(able)["form"]
        full = f"{name} Bridge"
        bridges.append(
            Bridge(
                title=f"{full}, {place.name}",
                name=full,
                place=place,
                opened=opened,
                river=place.river or land.rivers[0],
                length=length,
                spans=max(1, length // dice.between(14, 30)),
                form=form,
                engineer=society.at_work(dice, Trade.ENGINEER, opened),
                story=dice.pick(words["bridge_story"]),
            )
        )
    return tuple(bridges)


def _churches(words: Words, land: Land) -> tuple[Church, ...]:
    dice = Dice("churches")
    parishes = (*land.cities, *land.towns, *dice.some(land.villages, 190))
    churches = []
    for place in parishes:
        name = f"St {dice.pick(words['saints'])}'s Church"
        churches.append(
            Church(
                title=f"{name}, {place.name}",
                name=name,
                place=place,
                opened=max(place.recorded + 4, dice.between(1090, 1870)),
                tower=dice.between(11, 58),
                bells=dice.pick((1, 2, 3, 5, 6, 8, 10, 12)),
                style=dice.pick(words["styles"]),
                treasure=dice.pick(words["treasure"]),
                restored=dice.between(1872, 1994) if dice.happens(0.5) else None,
            )
        )
    return tuple(churches)


def _schools(words: Words, land: Land) -> tuple[School, ...]:
    dice = Dice("schools")
    colours = ("navy and gold", "bottle green", "maroon", "grey and sky blue", "black and amber")
    named = [
        ("Mill Lane Primary", land.cities[0]),
        ("St Brannock's School", land.cities[0]),
        ("Harbour View Academy", land.cities[0]),
        ("Castle Street Primary", land.cities[0]),
        ("Merrow Sixth Form College", land.cities[0]),
        ("Windmill Hill School", land.cities[0]),
    ]
    others: list[tuple[str, Settlement]] = []
    for place in (*land.cities[1:], *land.towns):
        others += [
            (f"{place.name} {kind}", place) for kind in dice.some(words["school_kinds"][:3], 2)
        ]
    others += [(f"{place.name} Village School", place) for place in dice.some(land.villages, 60)]
    rolls = dice.distinct(len(named) + len(others), 38, 1_490)
    schools = []
    for (name, place), pupils in zip([*named, *others], rolls, strict=True):
        opened = dice.between(1803, 1974)
        schools.append(
            School(
                title=name,
                name=name,
                place=place,
                opened=opened,
                pupils=pupils // 10 + 12 if isinstance(place, Village) else pupils,
                motto=dice.pick(words["mottoes"]),
                colour=dice.pick(colours),
                building=opened + dice.between(0, 48),
            )
        )
    return tuple(schools)


def _streets(words: Words, land: Land) -> tuple[Street, ...]:
    streets = []
    for city in land.cities:
        dice = Dice(f"streets of {city.name}")
        names = words["streets"]
        lengths = dice.distinct(len(names), 85, 1_960)
        for name, length in zip(names, lengths, strict=True):
            streets.append(
                Street(
                    title=f"{name}, {city.name}",
                    name=name,
                    city=city,
                    length=length,
                    houses=max(6, length // dice.between(6, 14)),
                    trade=dice.pick(words["street_trade"]),
                    paved=dice.between(1801, 1931),
                )
            )
    return tuple(streets)


def _museums(words: Words, land: Land, streets: tuple[Street, ...]) -> tuple[Museum, ...]:
    dice = Dice("museums")
    cities = {city.name: city for city in land.cities}
    asked: list[tuple[str, str, City | Town, Street | None]] = []
    for one in words.records("museums"):
        city = cities[one["city"]]
        street = dice.pick([street for street in streets if street.city is city])
        asked.append((one["name"], one["topic"], city, street))
    for town in land.towns:
        kind = dice.pick(words.records("town_museums"))
        asked.append((f"{town.name} {kind['name']}", kind["topic"], town, None))
    visitors = dice.distinct(len(asked), 4_100, 189_000)
    opens = {one["name"]: one["opens"] for one in words.records("museums") if "opens" in one}
    return tuple(
        Museum(
            title=name,
            name=name,
            place=place,
            opened=dice.between(1838, 2012),
            topic=topic,
            visitors=count if isinstance(place, City) else count // 5,
            objects=dice.between(300, 64_000),
            admission=dice.pick(words["free"]),
            opens=opens.get(name),
            closed_on=dice.pick(words["closed_on"]),
            street=street,
            art="Gallery" in name and "Ink" not in name,
        )
        for (name, topic, place, street), count in zip(asked, visitors, strict=True)
    )


def _venues(words: Words, land: Land, streets: tuple[Street, ...]) -> tuple[Venue, ...]:
    dice = Dice("venues")
    city = land.cities[0]
    here = [one for one in streets if one.city is city]
    square = next(one for one in here if one.name == "Market Square")
    records = (*words.records("venues"), *words.records("houses"))
    seats = dice.distinct(len(records), 18, 640)
    return tuple(
        Venue(
            title=f"{one['name']}, Port Merrow",
            name=one["name"],
            place=city,
            opened=dice.between(1802, 1938),
            form=one["kind"],
            street=square if "Market Square" in one["name"] else dice.pick(here),
            use=one["use"] if "use" in one else dice.pick(words["house_use"]),
            seats=count if "use" in one else count // 10 + 9,
        )
        for one, count in zip(records, seats, strict=True)
    )


def _castles(words: Words, land: Land, society: Society) -> tuple[Castle, ...]:
    dice = Dice("castles")
    places = (*land.cities, *dice.some(land.towns, 12), *dice.some(land.villages, 21))
    surnames = sorted({one.surname for one in society.people})
    castles = []
    for place in places:
        begun = place.recorded + dice.between(0, 90)
        name = f"{place.name} Castle"
        ruined = dice.between(1644, 1651) if dice.happens(0.6) else None
        castles.append(
            Castle(
                title=name,
                name=name,
                place=place,
                begun=begun,
                builder=dice.pick(surnames),
                state="a roofless keep"
                if place is land.cities[0]
                else dice.pick(words["castle_states"]),
                walls=dice.between(9, 31) * 10,
                ruined=1648 if place is land.cities[0] else ruined,
            )
        )
    return tuple(castles)


def _mills(words: Words, land: Land) -> tuple[Mill, ...]:
    dice = Dice("mills")
    mills = []
    for place in dice.some(land.villages, 96):
        form = dice.pick(words["mill_kinds"])
        wet = form in {"watermill", "tide mill"}
        name = f"{place.name} {'Mill' if wet else 'Windmill'}"
        stopped = dice.between(1887, 1962)
        mills.append(
            Mill(
                title=name,
                name=name,
                place=place,
                opened=dice.between(1702, 1866),
                form=form,
                ground=dice.pick(words["ground"]),
                stopped=stopped,
                sails=None if wet else dice.pick((4, 4, 4, 5, 6, 8)),
                restored=dice.between(1966, 2019) if dice.happens(0.4) else None,
            )
        )
    return tuple(mills)
