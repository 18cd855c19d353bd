"""What tiles are drawn from: GeoJSON by geometry, with the few properties that styles ask for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from region.build import Region
from region.geometry import Point
from region.osm import Osm

_AREA_KEYS = ("natural", "leisure", "landuse", "amenity", "aeroway", "historic", "place")
_LINE_KEYS = ("highway", "railway", "waterway", "aeroway", "man_made", "boundary")
_POINT_KEYS = (
    "amenity",
    "shop",
    "tourism",
    "office",
    "craft",
    "leisure",
    "highway",
    "railway",
    "man_made",
    "place",
)
_SMALL = frozenset({"post_box", "bicycle_parking", "recycling", "bus_stop"})

Feature = Mapping[str, object]


def write_layers(region: Region, folder: Path) -> None:
    """Write areas, lines, points, buildings and house numbers, each to a file of its own."""
    osm = region.osm
    _write(folder / "areas.geojson", _areas(osm))
    _write(folder / "lines.geojson", _lines(osm))
    _write(folder / "points.geojson", _points(osm))
    _write(
        folder / "buildings.geojson",
        (_feature("Polygon", [_pairs(ring)], {}) for ring in region.outlines),
    )
    numbers = (
        _feature("Point", _pair(house.at), {"number": house.number}) for house in region.houses
    )
    _write(folder / "numbers.geojson", numbers)


def _areas(osm: Osm) -> Iterator[Feature]:
    for way in osm.ways:
        closed = way.nodes[0] == way.nodes[-1] and len(way.nodes) > 3
        key = next((key for key in _AREA_KEYS if key in way.tags), None)
        if closed and key:
            yield _feature(
                "Polygon",
                [_pairs(osm.points(way))],
                {"kind": way.tags[key], "name": way.tags.get("name", "")},
            )


def _lines(osm: Osm) -> Iterator[Feature]:
    for way in osm.ways:
        closed = way.nodes[0] == way.nodes[-1]
        key = next((key for key in _LINE_KEYS if key in way.tags), None)
        if key and not (closed and key == "aeroway") and way.tags.get("area") != "yes":
            kind = way.tags[key] if key != "boundary" else f"boundary{way.tags['admin_level']}"
            told = {"kind": kind, "name": way.tags.get("name", ""), "ref": way.tags.get("ref", ""),
                    "bridge": way.tags.get("bridge", "no"), "oneway": way.tags.get("oneway", "no")}  # fmt: skip
            yield _feature("LineString", _pairs(osm.points(way)), told)


def _points(osm: Osm) -> Iterator[Feature]:
    for node in osm.nodes:
        key = next((key for key in _POINT_KEYS if key in node.tags), None)
        if key:
            kind = node.tags[key]
            group = "minor" if kind in _SMALL else key
            yield _feature(
                "Point",
                _pair(node.at),
                {"group": group, "kind": kind, "name": node.tags.get("name", "")},
            )


def _feature(kind: str, coordinates: object, properties: Mapping[str, str]) -> Feature:
    geometry = {"type": kind, "coordinates": coordinates}
    return {"type": "Feature", "properties": properties, "geometry": geometry}


def _pair(at: Point) -> list[float]:
    return [at.lon, at.lat]


def _pairs(points: Sequence[Point]) -> list[list[float]]:
    return [_pair(at) for at in points]


def _write(path: Path, features: Iterable[Feature]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write('{"type":"FeatureCollection","features":[\n')
        file.write(",\n".join(json.dumps(feature, ensure_ascii=False) for feature in features))
        file.write("\n]}\n")
