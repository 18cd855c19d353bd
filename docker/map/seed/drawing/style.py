"""How the map looks: Mapnik's XML, made from tables of colours and widths by zoom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

LAND, WATER = "#f2efe9", "#aad3df"
MERCATOR = "+proj=merc +a=6378137 +b=6378137 +lat_ts=0 +lon_0=0 +x_0=0 +y_0=0 +k=1 +units=m +nadgrids=@null +wktext +no_defs"
_DEGREES = "+proj=longlat +datum=WGS84 +no_defs"
_WHOLE_WORLD = 559_082_264.0  # scale's denominator at zoom 0
_FACE, _BOLD = "DejaVu Sans Book", "DejaVu Sans Bold"

Rule = str

_AREAS: Sequence[tuple[str, str, int]] = (  # kind, colour, from zoom; drawn in this order
    ("retail", "#ffd6d1", 13), ("industrial", "#ebdbe8", 12), ("allotments", "#c9e1bf", 13),
    ("cemetery", "#aacbaf", 13), ("school", "#ffffe5", 13), ("college", "#ffffe5", 13),
    ("hospital", "#ffffe5", 13), ("aerodrome", "#e9e7e2", 10), ("wood", "#add19e", 10),
    ("beach", "#fff1ba", 11), ("park", "#c8facc", 12), ("pitch", "#88e0be", 14),
    ("parking", "#eeeeee", 14), ("castle", "#d9c9b4", 13), ("square", "#dddde8", 14),
    ("terminal", "#c5b8c9", 13),
)  # fmt: skip

# kind: fill, casing, the zoom it begins at, its widths from zoom 10 to 17
_ROADS: Mapping[str, tuple[str, str, int, Sequence[float]]] = {
    "footway": ("#fa8072", "", 14, (0, 0, 0, 0, 0.8, 1, 1.3, 1.8)),
    "cycleway": ("#4a64ff", "", 13, (0, 0, 0, 0.7, 0.9, 1, 1.3, 1.8)),
    "pedestrian": ("#dddde8", "#999999", 14, (0, 0, 0, 0, 2, 4, 7, 11)),
    "living_street": ("#ededed", "#c5c5c5", 13, (0, 0, 0, 1, 2.5, 5, 8, 13)),
    "residential": ("#ffffff", "#bbbbbb", 12, (0, 0, 0.5, 1.6, 2.8, 5, 8, 13)),
    "tertiary": ("#ffffff", "#8f8f8f", 11, (0, 0.7, 1.2, 2.5, 4, 7, 10, 16)),
    "secondary": ("#f7fabf", "#707d05", 10, (0.8, 1.2, 2.2, 4, 5.5, 9, 12, 18)),
    "primary": ("#fcd6a4", "#a06b00", 10, (1.2, 1.8, 2.8, 4.6, 6.5, 10, 13, 19)),
    "trunk": ("#f9b29c", "#c84e2f", 10, (1.8, 2.4, 3.4, 5.2, 7, 11, 14, 20)),
}
_DASHED = frozenset({"footway", "cycleway"})
_DOTS: Mapping[str, str] = {
    "amenity": "#c77400", "shop": "#ac39ac", "tourism": "#0092da", "office": "#4863a0", "craft": "#7b5b3a",
    "leisure": "#0e8517", "minor": "#8a8a8a",
}  # fmt: skip


def stylesheet(folder: Path) -> str:
    """Return the map's XML; it reads its layers from the folder."""
    parts = [f'<Map background-color="{LAND}" srs="{MERCATOR}" buffer-size="256">']
    layers: list[tuple[str, str]] = []

    def layer(name: str, source: str, rules: Iterator[Rule] | Sequence[Rule]) -> None:
        parts.append(f'<Style name="{name}" filter-mode="all">{"".join(rules)}</Style>')
        layers.append((name, source))

    layer("areas", "areas", _areas())
    layer(
        "water",
        "areas",
        [_rule(10, 17, "[kind] = 'water'", f'<PolygonSymbolizer fill="{WATER}"/>')],
    )
    layer("buildings", "buildings", _buildings())
    layer("bounds", "lines", _bounds())
    layer("casings", "lines", _roads(casing=True))
    layer("fills", "lines", _roads(casing=False))
    layer("rails", "lines", _rails())
    layer(
        "arrows",
        "lines",
        [
            _rule(
                16,
                17,
                "[oneway] = 'yes'",
                '<MarkersSymbolizer placement="line" marker-type="arrow" width="7" height="4" spacing="90" fill="#6c70d5" stroke-width="0"/>',
            )
        ],
    )
    layer("places", "points", _places())
    layer("stations", "points", _stations())
    layer("names", "lines", _road_names())
    layer("area-names", "areas", _area_names())
    layer("pois", "points", _pois())
    layer("numbers", "numbers", [_rule(17, 17, "", _text("[number]", 8, "#8d7f75", halo=1))])
    for name, source in layers:
        data = f'<Datasource><Parameter name="type">geojson</Parameter><Parameter name="file">{folder}/{source}.geojson</Parameter></Datasource>'
        parts.append(
            f'<Layer name="{name}" srs="{_DEGREES}"><StyleName>{name}</StyleName>{data}</Layer>'
        )
    return "".join([*parts, "</Map>"])


