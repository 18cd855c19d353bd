from __future__ import annotations

from pathlib import Path

import pytest
from aiohttp import web
from browser.gateway.lab import Lab

from orchestrator.browser.session.tape_recorder import TapeRecorder
from orchestrator.gateway.policy import Route
from orchestrator.gateway.taped import TapedHost
from orchestrator.gateway.tapes.exchange import TapedExchange
from orchestrator.gateway.tapes.replay import TapeReplay
from orchestrator.gateway.tapes.wacz import TapeNotes, open_tape
from orchestrator.gateway.tapes.writing import write_tape

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

HOST = "shop.example.test"
PAGE = """<!DOCTYPE html><title>Kettles</title><img src=/1.gif>
<form method=post action=/login><input name=password value=secret><button>In</button></form>
<script>fetch('/facts', {method: 'POST', body: 'a=1'}).then(r => r.text())
.then(t => document.title += t)</script>"""


async def front(request: web.Request) -> web.Response:
    answer = web.Response(text=PAGE, content_type="text/html")
    answer.set_cookie("session", "very-secret")
    answer.enable_compression()
    return answer


async def facts(request: web.Request) -> web.Response:
    return web.Response(text=" boil")


async def entered(request: web.Request) -> web.Response:
    raise web.HTTPFound("/")


async def hidden(request: web.Request) -> web.Response:
    return web.Response(text="<title>hidden</title>", content_type="text/html")


async def recorded(lab: Lab) -> TapeRecorder:
    """Browse a site as a person would, and return what was recorded of it."""
    app = web.Application()
    app.add_routes(
        [
            web.get("/", front),
            web.get("/old", entered),
            web.get("/hidden", hidden),
            web.post("/facts", facts),
            web.post("/login", entered),
        ]
    )
    upstream = await lab.serve(app)
    gateway = await lab.gateway(
        Route(site="shop", live=False, host=HOST, port=80, connect_to=upstream)
    )
    page = await lab.page(gateway)
    recorder = TapeRecorder(HOST, lambda url: not url.endswith("/hidden"))
    recorder.follow(page.context)
    await page.goto(f"http://{HOST}/old")
    await page.wait_for_function("document.title === 'Kettles boil'")
    async with page.expect_navigation():  # the page before has that title too
        await page.click("button")
    await page.wait_for_function("document.title === 'Kettles boil'")
    await page.goto(f"http://{HOST}/hidden")
    await recorder.drained()
    return recorder


async def test_what_was_recorded_plays_again(lab: Lab, tmp_path: Path) -> None:
    recorder = await recorded(lab)
    path = tmp_path / "shop.wacz"
    write_tape(path, recorder.exchanges, title="shop", notes=TapeNotes(by="record"))

    with open_tape(path) as tape:
        host = TapedHost(TapeReplay(tape))
        route = Route(site="shop", live=False, host=HOST, port=80, connect_to=None, taped=host)
        shown = await lab.page(await lab.gateway(route))
        await shown.goto(f"http://{HOST}/old")
        await shown.wait_for_function("document.title === 'Kettles boil'")
        assert shown.url == f"http://{HOST}/"


async def test_no_secret_and_nothing_forbidden_is_recorded(lab: Lab) -> None:
    recorder = await recorded(lab)

    def whole(one: TapedExchange) -> str:
        return f"{one.url} {one.headers} {one.sent} {one.body!r} {one.sent_body!r}"

    kept = [whole(one) for one in recorder.exchanges]
    assert kept
    assert not any("very-secret" in one or "password=secret" in one for one in kept)
    places = {one.url.removeprefix(f"http://{HOST}") for one in recorder.exchanges}
    assert not {"/hidden", "/login"} & places
    assert (recorder.passed_over, recorder.secret) == (1, 1)
