"""The pages that hold the county together: the county, its league, its newspaper."""

from __future__ import annotations

from collections.abc import Iterator

from draft import Draft, DraftBullets, DraftSection, DraftTable

from region.world import World

COUNTY = "Merrowshire"


def overview(world: World) -> Iterator[Draft]:
    """Yield the county's own pages."""
    yield _county(world)
    yield _league(world)
    yield _gazette()


def _county(world: World) -> Draft:
    land = world.land
    highest = max(land.hills, key=lambda one: one.height)
    longest = max(land.rivers, key=lambda one: one.length)
    people = sum(one.population for one in land.settlements)
    cities = tuple(
        (one.link, one.district.link, f"{one.population:,}", str(one.recorded))
        for one in land.cities
    )
    districts = DraftBullets(tuple(f"{one.link}: {one.character}" for one in land.districts))
    return Draft(
        title=COUNTY,
        lead=(
            (
                f"**{COUNTY}** is a county on a northern coast, the home of three cities, "
                f"{len(land.towns)} towns and {len(land.villages)} villages. Its county town is "
                "[[Alderbridge]], its port [[Port Merrow]]."
            ),
        ),
        facts=(
            ("County town", "[[Alderbridge]]"),
            ("Districts", str(len(land.districts))),
            ("Population (2021)", f"{people:,}"),
            ("Highest hill", f"{highest.link}, {highest.height} m"),
            ("Longest river", f"{longest.link}, {longest.length} km"),
        ),
        sections=(
            DraftSection(
                "Cities",
                (DraftTable("Cities", ("City", "District", "Population", "Charter"), cities),),
            ),
            DraftSection("Districts", (districts,)),
            DraftSection(
                "Geography",
                (
                    (
                        f"The highest hill is {highest.link} with {highest.height} metres, the longest "
                        f"river the {longest.link} with {longest.length} kilometres."
                    ),
                ),
            ),
        ),
        see_also=(
            "Lists of Merrowshire",
            "Indexes of Merrowshire",
            "Merrow Gazette",
            "Merrow League",
        ),
        topic="Districts of Merrowshire",
        proper=True,
        autolink=False,
        marked=True,
    )


def _league(world: World) -> Draft:
    football = world.football
    seasons = tuple(
        (f"[[{one.title}]]", one.champion.link, str(one.points), one.second.link)
        for one in football.seasons
    )
    titles = {
        club: sum(one.champion is club for one in football.seasons) for club in football.clubs
    }
    ordered = sorted(titles.items(), key=lambda pair: (-pair[1], pair[0].name))
    won = tuple((club.link, club.place.link, str(count)) for club, count in ordered)
    return Draft(
        title="Merrow League",
        lead=(
            (
                "The **Merrow League** is the football league of [[Merrowshire]]. Its "
                f"{len(football.clubs)} clubs play each other twice a season."
            ),
        ),
        facts=(("Clubs", str(len(football.clubs))), ("First season", "1965–66")),
        sections=(
            DraftSection("Clubs", (DraftTable("Clubs", ("Club", "Place", "Titles"), won),)),
            DraftSection(
                "Seasons",
                (DraftTable("Seasons", ("Season", "Champion", "Points", "Second"), seasons),),
            ),
        ),
        see_also=("Merrowshire", "List of footballers of Merrowshire"),
        topic="Football in Merrowshire",
        proper=True,
        autolink=False,
        marked=True,
    )


def _gazette() -> Draft:
    return Draft(
        title="Merrow Gazette",
        lead=(
            (
                "The **Merrow Gazette** is the newspaper of [[Port Merrow]]. It has appeared since "
                "1871, every day on its site and on Fridays on paper."
            ),
        ),
        facts=(("Founded", "1871"), ("Office", "4 [[Market Square, Port Merrow|Market Square]]")),
        sections=(
            DraftSection(
                "Office",
                (
                    (
                        "Its office stands at 4 [[Market Square, Port Merrow|Market "
                        "Square]] and is open from Monday to Friday."
                    ),
                ),
            ),
            DraftSection(
                "Content",
                (
                    (
                        "It writes about the council and the harbour, tests what "
                        "people buy, and prints recipes and football tables."
                    ),
                ),
            ),
        ),
        see_also=("Port Merrow",),
        topic="Companies of Merrowshire",
        proper=True,
        autolink=False,
        marked=True,
    )