def _rule(first: int, last: int, condition: str, symbol: str) -> Rule:
    most, least = _WHOLE_WORLD / 2**first * 1.4, _WHOLE_WORLD / 2**last * 0.7
    chosen = (
        f"<Filter>{condition.replace('<', '&lt;').replace('>', '&gt;')}</Filter>"
        if condition
        else ""
    )
    return f"<Rule>{chosen}<MinScaleDenominator>{least:.0f}</MinScaleDenominator><MaxScaleDenominator>{most:.0f}</MaxScaleDenominator>{symbol}</Rule>"


def _text(
    what: str, size: float, fill: str, *, face: str = _FACE, halo: float = 1.5, more: str = ""
) -> str:
    return (
        f'<TextSymbolizer face-name="{face}" size="{size}" fill="{fill}" halo-radius="{halo}" '
        f'halo-fill="rgba(255,255,255,0.8)" wrap-width="70" {more}>{what}</TextSymbolizer>'
    )


def _areas() -> Iterator[Rule]:
    for kind, colour, first in _AREAS:
        edge = f'<LineSymbolizer stroke="{colour}" stroke-width="0.6" stroke-opacity="0.9"/>'
        yield _rule(first, 17, f"[kind] = '{kind}'", f'<PolygonSymbolizer fill="{colour}"/>{edge}')


def _buildings() -> Iterator[Rule]:
    yield _rule(13, 14, "", '<PolygonSymbolizer fill="#e0d8d0"/>')
    yield _rule(
        15,
        17,
        "",
        '<PolygonSymbolizer fill="#d9d0c9"/><LineSymbolizer stroke="#c7b9ad" stroke-width="0.5"/>',
    )


def _bounds() -> Iterator[Rule]:
    line = '<LineSymbolizer stroke="#ac46ac" stroke-width="1.2" stroke-opacity="0.35" stroke-dasharray="9,3,2,3"/>'
    yield _rule(10, 17, "[kind] = 'boundary8' or [kind] = 'boundary6'", line)
    yield _rule(10, 17, "[kind] = 'river'", f'<LineSymbolizer stroke="{WATER}" stroke-width="2"/>')


def _roads(*, casing: bool) -> Iterator[Rule]:
    for kind, (fill, edge, first, widths) in _ROADS.items():
        for zoom in range(first, 18):
            width = widths[zoom - 10]
            if casing and edge and zoom >= 12:
                more = 2.4 if zoom > 13 else 1.2
                yield _rule(
                    zoom,
                    zoom,
                    f"[kind] = '{kind}' and [bridge] = 'yes'",
                    _line("#444444", width + more, "butt"),
                )
                yield _rule(
                    zoom,
                    zoom,
                    f"[kind] = '{kind}' and [bridge] = 'no'",
                    _line(edge, width + 1.2, "round"),
                )
            elif not casing:
                dash = 'stroke-dasharray="3,2"' if kind in _DASHED else ""
                yield _rule(
                    zoom,
                    zoom,
                    f"[kind] = '{kind}'",
                    _line(fill if zoom > 11 or not edge else edge, width, "round", dash),
                )


def _line(stroke: str, width: float, cap: str, more: str = "") -> str:
    return f'<LineSymbolizer stroke="{stroke}" stroke-width="{width:g}" stroke-linecap="{cap}" stroke-linejoin="round" {more}/>'


