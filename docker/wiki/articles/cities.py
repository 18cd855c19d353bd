"""Articles on cities: what is written by hand, with the gazetteer's figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from countries import in_prose, link
from draft import Draft, DraftBlock, DraftSection, DraftTable
from gazetteer import City, Country, Gazetteer
from handwritten import ArticleError, Entry

NEARBY = 4
RANKED = 12


class CityWriter:
    """Writes one article per handwritten city entry."""

    def __init__(self, gazetteer: Gazetteer, notes: Sequence[Entry]) -> None:
        self._gazetteer = gazetteer
        self._notes = notes
        self._cities = {note.name: self._find(note) for note in notes}

    @property
    def homes(self) -> Mapping[str, str]:
        """Return the country code of each city that has an article, by title."""
        return {title: city.country for title, city in self._cities.items()}

    def drafts(self) -> Iterator[Draft]:
        """Yield the cities' articles, sorted by name."""
        for note in sorted(self._notes, key=lambda one: one.name):
            city = self._cities[note.name]
            yield self._draft(note, city, self._gazetteer.countries[city.country])

    def ranking(self) -> Draft:
        """Return the list of the cities that have an article, by population."""
        ordered = sorted(self._cities.values(), key=lambda one: (-one.population, one.name))
        countries: Mapping[str, Country] = self._gazetteer.countries
        rows = tuple(
            (
                str(rank),
                f"[[{city.name}]]",
                link(countries[city.country].name),
                f"{city.population:,}",
            )
            for rank, city in enumerate(ordered, start=1)
        )
        table = DraftTable("Cities by population", ("Rank", "City", "Country", "Population"), rows)
        about = "Figures are those of GeoNames for the city proper, and equal to the cities' own."
        ends = f"[[{ordered[0].name}]] stands first and [[{ordered[-1].name}]] last."
        return Draft(
            title="List of cities by population",
            lead=("This **list of cities** ranks the cities described in this encyclopedia.",),
            facts=(("Entries", str(len(rows))), ("First", ordered[0].name)),
            sections=(
                DraftSection("Method", (about,)),
                DraftSection("First and last", (ends,)),
                DraftSection("Ranking", (table,)),
            ),
            see_also=("List of countries by area", "List of countries by population"),
            topic="Lists",
            proper=True,
        )

    def _find(self, note: Entry) -> City:
        city = self._gazetteer.city(note.country, note.name)
        if city is None:
            message = f"cities: GeoNames knows no {note.name!r} in {note.country!r}"
            raise ArticleError(message)
        return city

    def _draft(self, note: Entry, city: City, country: Country) -> Draft:
        nearby = self._nearby(city)
        return Draft(
            title=note.name,
            lead=(note.lead,),
            facts=self._facts(note, city, country),
            sections=(
                DraftSection("Geography", self._geography(city, country, nearby)),
                *note.sections,
                DraftSection("Population", self._population(city, country)),
            ),
            see_also=(country.name, *sorted(other.name for other in nearby), *note.see),
            aliases=note.aliases,
            topic="Cities",
            proper=True,
            autolink=note.autolink,
        )

    def _facts(self, note: Entry, city: City, country: Country) -> tuple[tuple[str, str], ...]:
        return (
            ("Country", country.name),
            ("Population", f"{city.population:,}"),
            ("Coordinates", _coordinates(city)),
            ("Standard time", city.utc_offset),
            *note.facts,
        )

    def _geography(
        self, city: City, country: Country, nearby: Sequence[City]
    ) -> tuple[DraftBlock, ...]:
        where = f"{city.name} lies at {_coordinates(city)}"
        capital = self._gazetteer.city(country.code, country.capital)
        if capital is None or capital == city:
            first = f"{where} and is the capital of {in_prose(country)}."
        else:
            far = capital.distance_km(city)
            way = capital.direction_of(city)
            first = f"{where}, {far:,} kilometres {way} of the capital, {capital.name}."
        rows = tuple(
            (f"[[{other.name}]]", city.direction_of(other), f"{city.distance_km(other):,}")
            for other in nearby
        )
        table = DraftTable(
            f"Nearest cities to {city.name} in this encyclopedia",
            ("City", "Direction", "Distance (km)"),
            rows,
        )
        return (f"{first} Standard time is {city.utc_offset}.", table)

    def _nearby(self, city: City) -> tuple[City, ...]:
        others = (other for other in self._cities.values() if other != city)
        return tuple(
            sorted(others, key=lambda other: (city.distance_km(other), other.name))[:NEARBY]
        )

    def _population(self, city: City, country: Country) -> tuple[DraftBlock, ...]:
        ranked = self._gazetteer.cities[country.code]
        rank = ranked.index(city) + 1
        share = 100 * city.population / country.population
        words = f"GeoNames counts {city.population:,} inhabitants in the city proper"
        if rank == 1:
            words += f", more than in any other city of {in_prose(country)}"
        elif rank <= RANKED:
            words += f", which makes it number {rank} among the cities of {in_prose(country)}"
        tail = f", or {share:.1f} per cent of the country's people" if share >= 0.5 else ""
        return (f"{words}{tail}. See also the [[List of cities by population]].",)


def _coordinates(city: City) -> str:
    north = "N" if city.latitude >= 0 else "S"
    east = "E" if city.longitude >= 0 else "W"
    return f"{abs(city.latitude):.2f}° {north}, {abs(city.longitude):.2f}° {east}"
