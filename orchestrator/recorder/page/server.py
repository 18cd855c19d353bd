"""The routes of the recorder's page."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Final

from aiohttp import web

from orchestrator.local_page import serve_page
from orchestrator.recorder.page.desk import Desk, DraftSaid, MergeSaid

_MOST_BODY: Final = 200_000


def serve_desk(desk: Desk, port: int = 0) -> AbstractAsyncContextManager[str]:
    """Serve the page of a desk, as `serve_page` does."""

    async def recording(_: web.Request) -> web.Response:
        return web.json_response(desk.recording_shown())

    async def step(request: web.Request) -> web.Response:
        number = int(request.match_info["number"])
        return web.json_response({"checks": await desk.key_nodes(number)})

    async def picture(request: web.Request) -> web.Response:
        found = desk.picture(request.match_info["name"])
        if found is None:
            raise web.HTTPNotFound(text="there is no such picture")
        return web.Response(body=found, content_type="image/webp")

    async def merge(request: web.Request) -> web.Response:
        desk.merge(MergeSaid.model_validate_json(await request.read()))
        return web.json_response({})

    async def draft(request: web.Request) -> web.Response:
        return web.json_response(await desk.drafted(await _said(request)))

    async def stop(_: web.Request) -> web.Response:
        desk.stop()
        return web.json_response({})

    async def save(request: web.Request) -> web.Response:
        return web.json_response(await desk.save(await _said(request)))

    routes = (
        web.get("/api/recording", recording),
        web.get(r"/api/steps/{number:\d{1,4}}", step),
        web.get(r"/pictures/{name:step-\d{3}\.webp}", picture),
        web.post("/api/merge", merge),
        web.post("/api/draft", draft),
        web.post("/api/stop", stop),
        web.post("/api/save", save),
    )
    return serve_page("orchestrator.recorder.page", routes, port=port, most_bytes=_MOST_BODY)


async def _said(request: web.Request) -> DraftSaid:
    return DraftSaid.model_validate_json(await request.read())
