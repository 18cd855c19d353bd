"""What the pages know of the map: places by words, by coordinates, by number."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from nominatim_api import NominatimAPIAsync
from nominatim_api.localization import Locales
from nominatim_api.results import BaseResult
from nominatim_api.types import Bbox, DataLayer, PlaceID

from mapsite.kinds import kind_of
from mapsite.nearest import nearest_of

_KINDS = {"N": "node", "W": "way", "R": "relation"}
_LATLON = re.compile(r"^\s*(-?\d+(?:\.\d+)?)\s*[,;\s]\s*(-?\d+(?:\.\d+)?)\s*$")
_ENGLISH = Locales(["en"])
_MOST = 40
# From which zoom on an address, a suburb, a county is told, and its rank in Nominatim's terms.
_RANKS = ((18, 30), (14, 22), (10, 16))


@dataclass(frozen=True, slots=True)
class View:
    """What the visitor's map shows."""

    lat: float
    lon: float
    zoom: int

    def box(self) -> Bbox:
        """Return about what a window of 1,200 by 800 dots shows there."""
        wide, high = 1200 / 256 * 360 / 2**self.zoom, 800 / 256 * 230 / 2**self.zoom
        return Bbox(
            self.lon - wide / 2, self.lat - high / 2, self.lon + wide / 2, self.lat + high / 2
        )


# Where a visitor is who has not looked at the map yet: in the middle of Port Merrow.
_MARKET_SQUARE = View(lat=50.8222, lon=-4.6582, zoom=16)
_REGION = Bbox(-5.2, 50.5, -4.0, 51.2)
_ALL = 1000
_NO_PLACES = frozenset({"highway", "place", "boundary", "waterway", "landuse"})


@dataclass(frozen=True, slots=True)
class Found:
    """One place that was searched for.

    Attributes:
        kind: what it is, in words.
        path: of its page.
        name: its name and address, in one line.
    """

    kind: str
    path: str
    name: str
    lat: float
    lon: float
    zoom: int


@dataclass(frozen=True, slots=True)
class Object:
    """One node, way or relation as it was mapped.

    Attributes:
        members: kind, number and role of each; a way's nodes have no role.
        line: where a way or the ways of a relation lead: latitude, longitude.
    """

    kind: str
    number: int
    tags: Mapping[str, str]
    members: Sequence[tuple[str, int, str]]
    lat: float
    lon: float

    @property
    def title(self) -> str:
        """Its name, where it has one."""
        named = self.tags.get("name") or self.tags.get("addr:housename") or self.tags.get("ref")
        return f"{named} ({self.number})" if named else str(self.number)

    @property
    def label(self) -> str:
        """What it is and is called, as one says it."""
        return self.tags.get("name") or _address(self.tags) or f"{self.kind} {self.number}"

    @property
    def what(self) -> str:
        """What it is, in words."""
        for key in ("amenity", "shop", "tourism", "leisure", "office", "craft", "railway", "highway", "aeroway",
                    "natural", "landuse", "place", "historic", "man_made", "waterway", "boundary", "route"):  # fmt: skip
            if key in self.tags:
                return kind_of(key, self.tags[key])
        return "House" if "addr:housenumber" in self.tags else self.kind.capitalize()


