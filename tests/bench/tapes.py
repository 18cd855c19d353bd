"""What tapes cost: a page from a tape against the staged page, and a page load that is recorded.

::

    python -m bench tapes
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median
from typing import Final

from bench.figures import Figure
from bench.gateway import CHROMIUM_ARGUMENTS, load_page
from playwright.async_api import BrowserContext, async_playwright

from arena_core.worlds import World
from orchestrator.browser.session.tape_recorder import TapeRecorder
from orchestrator.gateway.policy import Policy, Route
from orchestrator.gateway.server import Gateway
from orchestrator.gateway.tapes.hosts import site_tape, taped_routes
from orchestrator.gateway.tapes.replay import TapeReplay
from orchestrator.gateway.tapes.wacz import TapeNotes, open_tape
from orchestrator.gateway.tapes.writing import write_tape
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.staged_origins import Authority, StagedOrigins, staged_origins
from sites.registry import load_registry
from sites.upstreams import TapeUpstream

_PAGES: Final = ("/wiki/Kettle", "/wiki/Belgium", "/wiki/Main_Page")
_LOADS: Final = 15
_REPLAY: Final = 1.0
_RECORDING: Final = 1.25


async def tape_figures(loads: int = _LOADS) -> list[Figure]:
    """Measure page loads in Chromium, up to the load event: from a tape, staged, recorded."""
    registry = load_registry(())
    wiki = registry.site("wiki")
    if wiki.live is None:
        raise AssertionError
    staged = registry.upstreams(["wiki"], World.ONLINE, staged=True).staged
    urls = [f"{wiki.live.origin}{path}" for path in _PAGES]
    async with AsyncExitStack() as stack:
        engine = await stack.enter_async_context(await Engine.connect())
        origins = await stack.enter_async_context(staged_origins(engine, staged, "bench-tapes"))
        authority = Authority()
        playwright = await stack.enter_async_context(async_playwright())
        trusted = f"--ignore-certificate-errors-spki-list={origins.spki},{authority.spki}"
        browser = await playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=[*CHROMIUM_ARGUMENTS, trusted]
        )
        stack.push_async_callback(browser.close)
        live = await stack.enter_async_context(Gateway.open(_live(origins)))
        plain = await browser.new_context(proxy={"server": live.url})
        recorded = await browser.new_context(proxy={"server": live.url})
        recorder = TapeRecorder(wiki.live.host, lambda _: True)
        recorder.follow(recorded)
        for url in urls:
            await load_page(recorded, url)
        await recorder.drained()
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        write_tape(folder / "t.wacz", recorder.exchanges, title="bench", notes=TapeNotes())
        tape = stack.enter_context(open_tape(folder / "t.wacz"))
        upstream = TapeUpstream(wiki, wiki.live)
        ready = site_tape(
            tape, upstream, TapeReplay(tape, registry.logical), authority.server_context
        )
        routes = taped_routes([upstream], {"wiki": ready})
        gateway = await stack.enter_async_context(Gateway.open(Policy(routes)))
        taped = await browser.new_context(proxy={"server": gateway.url})
        times: dict[BrowserContext, list[float]] = {taped: [], plain: [], recorded: []}
        for number in range(-len(urls), loads):  # each page once before it counts
            for context, spent in times.items():
                took = await load_page(context, urls[number % len(urls)])
                if number >= 0:
                    spent.append(took)
        await recorder.drained()
    direct = median(times[plain])
    return [
        _figure("tapes: ms per page from a tape (p50)", median(times[taped]), direct, _REPLAY),
        _figure("tapes: ms per page recorded (p50)", median(times[recorded]), direct, _RECORDING),
    ]


def _live(origins: StagedOrigins) -> Policy:
    (resolve,) = origins.resolves
    route = Route(
        site="wiki", live=True, host=resolve.host, port=resolve.port, connect_to=None, pace_s=0.0
    )
    return Policy((route,)).resolved(origins.resolves)


def _figure(name: str, ours: float, reference: float, most: float) -> Figure:
    return Figure(
        name,
        round(ours, 1),
        round(reference, 1),
        round(ours / reference, 3),
        f"at most {most:.2f}× the staged page",
        met=ours <= most * reference,
    )
