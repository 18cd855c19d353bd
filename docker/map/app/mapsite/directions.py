"""/directions: a route between two places by car, bicycle or on foot."""

from __future__ import annotations

import asyncio
import json
import re
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

import falcon
from falcon.asgi import Request, Response

from mapsite.atlas import Atlas
from mapsite.steps import Step, distance_text, steps_of, time_text
from mapsite.web import show, view_of

ENGINES: Mapping[str, tuple[str, int]] = {
    "fossgis_osrm_car": ("Car (OSRM)", 5000),
    "fossgis_osrm_bike": ("Bicycle (OSRM)", 5001),
    "fossgis_osrm_foot": ("Foot (OSRM)", 5002),
}
_DEFAULT = "fossgis_osrm_car"
_ANSWER_S = 10
_PAIR = re.compile(r"^(-?\d+(?:\.\d+)?),(-?\d+(?:\.\d+)?);(-?\d+(?:\.\d+)?),(-?\d+(?:\.\d+)?)$")


@dataclass(frozen=True, slots=True)
class Route:
    """A way between two places.

    Attributes:
        line: latitude, longitude.
    """

    distance: str
    time: str
    steps: list[Step]
    line: list[list[float]]


class DirectionsPage:
    """Takes words or coordinates for both ends; words become coordinates in the URL."""

    def __init__(self, atlas: Atlas) -> None:
        self._atlas = atlas

    async def on_get(self, req: Request, resp: Response) -> None:
        """Show the form, a route, or what could not be found."""
        engine = req.get_param("engine") or _DEFAULT
        engine = engine if engine in ENGINES else _DEFAULT
        start = (req.get_param("from") or req.get_param("route_from") or "").strip()
        end = (req.get_param("to") or req.get_param("route_to") or "").strip()
        ends = _PAIR.match(req.get_param("route") or "")
        problem, route, shape = "", None, None
        if ends is None and start and end:
            places = [await self._locate(words, req) for words in (start, end)]
            lost = [
                words for words, place in zip((start, end), places, strict=True) if place is None
            ]
            if not lost:
                pairs = ";".join(f"{place[0]:.5f},{place[1]:.5f}" for place in places if place)
                raise falcon.HTTPFound(
                    "/directions?" + urlencode({"engine": engine, "route": pairs}, safe=",;")
                )
            problem = " ".join(f"Sorry - couldn't locate '{words}'." for words in lost)
        elif ends is not None:
            lat1, lon1, lat2, lon2 = map(float, ends.groups())
            start, end, route = await asyncio.gather(
                self._atlas.label(lat1, lon1),
                self._atlas.label(lat2, lon2),
                asyncio.to_thread(_ask, engine, (lat1, lon1), (lat2, lon2)),
            )
            problem = "" if route else "Couldn't find a route between those two places."
            shape = {
                "ends": [[lat1, lon1, start], [lat2, lon2, end]],
                "line": route.line if route else [],
            }
        elif (start or end) and "from" in req.params and "to" in req.params:
            problem = "Please enter a start and an end."
        show(resp, "directions.html", "Directions", engines=[(name, told[0]) for name, told in ENGINES.items()],
             engine=engine, start=start, end=end, problem=problem, route=route, shape=shape)  # fmt: skip

    async def _locate(self, words: str, req: Request) -> tuple[float, float] | None:
        found = await self._atlas.search(words, view_of(req))
        return (found[0].lat, found[0].lon) if found else None


def _ask(engine: str, start: tuple[float, float], end: tuple[float, float]) -> Route | None:
    """Ask the router; blocking. None where there is no route."""
    ends = f"{start[1]:.6f},{start[0]:.6f};{end[1]:.6f},{end[0]:.6f}"
    url = f"http://127.0.0.1:{ENGINES[engine][1]}/route/v1/driving/{ends}?overview=full&geometries=geojson&steps=true"
    try:
        with urllib.request.urlopen(url, timeout=_ANSWER_S) as answer:
            told = json.load(answer)
    except urllib.error.HTTPError:
        return None
    found = told["routes"][0]
    line = [[lat, lon] for lon, lat in found["geometry"]["coordinates"]]
    return Route(
        distance_text(found["distance"]), time_text(found["duration"]), steps_of(found), line
    )
