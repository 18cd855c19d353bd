"""Articles on countries and continents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from draft import Draft, DraftBlock, DraftBullets, DraftSection, DraftTable
from gazetteer import CONTINENTS, Country, Gazetteer
from handwritten import Entry
from table_files import table

LARGEST = 5
_TABLES = table("countries")
TERRITORIES: Mapping[str, str] = _TABLES["territories"]
WITH_ARTICLE = frozenset(_TABLES["with_article"])


class CountryWriter:
    """Writes one article per country from the gazetteer and the handwritten notes."""

    def __init__(
        self, gazetteer: Gazetteer, notes: Mapping[str, Entry], homes: Mapping[str, str]
    ) -> None:
        self._gazetteer = gazetteer
        self._notes = notes
        self._homes = homes
        self._by_area = _ranks(gazetteer, lambda country: country.area_km2)
        self._by_population = _ranks(gazetteer, lambda country: float(country.population))

    def drafts(self) -> Iterator[Draft]:
        """Yield the countries' articles, sorted by name."""
        for country in self._gazetteer.countries.values():
            yield self._draft(country)

    def _draft(self, country: Country) -> Draft:
        note = self._notes[country.code]
        return Draft(
            title=country.name,
            lead=(self._lead(country), note.lead) if note.lead else (self._lead(country),),
            facts=self._facts(country),
            sections=(
                DraftSection("Geography", self._geography(country)),
                *note.sections,
                DraftSection("Languages and money", (self._everyday(country),)),
                *self._cities(country),
            ),
            see_also=self._see_also(country),
            aliases=_aliases(country),
            topic=country.continent,
            proper=True,
        )

    def _lead(self, country: Country) -> str:
        name = f"{_article(country).capitalize()}**{_bare(country)}**"
        kind = TERRITORIES.get(country.code, f"a country in {country.continent}")
        people = f"{country.population:,}"
        if country.capital == country.name:
            return f"{name} is {kind} with {people} inhabitants."
        seat = "administrative centre" if country.code == "PS" else "capital"
        return (
            f"{name} is {kind}. Its {seat} is {country.capital}, and it has {people} "
            f"inhabitants on {_area(country)} square kilometres."
        )

    def _facts(self, country: Country) -> tuple[tuple[str, str], ...]:
        seat = "Administrative centre" if country.code == "PS" else "Capital"
        return (
            (seat, country.capital),
            ("Continent", country.continent),
            ("Area", f"{_area(country)} km²"),
            ("Population", f"{country.population:,}"),
            ("Density", f"{_density(country)} per km²"),
            ("Currency", f"{country.currency} ({country.currency_code})"),
            ("Languages", ", ".join(country.languages)),
            ("Calling code", country.phone),
            ("Internet domain", country.domain),
            ("ISO code", country.code),
        )

    def _geography(self, country: Country) -> tuple[DraftBlock, ...]:
        short = f"{_article(country).capitalize()}{_bare(country)}"
        total = len(self._gazetteer.countries)
        place = self._by_area[country.code]
        crowd = self._by_population[country.code]
        size = (
            f"{short} covers {_area(country)} square kilometres, which makes it number {place} of "
            f"{total} in the [[List of countries by area]]; by inhabitants it is number {crowd}. "
            f"On average {_density(country)} people live on a square kilometre."
        )
        names = self._neighbours(country)
        if not names:
            return (size, f"{short} has no land border with another country of this list.")
        if len(names) == 1:
            return (size, f"Its only land neighbour is {names[0]}.")
        return (size, f"It has land borders with {len(names)} countries:", DraftBullets(names))

    def _neighbours(self, country: Country) -> tuple[str, ...]:
        known = self._gazetteer.countries
        return tuple(sorted(link(known[code].name) for code in country.neighbours if code in known))

    def _everyday(self, country: Country) -> str:
        tongues = country.languages
        spoken = f"{', '.join(tongues[:-1])} and {tongues[-1]}" if tongues[1:] else tongues[0]
        noun = "Languages spoken there include" if tongues[1:] else "The chief language is"
        return (
            f"{noun} {spoken}. People pay with the {country.currency}, whose code is "
            f"{country.currency_code}. Telephone numbers begin with {country.phone}, and web "
            f"addresses may end in {country.domain}."
        )

    def _cities(self, country: Country) -> tuple[DraftSection, ...]:
        cities = self._gazetteer.cities[country.code][:LARGEST]
        if len(cities) < 2:
            return ()
        rows = tuple(
            (str(rank), self._city(city.name, country), f"{city.population:,}")
            for rank, city in enumerate(cities, start=1)
        )
        caption = f"Largest cities and towns of {in_prose(country)} in GeoNames"
        table = DraftTable(caption, ("Rank", "Name", "Population"), rows)
        return (DraftSection("Largest cities", (table,)),)

    def _city(self, name: str, country: Country) -> str:
        return f"[[{name}]]" if self._homes.get(name) == country.code else name

    def _see_also(self, country: Country) -> tuple[str, ...]:
        places = [
            country.capital,
            *(c.name for c in self._gazetteer.cities[country.code][:LARGEST]),
        ]
        local = dict.fromkeys(name for name in places if self._homes.get(name) == country.code)
        local.pop(country.name, None)
        return (
            *sorted(local),
            country.continent,
            "List of countries by area",
            "List of countries by population",
        )