class Atlas:
    """Questions to the database, over connections that may only read."""

    def __init__(self, api: NominatimAPIAsync) -> None:
        self._api = api

    async def search(self, words: str, view: View | None) -> list[Found]:
        """Return places that words describe, the best first; coordinates give what is there."""
        at = _LATLON.match(words)
        if at:
            return await self.where(float(at[1]), float(at[2]), 18)
        nearest = nearest_of(words)
        if nearest is None:
            box = view.box() if view else None
            results = await self._api.search(
                words, max_results=_MOST, address_details=True, viewbox=box
            )
            if results:
                return _listed(results)
        return await self._nearest(nearest or words, view or _MARKET_SQUARE)

    async def _nearest(self, kind: str, view: View) -> list[Found]:
        """Return the places of a kind ("pub"), the nearest to the middle of the view first.

        The geocoder finds a kind only where it is told the part of the map, and sorts by no distance.
        """
        found = await self._api.search(
            kind, max_results=_ALL, viewbox=_REGION, bounded_viewbox=True
        )
        places = [one for one in found if one.category[0] not in _NO_PLACES]
        places.sort(
            key=lambda one: (
                (one.lat - view.lat) ** 2 + ((one.lon - view.lon) * 0.632) ** 2,
                one.place_id,
            )
        )
        results = [
            await self._api.details(PlaceID(one.place_id), address_details=True)
            for one in places[:_MOST]
        ]
        return _listed([one for one in results if one is not None])

    async def where(self, lat: float, lon: float, zoom: int) -> list[Found]:
        """Return what stands at a place, from the address up to the county."""
        found: list[Found] = []
        for rank in (rank for least, rank in _RANKS if least <= max(zoom, 10)):
            one = await self._there(lat, lon, rank)
            if one is not None and one not in found:
                found.append(one)
        return found

    async def label(self, lat: float, lon: float) -> str:
        """Return the name and address of what is at a place, or its coordinates."""
        for _, rank in _RANKS:
            one = await self._there(lat, lon, rank)
            if one is not None:
                return one.name
        return f"{lat:.5f}, {lon:.5f}"

    async def _there(self, lat: float, lon: float, rank: int) -> Found | None:
        result = await self._api.reverse(
            (lon, lat),
            max_rank=rank,
            address_details=True,
            layers=DataLayer.ADDRESS | DataLayer.POI,
        )
        if result is None:
            return None
        _localize(result)
        return _found(result)

    async def address(self, kind: str, number: int) -> str:
        """Return the address of an object that the geocoder knows, else nothing."""
        results = await self._api.lookup([_ref(kind, number)], address_details=True)
        for result in results:
            _localize(result)
            return result.display_name or ""
        return ""

    async def object(self, kind: str, number: int) -> Object | None:
        """Return one object, or None where there is no such."""
        rows = await self._rows(
            "SELECT kind, id, tags, members, lon, lat FROM osm.object WHERE kind = :kind AND id = :number",
            kind=kind, number=number,
        )  # fmt: skip
        return _object(rows[0]) if rows else None

    async def parents(self, one: Object) -> list[Object]:
        """Return the ways and relations that an object is part of."""
        way_holds = json.dumps([one.number]) if one.kind == "node" else "[-1]"
        rows = await self._rows(
            "SELECT kind, id, tags, NULL, lon, lat FROM osm.object"
            " WHERE kind = 'way' AND members @> CAST(:holds AS jsonb)"
            " OR kind = 'relation' AND EXISTS (SELECT FROM jsonb_array_elements(members) AS m"
            "   WHERE m->>0 = :kind AND (m->>1)::bigint = :number) ORDER BY kind DESC, id",
            holds=way_holds, kind=one.kind, number=one.number,
        )  # fmt: skip
        return [_object(row) for row in rows]

    async def lines(self, one: Object) -> list[list[list[float]]]:
        """Return where an object is, as lines of latitude and longitude: none for a node."""
        ways = {"way": [one.number], "relation": [n for k, n, _ in one.members if k == "way"]}.get(
            one.kind, []
        )
        if not ways:
            return []
        rows = await self._rows(
            "SELECT w.id, n.lat, n.lon FROM osm.object w, jsonb_array_elements(w.members) WITH ORDINALITY AS m(id, at),"
            " osm.object n WHERE w.kind = 'way' AND w.id = ANY(:ways) AND n.kind = 'node' AND n.id = m.id::text::bigint"
            " ORDER BY w.id, m.at",
            ways=ways,
        )
        lines: dict[int, list[list[float]]] = {}
        for way, lat, lon in rows:
            lines.setdefault(int(str(way)), []).append([float(str(lat)), float(str(lon))])
        return list(lines.values())

    async def members(self, one: Object) -> list[Object]:
        """Return an object's members, with their tags, in order."""
        found: dict[tuple[str, int], Object] = {}
        for kind in ("node", "way", "relation"):
            ids = [number for member, number, _ in one.members if member == kind]
            if ids:
                rows = await self._rows(
                    "SELECT kind, id, tags, NULL, lon, lat FROM osm.object WHERE kind = :kind AND id = ANY(:ids)",
                    kind=kind, ids=ids,
                )  # fmt: skip
                found.update({(kind, made.number): made for made in map(_object, rows)})
        return [found[member[:2]] for member in one.members if member[:2] in found]

    async def bordering(self, one: Object) -> list[Object]:
        """Return the regions of the same level that share a border with a region, by name.

        Those that only touch it at a corner do not border on it.
        """
        if one.kind != "relation" or one.tags.get("boundary") != "administrative":
            return []
        rows = await self._rows(
            "SELECT o.kind, o.id, o.tags, o.members, o.lon, o.lat FROM placex a JOIN placex b ON b.osm_type = 'R'"
            " AND b.class = 'boundary' AND b.admin_level = a.admin_level AND b.osm_id <> a.osm_id"
            " AND ST_Intersects(b.geometry, a.geometry)"
            " AND ST_Dimension(ST_Intersection(ST_Boundary(a.geometry), ST_Boundary(b.geometry))) = 1"
            " JOIN osm.object o ON o.kind = 'relation' AND o.id = b.osm_id"
            " WHERE a.osm_type = 'R' AND a.class = 'boundary' AND a.osm_id = :number ORDER BY o.name",
            number=one.number,
        )  # fmt: skip
        return [_object(row) for row in rows]

    async def near(self, lat: float, lon: float, metres: float, most: int = 20) -> list[Object]:
        """Return what is mapped within a distance, the nearest first."""
        high, wide = metres / 111_320, metres / 70_300
        rows = await self._rows(
            "SELECT kind, id, tags, members, lon, lat FROM osm.object"
            " WHERE lat BETWEEN :lat - :high AND :lat + :high AND lon BETWEEN :lon - :wide AND :lon + :wide"
            " AND tags <> '{}' AND NOT tags ? 'boundary'"
            " ORDER BY (lat - :lat) ^ 2 + ((lon - :lon) * 0.632) ^ 2, kind, id LIMIT :most",
            lat=lat, lon=lon, high=high, wide=wide, most=most,
        )  # fmt: skip
        return [_object(row) for row in rows]

    async def count(self) -> int:
        """Return how many objects have a name: proves the database."""
        return int(
            str((await self._rows("SELECT count(*) FROM osm.object WHERE name IS NOT NULL"))[0][0])
        )

    async def _rows(self, sql: str, **values: Any) -> Sequence[Sequence[Any]]:
        async with self._api.begin() as connection:
            return (await connection.connection.execute(sa.text(sql), values)).fetchall()


