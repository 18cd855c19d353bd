from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest
from aiohttp import WSMsgType, web
from browser.gateway.lab import Lab
from playwright.async_api import Error, Page, Playwright
from support.sites.raw_http import MemoryPeak, Peer, Stage

from orchestrator.gateway.policy import Route, SocketAddress
from orchestrator.gateway.server import Gateway

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

MEGABYTES = 50
MEGABYTE = bytes(range(256)) * 4096
GIF = bytes.fromhex("47494638396101000100800000000000ffffff2c00000000010001000002024401003b")
PAGE = """<!DOCTYPE html><title>Kettles</title><link rel=stylesheet href=/style.css>
<h1>Kettles</h1><img src=/1.gif><img src=/2.gif><script src=/script.js></script>
<form method=post action=/basket><input name=item value=kettle><button>Add</button></form>"""


def shop_route(upstream: SocketAddress) -> Route:
    return Route(site="shop", live=False, host="shop.arena.test", port=80, connect_to=upstream)


async def front(request: web.Request) -> web.Response:
    return web.Response(text=PAGE, content_type="text/html")


async def style(request: web.Request) -> web.Response:
    return web.Response(text="h1 { color: rgb(1, 2, 3) }", content_type="text/css")


async def script(request: web.Request) -> web.Response:
    return web.Response(text="document.title += '!'", content_type="text/javascript")


async def picture(request: web.Request) -> web.Response:
    return web.Response(body=GIF, content_type="image/gif")


async def number(request: web.Request) -> web.Response:
    return web.Response(text=request.match_info["number"])


async def basket(request: web.Request) -> web.Response:
    form = await request.post()
    return web.Response(text=f"<p>added {form['item']!s}</p>", content_type="text/html")


async def echo(request: web.Request) -> web.WebSocketResponse:
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    async for message in socket:
        if message.type is WSMsgType.TEXT:
            await socket.send_str(message.data.upper())
    return socket


