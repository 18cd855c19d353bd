"""The front page, what is near a place, short links, and the page that proves the site is there."""

from __future__ import annotations

import asyncio

import falcon
from falcon.asgi import Request, Response

from mapsite.atlas import Atlas
from mapsite.directions import ENGINES
from mapsite.shortlink import decode
from mapsite.web import number_of, show


class HomePage:
    """The map, with a marker where the URL asks for one (?mlat=…&mlon=…)."""

    def __init__(self, atlas: Atlas) -> None:
        self._atlas = atlas

    async def on_get(self, req: Request, resp: Response) -> None:
        """Show the map; what part of it, the page reads from the URL's fragment."""
        lat, lon = number_of(req, "mlat"), number_of(req, "mlon")
        shape = None
        if lat is not None and lon is not None:
            shape = {"markers": [[lat, lon, "Marker"]], "zoom": int(number_of(req, "zoom") or 16)}
        show(resp, "home.html", "", shape=shape)


class QueryPage:
    """What is within 25 metres of a place, and what the place is in."""

    def __init__(self, atlas: Atlas) -> None:
        self._atlas = atlas

    async def on_get(self, req: Request, resp: Response) -> None:
        """List objects, the nearest first."""
        lat, lon = number_of(req, "lat"), number_of(req, "lon")
        if lat is None or lon is None:
            raise falcon.HTTPBadRequest(description="lat and lon are needed, in degrees")
        near = await self._atlas.near(lat, lon, 25)
        around = await self._atlas.where(lat, lon, 18)
        shape = {"markers": [[lat, lon, "Query"]], "zoom": 18}
        show(resp, "query.html", "Query Features", near=near, around=around, shape=shape)


class HealthPage:
    """Ready once the database, the geocoder and all three routers answer."""

    def __init__(self, atlas: Atlas) -> None:
        self._atlas = atlas

    async def on_get(self, req: Request, resp: Response) -> None:
        """Answer `ready`, or fail."""
        found = await self._atlas.search("Market Square, Port Merrow", None)
        for _, port in ENGINES.values():
            async with asyncio.timeout(5):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
        resp.content_type = falcon.MEDIA_TEXT
        named = await self._atlas.count()
        resp.text = f"ready: {named} named objects" if found and named else "not ready"
        resp.status = falcon.HTTP_200 if found and named else falcon.HTTP_503


class ShortLink:
    """/go/CODE?m: leads to the part of the map that the code stands for."""

    async def on_get(self, req: Request, resp: Response, code: str) -> None:
        """Redirect to the map, or fail on what is no code."""
        place = decode(code)
        if place is None:
            raise falcon.HTTPNotFound
        lon, lat, zoom = place
        marker = (
            f"?mlat={lat:.5f}&mlon={lon:.5f}"
            if "m" in req.params or req.query_string == "m"
            else ""
        )
        msg = f"/{marker}#map={zoom}/{lat:.5f}/{lon:.5f}"
        raise falcon.HTTPFound(msg)