def _rails() -> Iterator[Rule]:
    yield _rule(10, 12, "[kind] = 'rail'", _line("#999999", 1.2, "butt"))
    yield _rule(
        13,
        17,
        "[kind] = 'rail'",
        _line("#707070", 3, "butt") + _line("#ffffff", 1.6, "butt", 'stroke-dasharray="8,8"'),
    )
    yield _rule(11, 17, "[kind] = 'runway'", _line("#bbbbcc", 9, "butt"))
    yield _rule(12, 17, "[kind] = 'taxiway'", _line("#bbbbcc", 3, "butt"))
    yield _rule(13, 17, "[kind] = 'pier'", _line("#f2efe9", 5, "butt"))


def _places() -> Iterator[Rule]:
    yield _rule(10, 14, "[kind] = 'city'", _text("[name]", 15, "#222222", face=_BOLD, halo=2))
    yield _rule(11, 15, "[kind] = 'village'", _text("[name]", 11, "#333333", halo=2))
    yield _rule(13, 16, "[kind] = 'suburb'", _text("[name]", 11, "#777777", halo=2))


def _stations() -> Iterator[Rule]:
    dot = '<MarkersSymbolizer marker-type="ellipse" width="8" height="8" fill="#7981b0" stroke="#ffffff" stroke-width="1" allow-overlap="true"/>'
    yield _rule(12, 17, "[group] = 'railway'", dot)
    yield _rule(
        13, 17, "[group] = 'railway'", _text("[name]", 10, "#515a8f", face=_BOLD, more='dy="9"')
    )


def _road_names() -> Iterator[Rule]:
    line = 'placement="line" max-char-angle-delta="30" spacing="420" minimum-distance="60"'
    yield _rule(
        12,
        14,
        "[ref] != ''",
        _text("[ref]", 9, "#7a3a00", face=_BOLD, more='placement="line" spacing="300"'),
    )
    yield _rule(
        14,
        14,
        "[kind] = 'primary' or [kind] = 'secondary' or [kind] = 'trunk'",
        _text("[name]", 9, "#333333", more=line),
    )
    yield _rule(15, 15, "[kind] != 'rail'", _text("[name]", 9, "#333333", more=line))
    yield _rule(16, 17, "[kind] != 'rail'", _text("[name]", 10, "#222222", more=line))
    yield _rule(13, 17, "[kind] = 'river'", _text("[name]", 11, "#4b87a5", more=line))


def _area_names() -> Iterator[Rule]:
    yield _rule(12, 15, "[kind] = 'wood' or [kind] = 'water'", _text("[name]", 9, "#4e7a3e"))
    yield _rule(
        13,
        17,
        "[kind] = 'aerodrome' or [kind] = 'castle'",
        _text("[name]", 10, "#7a5aa0", face=_BOLD),
    )
    yield _rule(
        15,
        17,
        "[kind] = 'park' or [kind] = 'beach' or [kind] = 'cemetery'",
        _text("[name]", 9, "#3b7a3f"),
    )
    yield _rule(
        15,
        17,
        "[kind] = 'school' or [kind] = 'hospital' or [kind] = 'college'",
        _text("[name]", 9, "#8a6d1a"),
    )
    yield _rule(
        16,
        17,
        "[kind] = 'industrial' or [kind] = 'retail' or [kind] = 'square'",
        _text("[name]", 9, "#7d5a78"),
    )


def _pois() -> Iterator[Rule]:
    for group, colour in _DOTS.items():
        size = 4 if group == "minor" else 7
        dot = f'<MarkersSymbolizer marker-type="ellipse" width="{size}" height="{size}" fill="{colour}" stroke="#ffffff" stroke-width="0.8" allow-overlap="false" ignore-placement="false"/>'
        label = _text(
            "[name]", 8.5, colour, more='dy="7" placement-type="simple" placements="S,N,E,W,8"'
        )
        if group == "minor":
            yield _rule(17, 17, f"[group] = '{group}'", dot)
            continue
        if group == "tourism":
            yield _rule(14, 15, "[kind] = 'museum' or [kind] = 'gallery'", dot + label)
        yield _rule(16, 16, f"[group] = '{group}'", dot)
        yield _rule(17, 17, f"[group] = '{group}'", dot + label)
