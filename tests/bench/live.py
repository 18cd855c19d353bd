"""What the live web costs: a canary's looks, the recorder's page, the watcher in a `cdp:` browser.

Tapes have a part of their own.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final
from unittest.mock import patch
from urllib.parse import urlsplit

from aiohttp import ClientSession
from bench.figures import Figure, Series, at_most, times_as_long
from bench.steps import played, rows_page
from support.recorder.made_recording import event, recording_of, row, step_of, write
from support.worlds.running_chromium import running_chromium

from orchestrator.authoring.recorder.desk import Desk, serve_desk
from orchestrator.authoring.recorder.recording import open_recording
from orchestrator.browser.process.kinds import RemoteAddress
from orchestrator.browser.process.remote import connect
from orchestrator.browser.session.context import SessionOptions
from orchestrator.browser.session.session import Session
from orchestrator.browser.tabs import watcher
from orchestrator.gateway.policy import Policy, Route
from orchestrator.local_pages.serving import HEADER
from sites.registry import load_registry

_LOOKS: Final = (("--offline",), ("--online", "--staged"))
_RECORDED: Final = 200
_ROUNDS: Final = 5
_SESSIONS: Final = 3
_UNWATCHED: Final = ("element.js", "reach.js", "waiting.js")
_MOST: Final = 1.1


def canary_figures() -> list[Figure]:
    """Measure the looks at `demo` in both worlds, one after the other, images built."""
    with tempfile.TemporaryDirectory() as data:
        began = time.monotonic()
        for world in _LOOKS:
            subprocess.run(
                ["arena", "canary", "demo", *world, "--workers", "2"],
                check=True,
                capture_output=True,
                env={**os.environ, "XDG_DATA_HOME": data},
            )
        took = Series([time.monotonic() - began])
    return [at_most("canary of demo in both worlds, two workers, s", took, 60, "s")]


async def recorder_figures() -> list[Figure]:
    """Measure each thing that the page asks for: the filmstrip, a step's checks, the task."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        steps = []
        for number in range(1, _RECORDED + 1):
            changes = {"wiki": [row("page", str(one), None, "new") for one in range(number)]}
            acted = [event("click", "a", name=f"Link {number}")]
            steps.append(step_of(number, acted, [f"wiki:/article/{number}"], changes=changes))
        kept = open_recording(write(recording_of(*steps), folder / "recording"))
        desk = Desk(lambda: kept, load_registry(), folder / "task.yaml", is_over=True)
        desk.prepare()
        draft: dict[str, object] = {
            "id": "task",
            "intent": "Where are samovars made?",
            "answer": "Tula",
        }
        draft |= {"chosen": ["end-answer"], "shows_file": True}
        asked = {
            "filmstrip": ("GET", "/api/recording", None),
            "a step's checks": ("GET", f"/api/steps/{_RECORDED // 2}", None),
            "the task": ("POST", "/api/draft", json.dumps(draft)),
        }
        async with serve_desk(desk) as url, ClientSession() as client:
            page = urlsplit(url)
            figures = []
            for what, (method, path, body) in asked.items():
                took = []
                for _ in range(_ROUNDS):
                    began = time.perf_counter()
                    async with client.request(
                        method,
                        f"http://{page.netloc}{path}",
                        data=body,
                        headers={HEADER: page.fragment},
                    ) as answer:
                        said = await answer.json()
                    if not answer.ok or said.get("missing"):
                        sys.exit(f"{path}: {said}")
                    took.append((time.perf_counter() - began) * 1000)
                name = f"the recorder's page, {_RECORDED} steps: {what}, ms"
                figures.append(at_most(name, Series(took), 100))
    return figures


def watcher_figures() -> list[Figure]:
    """Measure clicks in a browser that was running, with the watcher and without, in turns."""
    with (
        tempfile.TemporaryDirectory() as profile,
        rows_page() as port,
        running_chromium(Path(profile)) as running,
    ):
        address = RemoteAddress.parse(running.url)
        watched, bare = asyncio.run(_watched_and_bare(address, port))
    name = "a click of 300 rows in a cdp: browser, ms (ref.: no watcher)"
    return [times_as_long(name, Series(watched), Series(bare), _MOST)]


async def _watched_and_bare(address: RemoteAddress, port: int) -> tuple[list[float], list[float]]:
    watched: list[float] = []
    bare: list[float] = []
    for _ in range(_SESSIONS):
        async with _session(address, port) as session:
            watched += (await played(session))["click"]
        with patch.object(watcher, "_SCRIPTS", _UNWATCHED):
            watcher.page_source.cache_clear()
            async with _session(address, port) as session:
                bare += (await played(session))["click"]
        watcher.page_source.cache_clear()
    return watched, bare


@asynccontextmanager
async def _session(address: RemoteAddress, port: int) -> AsyncIterator[Session]:
    route = Route(site="rows", live=True, host="127.0.0.1", port=port, connect_to=None, pace_s=0.0)
    async with (
        connect(address) as browser,
        browser.open_gateway(Policy((route,)), bind="127.0.0.1") as traffic,
        browser.session(SessionOptions(proxy_url=traffic.url)) as session,
    ):
        await session.open([f"http://127.0.0.1:{port}/"])
        yield session
