"""The application: this site's pages, and Nominatim's own API below /nominatim/."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import falcon.asgi
from nominatim_api import NominatimAPIAsync
from nominatim_api.server.falcon.server import get_application

from mapsite.atlas import Atlas
from mapsite.directions import DirectionsPage
from mapsite.objects import ObjectData, ObjectPage
from mapsite.pages import HealthPage, HomePage, QueryPage, ShortLink
from mapsite.search import SearchPage

PROJECT = Path("/srv/map/nominatim")
_API = "/nominatim"


def _pages(atlas: Atlas) -> falcon.asgi.App:
    app = falcon.asgi.App()
    app.req_options.strip_url_path_trailing_slash = True
    app.add_route("/", HomePage(atlas))
    app.add_route("/health", HealthPage(atlas))
    app.add_route("/search", SearchPage(atlas))
    app.add_route("/directions", DirectionsPage(atlas))
    app.add_route("/query", QueryPage(atlas))
    app.add_route("/go/{code}", ShortLink())
    for kind in ("node", "way", "relation"):
        app.add_route(f"/{kind}/{{number:int}}", ObjectPage(atlas, kind))
        app.add_route(f"/api/0.6/{kind}/{{number:int}}.json", ObjectData(atlas, kind))
    return app


class Site:
    """Hands requests below /nominatim/ to Nominatim, without that prefix, and all others to the pages."""

    def __init__(self) -> None:
        self._pages = _pages(Atlas(NominatimAPIAsync(PROJECT)))
        self._nominatim = get_application(PROJECT)

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Answer one request, or start and end with the server."""
        if scope["type"] == "lifespan":
            await self._nominatim(scope, receive, send)
        elif scope["path"].startswith(_API + "/"):
            await self._nominatim({**scope, "path": scope["path"][len(_API) :]}, receive, send)
        else:
            await self._pages(scope, receive, send)


app = Site()
