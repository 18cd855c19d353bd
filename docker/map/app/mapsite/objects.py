"""/node/N, /way/N, /relation/N: one object with its tags, its address and what it belongs to."""

from __future__ import annotations

from urllib.parse import quote

import falcon
from falcon.asgi import Request, Response

from mapsite.atlas import Atlas, Object
from mapsite.web import show

_WIKI = "http://wiki.arena.test/wiki/A/"


class ObjectPage:
    """The page of one object."""

    def __init__(self, atlas: Atlas, kind: str) -> None:
        self._atlas, self._kind = atlas, kind

    async def on_get(self, req: Request, resp: Response, number: int) -> None:
        """Show an object, or say that there is none of that number."""
        one = await self._atlas.object(self._kind, number)
        if one is None:
            resp.status = falcon.HTTP_404
            show(resp, "missing.html", "Not found", what=f"{self._kind} #{number}")
            return
        lines = await self._atlas.lines(one)
        shape = (
            {"lines": lines} if lines else {"markers": [[one.lat, one.lon, one.label]], "zoom": 18}
        )
        show(
            resp, "object.html", f"{self._kind.capitalize()}: {one.title}",
            one=one, tags=[(key, value, link_of(key, value)) for key, value in sorted(one.tags.items())],
            address=await self._atlas.address(self._kind, number) if one.tags else "",
            parents=await self._atlas.parents(one), bordering=await self._atlas.bordering(one),
            members=_roles(one, await self._atlas.members(one)), shape=shape,
        )  # fmt: skip


class ObjectData:
    """The same as OpenStreetMap's API gives it, in JSON."""

    def __init__(self, atlas: Atlas, kind: str) -> None:
        self._atlas, self._kind = atlas, kind

    async def on_get(self, req: Request, resp: Response, number: int) -> None:
        """Answer with one element, or with 404."""
        one = await self._atlas.object(self._kind, number)
        if one is None:
            raise falcon.HTTPNotFound
        element: dict[str, object] = {"type": one.kind, "id": one.number, "tags": dict(one.tags)}
        match one.kind:
            case "node":
                element |= {"lat": one.lat, "lon": one.lon}
            case "way":
                element["nodes"] = [number for _, number, _ in one.members]
            case _:
                element["members"] = [{"type": k, "ref": n, "role": r} for k, n, r in one.members]
        resp.media = {"version": "0.6", "elements": [element]}


def link_of(key: str, value: str) -> str:
    """Return where a tag's value leads, or nothing."""
    if key in ("website", "contact:website", "url"):
        return value
    if key in ("phone", "contact:phone"):
        return "tel:" + value.replace(" ", "")
    if key.rsplit(":", maxsplit=1)[-1] == "wikipedia" and value.startswith("en:"):
        return _WIKI + quote(value[3:].replace(" ", "_"))
    return ""


def _roles(one: Object, members: list[Object]) -> list[tuple[Object, str]]:
    roles = {(kind, number): role for kind, number, role in one.members}
    return [(member, roles[member.kind, member.number]) for member in members]
