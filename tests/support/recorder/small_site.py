"""A person at a small site, in a browser of its own that the recorder follows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from orchestrator.authoring.recorder.capture import PersonCapture
from orchestrator.authoring.recorder.recording import RecordingFolder, RecordingHead
from orchestrator.browser.process.chromium import BrowserOptions
from orchestrator.browser.process.external_browser import launch_external
from orchestrator.episode.episode import Episode
from orchestrator.gateway.policy import SocketAddress
from orchestrator.gateway.server import Gateway
from support.recorder.scripted_person import ScriptedPerson
from support.worlds.fake_world import FakeReplica, FakeWorld, attempt_at, browsing_task


def _serving(pages: dict[str, str]) -> type[BaseHTTPRequestHandler]:
    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = pages.get(self.path.partition("?")[0], f"<h1>{self.path}</h1>").encode()
            self.send_response(200)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    return Pages


@asynccontextmanager
async def person_at_pages(pages: dict[str, str], folder: Path) -> AsyncIterator[ScriptedPerson]:
    """Open a recorder at `/` of a site of these pages; it has stopped at the block's end."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _serving(pages))
    serving = Thread(target=server.serve_forever, args=(0.05,))
    serving.start()
    replica: Any = FakeReplica(SocketAddress("127.0.0.1", server.server_port))
    head = RecordingHead(name="kettle", sites=("wiki",), start=("wiki:/",))
    try:
        async with launch_external(BrowserOptions()) as browser:
            world = FakeWorld()
            environment = replace(
                world.environment(),
                browser=browser,
                replicas={"wiki": replica},
                open_gateway=Gateway.open,
                is_shared=True,
            )
            spec = replace(attempt_at(browsing_task()), screenshots=True)
            async with Episode(spec, environment) as episode:
                kept = RecordingFolder.create(folder, head)
                capture = PersonCapture(episode, environment, kept)
                await capture.begin(head)
                following = asyncio.create_task(capture.follow())
                try:
                    yield ScriptedPerson(capture)
                finally:
                    capture.stopped.set()
                    await following
    finally:
        server.shutdown()
        serving.join()
        server.server_close()
