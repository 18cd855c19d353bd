"""`python3 -m drawing LAYERS TILES`: draw every tile of the region, zooms 10 to 17."""

from __future__ import annotations

import math
import multiprocessing
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import mapnik

from drawing.style import LAND, stylesheet

WEST, SOUTH, EAST, NORTH = -4.775, 50.774, -4.432, 50.915
ZOOMS = range(10, 18)
_SIZE, _META = 256, 8
_WORLD = 20_037_508.342789244


class Sheet(NamedTuple):
    """Several tiles that are drawn at once, so that fewer names are cut."""

    zoom: int
    column: int
    row: int


def sheets() -> Iterator[Sheet]:
    """Yield the sheets that cover the region."""
    for zoom in ZOOMS:
        left, top, right, bottom = _reach(zoom)
        for column in range(left - left % _META, right + 1, _META):
            for row in range(top - top % _META, bottom + 1, _META):
                yield Sheet(zoom, column, row)


def _reach(zoom: int) -> tuple[int, int, int, int]:
    """Return the outermost tiles that are drawn: more than the region where that is little."""
    more = 4 if zoom <= 13 else 0
    left, top = _tile(WEST, NORTH, zoom)
    right, bottom = _tile(EAST, SOUTH, zoom)
    return left - more, top - more, right + more, bottom + more


def _tile(lon: float, lat: float, zoom: int) -> tuple[int, int]:
    """Return the tile that holds a place (slippy map tilenames)."""
    up = math.asinh(math.tan(math.radians(lat))) / math.pi
    return int((lon + 180) / 360 * 2**zoom), int((1 - up) / 2 * 2**zoom)


def _draw(sheet: Sheet) -> int:
    """Draw one sheet and write its tiles; those that show bare land are left out."""
    side = 2 * _WORLD / 2**sheet.zoom
    west, north = -_WORLD + sheet.column * side, _WORLD - sheet.row * side
    _canvas.zoom_to_box(mapnik.Box2d(west, north - side * _META, west + side * _META, north))
    image = mapnik.Image(_SIZE * _META, _SIZE * _META)
    mapnik.render(_canvas, image)
    left, top, right, bottom = _reach(sheet.zoom)
    written = 0
    for column in range(max(left, sheet.column), min(right + 1, sheet.column + _META)):
        for row in range(max(top, sheet.row), min(bottom + 1, sheet.row + _META)):
            at = ((column - sheet.column) * _SIZE, (row - sheet.row) * _SIZE)
            tile = image.view(*at, _SIZE, _SIZE).tostring("png8:c=64:z=6")
            if tile != _bare:
                path = _tiles / str(sheet.zoom) / str(column) / f"{row}.png"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(tile)
                written += 1
    return written


def _blank() -> bytes:
    image = mapnik.Image(_SIZE, _SIZE)
    image.fill(mapnik.Color(LAND))
    return bytes(image.tostring("png8:c=64:z=6"))


if __name__ == "__main__":
    mapnik.FontEngine.register_fonts("/usr/share/fonts/truetype/dejavu", True)
    _layers, _tiles = Path(sys.argv[1]), Path(sys.argv[2])
    _canvas = mapnik.Map(_SIZE * _META, _SIZE * _META)
    mapnik.load_map_from_string(_canvas, stylesheet(_layers))
    _bare = _blank()
    _tiles.mkdir(parents=True, exist_ok=True)
    (_tiles / "land.png").write_bytes(_bare)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print("tiles:", sum(pool.imap_unordered(_draw, sorted(sheets()), chunksize=1)))
