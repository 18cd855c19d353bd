"""What one step costs on a page of 300 rows, beside BrowserGym's own on the same page and Chromium.

BrowserGym is installed from PyPI into an environment of its own, which lasts from one bench to the
next in the user's cache.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bench.figures import Figure, Series, at_most, times_faster
from support.agents.foreign_clients import python_with

from arena_core.actions import Action, Click
from orchestrator.browser.observation import Observation
from orchestrator.browser.process.chromium import BrowserOptions
from orchestrator.browser.process.launch import launch
from orchestrator.browser.session.context import SessionOptions
from orchestrator.browser.session.session import Session
from orchestrator.gateway.policy import Policy, Route, SocketAddress
from orchestrator.gateway.server import Gateway

_BROWSERGYM: Final = "browsergym-core==0.14.3"
_PLAYWRIGHTS_CHROMIUM: Final = "chromium-1117/chrome-linux/chrome"
_ROWS: Final = 300
_STEPS: Final = 10
_SETTLE_S: Final = 10.0
_HOST: Final = "rows.arena.test"
_SCRIPT: Final = Path(__file__).parent / "peers" / "browsergym_steps.py"
_WITHOUT_DELAY: Final = "BrowserGym without its fixed delay"


def step_figures() -> list[Figure]:
    """Measure steps that do nothing and steps that click, ours and BrowserGym's in turns."""
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("no `chromium` on PATH")
    with rows_page() as port:
        theirs = _browsergym(f"http://127.0.0.1:{port}/", chromium)
        ours = asyncio.run(_ours(port, Path(chromium)))
    figures = []
    for what in ("noop", "click"):
        mine = Series(ours[what])
        named = f"a step of 300 rows, {what}, ms"
        figures += [
            times_faster(f"{named} (reference: BrowserGym)", mine, theirs["default"][what], 4),
            times_faster(
                f"{named} (reference: {_WITHOUT_DELAY})", mine, theirs[_WITHOUT_DELAY][what], 1
            ),
            at_most(f"{named} (reference: its goal)", mine, 300),
        ]
    return figures


def _rows() -> bytes:
    row = (
        "<tr><td>row {0}</td><td><a href='#r{0}'>Open row {0}</a></td><td>{0}.50</td>"
        "<td><button onclick=\"this.textContent='Mark row {0}'\">Mark row {0}</button></td></tr>"
    )
    table = "".join(row.format(number) for number in range(_ROWS))
    return f"<!doctype html><title>rows</title><table>{table}</table>".encode()


@contextmanager
def rows_page() -> Iterator[int]:
    """Serve the page on loopback, for both; yields the port."""
    body = _rows()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _browsergym(url: str, chromium: str) -> dict[str, dict[str, Series]]:
    """Let BrowserGym play its steps in a process of its own environment."""
    with _browsers(chromium) as folder:
        ended = subprocess.run(
            [python_with(_BROWSERGYM, [_BROWSERGYM]), _SCRIPT, url, str(_STEPS)],
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
            env={**os.environ, "PLAYWRIGHT_BROWSERS_PATH": str(folder)},
        )
    if ended.returncode != 0:
        sys.exit(f"BrowserGym's steps failed:\n{ended.stderr}")
    found = json.loads(ended.stdout.splitlines()[-1])
    return {
        how: {what: Series(values) for what, values in took.items()} for how, took in found.items()
    }


@contextmanager
def _browsers(chromium: str) -> Iterator[Path]:
    """Put our Chromium where BrowserGym's Playwright looks for its own, for page and chat."""
    with TemporaryDirectory(prefix="arena-bench-") as made:
        place = Path(made) / _PLAYWRIGHTS_CHROMIUM
        place.parent.mkdir(parents=True)
        place.symlink_to(chromium)
        yield Path(made)


async def _ours(port: int, chromium: Path) -> dict[str, list[float]]:
    """Play the same steps as an episode does: act, settle, observe; by way of a gateway."""
    policy = Policy(
        (
            Route(
                site="rows",
                live=False,
                host=_HOST,
                port=80,
                connect_to=SocketAddress("127.0.0.1", port),
            ),
        )
    )
    async with (
        launch(BrowserOptions(executable=chromium)) as browser,
        Gateway.open(policy, bind=await browser.listen()) as gateway,
        browser.session(SessionOptions(proxy_url=gateway.url)) as session,
    ):
        await session.open([f"http://{_HOST}/"])
        return await played(session)


async def played(session: Session) -> dict[str, list[float]]:
    """Return how long each step takes on the page of `rows_page`, in milliseconds."""
    took: dict[str, list[float]] = {"noop": [], "click": []}
    row = _row_of(await _step(session, None))
    for number in range(_STEPS + 1):
        for what, action in (("noop", None), ("click", Click(element=row))):
            began = time.perf_counter()
            seen = await _step(session, action)
            if number:
                took[what].append((time.perf_counter() - began) * 1000)
            if "row 299" not in seen.text:
                sys.exit(f"{what}: no whole page")
    return took


async def _step(session: Session, action: Action | None) -> Observation:
    error = None if action is None else await session.act(action)
    if error is not None:
        sys.exit(error)
    await session.settle(_SETTLE_S)
    return await session.observe(0)


def _row_of(seen: Observation) -> int:
    [button] = [
        node for node in seen.nodes if node.name == "Mark row 150" and node.role == "button"
    ]
    return button.id
