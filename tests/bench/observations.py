"""What each form of observation costs on a page of 300 rows, beside the accessibility tree."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from bench.figures import Figure, Series, at_most

from orchestrator.browser.observation import AXTREE, HTML, IN_VIEWPORT, SCREENSHOT
from orchestrator.browser.observations.forms import OBSERVATIONS, load_form
from orchestrator.browser.process.chromium import BrowserOptions
from orchestrator.browser.process.launch import launch
from orchestrator.browser.session.context import SessionOptions
from orchestrator.browser.session.session import Session

_ROWS: Final = 300
_ROUNDS: Final = 7
_MOST_MS: Final = 120
_PICTURE_MS: Final = 80
_PAGE: Final = "<!doctype html><title>Orders</title><h1>Orders</h1><table>" + "".join(
    f"<tr><td><a href=/o/{n}>Order {n}</a><td>Ada Lovelace {n}<td>{n * 3}.50"
    f"<td><button>Edit</button><input type=checkbox>"
    for n in range(_ROWS)
)


async def observation_figures() -> list[Figure]:
    """Measure each form beside the tree; the tree's own time stands first, without a goal."""
    with _served() as url:
        async with (
            launch(BrowserOptions(isolated=False)) as browser,
            browser.session(SessionOptions(proxy_url=None)) as session,
        ):
            await session.open([url])
            await session.settle(10)
            return await _measured(session)


async def _measured(session: Session) -> list[Figure]:
    plain = [name for name in OBSERVATIONS.names() if name != AXTREE]
    names = [*plain, f"{AXTREE}{IN_VIEWPORT}", f"{HTML}{IN_VIEWPORT}"]
    await _times(session, [AXTREE, *names])
    figures = [at_most("axtree of 300 rows, ms", Series(await _times(session, [AXTREE])), 1000)]
    for name in names:
        alone, both = [], []
        for _ in range(_ROUNDS):
            alone += await _times(session, [AXTREE], 1)
            both += await _times(session, [AXTREE, name], 1)
        further = Series([two - one for one, two in zip(alone, both, strict=True)])
        most = _PICTURE_MS if name.startswith(SCREENSHOT) else _MOST_MS
        figures.append(at_most(f"{name} beside axtree, 300 rows, further ms", further, most))
    return figures


async def _times(session: Session, names: Sequence[str], rounds: int = _ROUNDS) -> list[float]:
    forms = {name: load_form(name) for name in names}
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        await session.observe(0, None, forms)
        times.append((time.perf_counter() - began) * 1000)
    return times


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(_PAGE.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def _served() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    serving = threading.Thread(target=server.serve_forever, args=(0.05,))
    serving.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        serving.join()
        server.server_close()