def continents(
    gazetteer: Gazetteer, notes: Mapping[str, Entry], homes: Mapping[str, str]
) -> Iterator[Draft]:
    """Yield one article per inhabited continent."""
    for name in sorted(set(CONTINENTS.values()) - {"Antarctica"}):
        members = [one for one in gazetteer.countries.values() if one.continent == name]
        note = notes[name]
        rows = tuple(
            (link(one.name), _capital(one, homes), _area(one), f"{one.population:,}")
            for one in members
        )
        table = DraftTable(
            f"Countries of {name}", ("Country", "Capital", "Area (km²)", "Population"), rows
        )
        largest = max(members, key=lambda one: one.area_km2)
        crowded = max(members, key=lambda one: one.population)
        summary = (
            f"This encyclopedia counts {len(members)} countries and territories to {name}. The "
            f"largest by area is {link(largest.name)} and the most populous is "
            f"{link(crowded.name)}."
        )
        yield Draft(
            title=name,
            lead=(note.lead,),
            facts=(("Countries listed", str(len(members))), *note.facts),
            sections=(*note.sections, DraftSection("Countries", (summary, table))),
            see_also=tuple(sorted(set(CONTINENTS.values()) - {"Antarctica", name})),
            topic="Lists",
            proper=True,
        )


def _capital(country: Country, homes: Mapping[str, str]) -> str:
    known = homes.get(country.capital) == country.code
    return f"[[{country.capital}]]" if known else country.capital


def rankings(gazetteer: Gazetteer) -> Iterator[Draft]:
    """Yield the lists of countries by area and by population."""
    everyone = list(gazetteer.countries.values())
    by_area = sorted(everyone, key=lambda one: (-one.area_km2, one.name))
    by_people = sorted(everyone, key=lambda one: (-one.population, one.name))
    yield _ranking(
        "List of countries by area",
        "ranks countries and territories by their area in square kilometres",
        "Area (km²)",
        [(one.name, _area(one)) for one in by_area],
        "List of countries by population",
    )
    yield _ranking(
        "List of countries by population",
        "ranks countries and territories by the number of their inhabitants",
        "Population",
        [(one.name, f"{one.population:,}") for one in by_people],
        "List of countries by area",
    )


def _ranking(
    title: str, what: str, unit: str, rows: Sequence[tuple[str, str]], other: str
) -> Draft:
    lines = tuple(
        (str(rank), link(name), value) for rank, (name, value) in enumerate(rows, start=1)
    )
    method = (
        "All values come from GeoNames and are those of the countries' own articles. Equal values "
        "are ordered by name."
    )
    extremes = f"The list begins with {link(rows[0][0])} and ends with {link(rows[-1][0])}."
    return Draft(
        title=title,
        lead=(f"This **list of countries** {what}.",),
        facts=(("Entries", str(len(rows))), ("First", rows[0][0]), ("Last", rows[-1][0])),
        sections=(
            DraftSection("Method", (method,)),
            DraftSection("First and last", (extremes,)),
            DraftSection("Ranking", (DraftTable(title, ("Rank", "Country", unit), lines),)),
        ),
        see_also=(other, *sorted(set(CONTINENTS.values()) - {"Antarctica"})),
        topic="Lists",
        proper=True,
    )


def in_prose(country: Country) -> str:
    """Return a country's name as it stands within a sentence."""
    return f"{_article(country)}{_bare(country)}"


def _article(country: Country) -> str:
    return "the " if country.name.startswith("The ") or country.code in WITH_ARTICLE else ""


def _bare(country: Country) -> str:
    return _short(country).removeprefix("The ")


def _ranks(gazetteer: Gazetteer, key: Callable[[Country], float]) -> dict[str, int]:
    ordered = sorted(gazetteer.countries.values(), key=lambda one: (-key(one), one.name))
    return {country.code: rank for rank, country in enumerate(ordered, start=1)}


def _short(country: Country) -> str:
    return country.name.removesuffix(" (country)")


def _aliases(country: Country) -> tuple[str, ...]:
    if country.name.startswith("The "):
        return (country.name.removeprefix("The "),)
    return () if _short(country) == country.name else (_short(country),)


def link(name: str) -> str:
    """Return a marked link to a country's article, shown without what tells it apart."""
    short = name.removesuffix(" (country)")
    return f"[[{name}]]" if short == name else f"[[{name}|{short}]]"


def _area(country: Country) -> str:
    return f"{country.area_km2:,.0f}" if country.area_km2 >= 10 else f"{country.area_km2:g}"


def _density(country: Country) -> str:
    return f"{country.density:,.0f}" if country.density >= 10 else f"{country.density:.1f}"