def _listed(results: Iterable[BaseResult]) -> list[Found]:
    """Return each place once: a street is one result however many pieces it is mapped in."""
    listed: dict[str, Found] = {}
    for result in results:
        _localize(result)
        one = _found(result)
        listed.setdefault(f"{one.kind} {one.name}", one)
    return list(listed.values())


def _localize(result: BaseResult) -> None:
    _ENGLISH.localize_results([result])


def _found(result: BaseResult) -> Found:
    kind, number = result.osm_object or ("N", 0)
    path = f"/{_KINDS[kind]}/{number}" if number else ""
    category, value = result.category
    zoom = (
        18
        if result.rank_search >= 28
        else 17
        if result.rank_search >= 26
        else 14
        if result.rank_search >= 18
        else 13
    )
    return Found(
        kind_of(category, value), path, result.display_name or "", result.lat, result.lon, zoom
    )


def _ref(kind: str, number: int) -> object:
    from nominatim_api.types import OsmID

    return OsmID(kind[0].upper(), number)


def _object(row: Sequence[object]) -> Object:
    kind, number, tags, members, lon, lat = row
    made: list[tuple[str, int, str]] = [
        ("node", member, "") if isinstance(member, int) else (member[0], member[1], member[2])
        for member in (members if isinstance(members, list) else [])
    ]
    if not isinstance(tags, dict):
        message = f"{kind} {number} has tags that are none"
        raise TypeError(message)
    return Object(str(kind), int(str(number)), tags, made, float(str(lat)), float(str(lon)))


def _address(tags: Mapping[str, str]) -> str:
    number, street = tags.get("addr:housenumber"), tags.get("addr:street")
    return f"{number} {street}" if number and street else ""