async def download(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Disposition": "attachment; filename=big.bin"})
    await response.prepare(request)
    for _ in range(MEGABYTES):
        await response.write(MEGABYTE)
    return response


def application(*more: web.RouteDef) -> web.Application:
    app = web.Application()
    app.add_routes(
        [
            web.get("/", front),
            web.get("/style.css", style),
            web.get("/script.js", script),
            web.get("/{name}.gif", picture),
            web.get("/number/{number}", number),
            web.post("/basket", basket),
            web.get("/echo", echo),
            web.get("/download", download),
            *more,
        ]
    )
    return app


async def shop(lab: Lab) -> tuple[Gateway, Page]:
    gateway = await lab.gateway(shop_route(await lab.serve(application())))
    return gateway, await lab.page(gateway)


async def test_a_page_comes_with_its_images_style_and_script(lab: Lab) -> None:
    gateway, page = await shop(lab)
    await page.goto("http://shop.arena.test/", wait_until="networkidle")

    assert await page.title() == "Kettles!"
    assert await page.evaluate("getComputedStyle(document.querySelector('h1')).color") == (
        "rgb(1, 2, 3)"
    )
    assert await page.evaluate("[...document.images].every(i => i.naturalWidth == 1)")
    assert await gateway.journal.quiet(30)
    exchanges = gateway.journal.since(0)
    assert {exchange.url.removeprefix("http://shop.arena.test/") for exchange in exchanges} >= {
        "", "style.css", "script.js", "1.gif", "2.gif"
    }  # fmt: skip
    assert gateway.journal.writes("shop") == 0


async def test_a_posted_form_is_counted_as_a_write(lab: Lab) -> None:
    gateway, page = await shop(lab)
    await page.goto("http://shop.arena.test/")
    await page.click("button")

    assert await page.inner_text("p") == "added kettle"
    assert gateway.journal.writes("shop") == 1


async def test_a_refused_host_is_a_page_that_the_agent_can_read(lab: Lab) -> None:
    _, page = await shop(lab)
    response = await page.goto("http://www.evil.test/offer?x=1")

    assert response is not None
    assert response.status == 403
    read = await page.inner_text("body")
    assert "www.evil.test is not a site of this task" in read
    await page.click("text=http://shop.arena.test/")
    assert await page.inner_text("h1") == "Kettles"


async def test_a_refused_https_host_is_a_failed_tunnel_and_noted(lab: Lab) -> None:
    gateway, page = await shop(lab)
    with pytest.raises(Error, match="ERR_TUNNEL_CONNECTION_FAILED"):
        await page.goto("https://www.evil.test/")

    refused = [exchange for exchange in gateway.journal.since(0) if exchange.refused]
    assert ("CONNECT", "www.evil.test:443") in {(one.method, one.url) for one in refused}


async def test_a_site_that_is_down_is_a_page_that_says_so(lab: Lab) -> None:
    gateway = await lab.gateway(shop_route(SocketAddress("127.0.0.1", 1)))
    page = await lab.page(gateway)
    response = await page.goto("http://shop.arena.test/")

    assert response is not None
    assert response.status == 502
    assert "no connection to 127.0.0.1:1" in await page.inner_text("body")


SPEAK = """url => new Promise((done, fail) => {
    const socket = new WebSocket(url);
    socket.onopen = () => socket.send('hello');
    socket.onmessage = event => { done(event.data); socket.close(); };
    socket.onerror = () => fail(new Error('no WebSocket'));
})"""


async def test_a_websocket_to_a_replica_echoes_and_counts_as_a_write(lab: Lab) -> None:
    gateway, page = await shop(lab)
    await page.goto("http://shop.arena.test/")

    assert await page.evaluate(SPEAK, "ws://shop.arena.test/echo") == "HELLO"
    assert gateway.journal.writes("shop") == 1


async def test_tls_to_a_live_host_is_tunnelled_to_where_resolve_says(lab: Lab) -> None:
    upstream = await lab.serve(application(), tls_host="wiki.example.org")
    gateway = await lab.gateway(
        Route(
            site="wiki", live=True, host="wiki.example.org", port=443, connect_to=upstream,
            read_only=True,
        )
    )  # fmt: skip
    page = await lab.page(gateway)
    await page.goto("https://wiki.example.org/", wait_until="networkidle")

    assert await page.title() == "Kettles!"
    assert await page.evaluate("isSecureContext")
    assert await page.evaluate(SPEAK, "wss://wiki.example.org/echo") == "HELLO"
    exchanges = gateway.journal.since(0)
    assert {(one.method, one.url, one.tunnelled) for one in exchanges if one.site} == {
        ("CONNECT", "wiki.example.org:443", True)
    }
    assert gateway.journal.in_flight == 0


async def test_a_hundred_parallel_requests_each_get_their_own_answer(lab: Lab) -> None:
    _, page = await shop(lab)
    await page.goto("http://shop.arena.test/")
    got = await page.evaluate(
        """() => Promise.all([...Array(100).keys()].map(
            number => fetch('/number/' + number).then(answer => answer.text())))"""
    )

    assert got == [str(number) for number in range(100)]


async def test_a_large_download_streams_in_bounded_memory(lab: Lab, tmp_path: Path) -> None:
    _, page = await shop(lab)
    await page.goto("http://shop.arena.test/")
    peak = MemoryPeak()
    async with page.expect_download() as begun:
        await page.evaluate("location.href = '/download'")
    await (await begun.value).save_as(tmp_path / "big.bin")

    assert peak.grown_by() < 25_000_000
    with (tmp_path / "big.bin").open("rb") as saved:
        assert all(saved.read(len(MEGABYTE)) == MEGABYTE for _ in range(MEGABYTES))
        assert saved.read() == b""


async def test_an_application_cannot_tell_the_gateway_from_a_direct_browser(
    lab: Lab, playwright: Playwright
) -> None:
    """The same page, once through the gateway and once without any proxy: the same bytes."""
    heads: list[bytes] = []

    async def keep_head(peer: Peer) -> None:
        heads.append(await peer.head())
        await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")

    async with Stage() as stage:
        server = await stage.server(keep_head)
        page = await lab.page(await lab.gateway(server.route()))
        await page.goto("http://shop.arena.test/kettle?q=1")
        direct = await playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", f"--host-resolver-rules=MAP * 127.0.0.1:{server.port}"],
        )
        await (await direct.new_page()).goto("http://shop.arena.test/kettle?q=1")
        await direct.close()

    seen = [head for head in heads if b"/kettle" in head.split(b"\r\n")[0]]
    assert len(seen) == 2
    assert seen[0] == seen[1]


async def test_a_context_that_closes_leaves_nothing_in_flight(lab: Lab) -> None:
    never = asyncio.Event()

    async def hang(request: web.Request) -> web.Response:
        await never.wait()
        return web.Response()

    upstream = await lab.serve(application(web.get("/hang", hang)))
    gateway = await lab.gateway(shop_route(upstream))
    page = await lab.page(gateway)
    await page.goto("http://shop.arena.test/")
    await gateway.journal.quiet(30)
    await page.evaluate("void fetch('/hang')")
    while not gateway.journal.in_flight:
        await gateway.journal.changed()
    await page.context.close()

    assert await gateway.journal.quiet(30)
    assert all(exchange.failed is None for exchange in gateway.journal.since(0))
