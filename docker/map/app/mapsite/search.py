"""/search?query=WORDS and /search?lat=…&lon=…: what is called so, and what is there."""

from __future__ import annotations

from falcon.asgi import Request, Response

from mapsite.atlas import Atlas, Found
from mapsite.web import number_of, show, view_of

_A_PAGE = 10


class SearchPage:
    """Lists places, each as a link to its own page."""

    def __init__(self, atlas: Atlas) -> None:
        self._atlas = atlas

    async def on_get(self, req: Request, resp: Response) -> None:
        """Search by words, or by a place on the map."""
        words = (req.get_param("query") or "").strip()
        lat, lon = number_of(req, "lat"), number_of(req, "lon")
        if lat is not None and lon is not None:
            zoom = int(number_of(req, "zoom") or 18)
            found = await self._atlas.where(lat, lon, zoom)
            words = words or f"{lat:.5f}, {lon:.5f}"
        else:
            found = await self._atlas.search(words, view_of(req)) if words else []
        page = max(1, req.get_param_as_int("page") or 1)
        shown = found[(page - 1) * _A_PAGE : page * _A_PAGE]
        more = page + 1 if len(found) > page * _A_PAGE else None
        show(
            resp, "search.html", f"Search: {words}" if words else "Search",
            query=words, results=shown, first=(page - 1) * _A_PAGE + 1, more=more, shape=_shape(shown),
        )  # fmt: skip


def _shape(found: list[Found]) -> dict[str, object]:
    return {
        "markers": [[one.lat, one.lon, one.name] for one in found],
        "zoom": found[0].zoom if found else 12,
    }
