"""What the gateway costs: milliseconds added per request, and how much longer pages take to load.

::

    python -m bench.gateway                                           # per request
    python -m bench.gateway 127.0.0.1:18000 http://shop.arena.test/   # a replica's pages too
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from statistics import median
from urllib.parse import urlsplit

from bench.figures import Figure
from playwright.async_api import Browser, BrowserContext, async_playwright

from orchestrator.gateway.policy import Policy, Route, SocketAddress
from orchestrator.gateway.server import Gateway

_BODY_BYTES = 20_000
_REQUESTS = 2_000
_LOADS = 50
_GOAL_MS = 1.5
_HOST = "shop.arena.test"
CHROMIUM_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


async def request_figure() -> Figure:
    """Measure what the gateway adds to the p50 of 20 KB answers on one kept connection, in ms.

    Client, gateway and server share one event loop, so what is added is the gateway's work alone.
    The reference is the goal.
    """
    async with _server() as upstream:
        policy = Policy((_route(_HOST, upstream),))
        async with Gateway.open(policy) as gateway:
            through, direct = [], []
            for _ in range(4):  # in turns, so that a busy moment of the machine hits both
                direct += await _timed(upstream.port, "/")
                through += await _timed(urlsplit(gateway.url).port or 0, f"http://{_HOST}/")
    added = median(through) - median(direct)
    return Figure(
        "gateway: ms added per request (p50)",
        round(added, 3),
        _GOAL_MS,
        round(added / _GOAL_MS, 2),
        "at most 1.5 ms added",
        met=added <= _GOAL_MS,
    )


async def page_figure(
    urls: Sequence[str], upstream: SocketAddress, *, loads: int = _LOADS
) -> Figure:
    """Measure page loads in Chromium: p50 in ms, through the gateway and direct, in turns.

    Args:
        urls: pages of one plain http host, taken in turn.
        upstream: where that host's server listens; "direct" means that Chromium is told so.
        loads: of each kind; each is cold (cache off), up to the load event.
    """
    host = urlsplit(urls[0]).hostname or ""
    async with (
        async_playwright() as playwright,
        Gateway.open(Policy((_route(host, upstream),))) as gateway,
    ):
        browser = await playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=[*CHROMIUM_ARGUMENTS, f"--host-resolver-rules=MAP {host} {upstream}"],
        )
        ours, reference = await _load_in_turns(browser, gateway, urls, loads)
        await browser.close()
    return Figure(
        "gateway: ms per page load (p50)",
        round(ours, 1),
        round(reference, 1),
        round(ours / reference, 3),
        "at most 1.10× direct",
        met=ours <= 1.10 * reference,
    )


async def _load_in_turns(
    browser: Browser, gateway: Gateway, urls: Sequence[str], loads: int
) -> tuple[float, float]:
    through = await browser.new_context(proxy={"server": gateway.url})
    direct = await browser.new_context()
    times: dict[BrowserContext, list[float]] = {through: [], direct: []}
    for number in range(-len(urls), loads):  # each page once before it counts
        for context in (through, direct) if number % 2 else (direct, through):
            spent = await load_page(context, urls[number % len(urls)])
            if number >= 0:
                times[context].append(spent)
    return median(times[through]), median(times[direct])


async def load_page(context: BrowserContext, url: str) -> float:
    """Load a page in a new tab with an empty cache; return ms up to its load event."""
    page = await context.new_page()
    session = await context.new_cdp_session(page)
    await session.send("Network.enable")
    await session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    await page.goto(url, wait_until="load")
    spent: float = await page.evaluate(
        """() => new Promise(done => {
            const look = () => {
                const [navigation] = performance.getEntriesByType('navigation');
                navigation.loadEventEnd ? done(navigation.loadEventEnd) : setTimeout(look);
            };
            look();
        })"""
    )
    await page.close()
    return spent


def _route(host: str, upstream: SocketAddress) -> Route:
    return Route(site="bench", live=False, host=host, port=80, connect_to=upstream)


@asynccontextmanager
async def _server() -> AsyncIterator[SocketAddress]:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (_BODY_BYTES, b"x" * _BODY_BYTES)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                await reader.readuntil(b"\r\n\r\n")
                writer.write(answer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield SocketAddress("127.0.0.1", server.sockets[0].getsockname()[1])


async def _timed(port: int, target: str) -> list[float]:
    """Return the ms of each of many requests on one connection."""
    request = (
        f"GET {target} HTTP/1.1\r\nHost: {_HOST}\r\nProxy-Connection: keep-alive\r\n"
        "Upgrade-Insecure-Requests: 1\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\n"
        "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n"
        "Accept-Encoding: gzip, deflate\r\nAccept-Language: en-US\r\nCookie: sessionid=x\r\n\r\n"
    ).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    times = []
    for _ in range(_REQUESTS // 4):
        begun = time.perf_counter()
        writer.write(request)
        await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(_BODY_BYTES)
        times.append((time.perf_counter() - begun) * 1000)
    writer.close()
    await writer.wait_closed()
    return times


async def _main(arguments: Sequence[str]) -> None:
    figures = [await request_figure()]
    if arguments:
        host, _, port = arguments[0].rpartition(":")
        figures.append(await page_figure(arguments[1:], SocketAddress(host, int(port))))
    for figure in figures:
        sys.stdout.write(f"{figure}\n")


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1:]))
