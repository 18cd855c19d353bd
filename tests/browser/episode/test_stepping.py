"""An episode in a real browser behind a real gateway, stepped as a program from outside does it."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, TypeVar

import pytest
from support.people.screens import display
from support.worlds.fake_world import WIKI, FakeReplica, FakeWorld, attempt_at, browsing_task

from arena_core.actions import Click, Goto, Stop
from arena_core.errors import BrowserError, BrowserMissingError
from evaluators.evidence import Ended
from orchestrator.browser.process.chromium import BrowserOptions
from orchestrator.browser.process.kinds import BrowserKind
from orchestrator.browser.process.launch import Browser, launch
from orchestrator.episode.episode import Episode
from orchestrator.gateway.policy import SocketAddress
from orchestrator.gateway.server import Gateway

__all__ = ["display"]
pytestmark = [pytest.mark.browser]

Result = TypeVar("Result")
NODE = {
    "name": "article",
    "when": "step",
    "locate": {"by": "url"},
    "match": {"how": "exact", "value": "wiki:/article/Kettle"},
}
HEADING = {
    "name": "heading",
    "when": "end",
    "locate": {"by": "page", "at": "own", "selector": "h1"},
    "match": {"how": "exact", "value": "/wiki/A/Kettle"},
}


class Pages(BaseHTTPRequestHandler):
    """A small site: each page has its path for a heading, and a link."""

    def do_GET(self) -> None:
        body = f"<title>Page</title><h1>{self.path}</h1><a href=/wiki/A/Kettle>Kettle</a>".encode()
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@asynccontextmanager
async def opened(options: BrowserOptions) -> AsyncIterator[tuple[Browser, Episode]]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    serving = Thread(target=server.serve_forever, args=(0.05,))
    serving.start()
    replica: Any = FakeReplica(SocketAddress("127.0.0.1", server.server_port))
    try:
        async with launch(options) as browser:
            environment = replace(
                FakeWorld().environment(),
                browser=browser,
                replicas={"wiki": replica},
                open_gateway=Gateway.open,
            )
            yield browser, Episode(attempt_at(browsing_task(checks=[NODE, HEADING])), environment)
    finally:
        server.shutdown()
        serving.join()
        server.server_close()


@pytest.fixture
async def episode() -> AsyncIterator[Episode]:
    async with opened(BrowserOptions()) as (_, made):
        yield made


async def in_its_own_task(call: Coroutine[Any, Any, Result]) -> Result:
    """Await a call as a server does, whose requests are tasks of their own."""
    return await asyncio.create_task(call)


async def test_every_call_may_come_from_another_task(episode: Episode) -> None:
    seen = await in_its_own_task(episode.reset())
    assert seen.url == f"{WIKI}/"
    link = next(node.id for node in seen.nodes if node.role == "link")
    result = await in_its_own_task(episode.step(Click(element=link)))
    assert result.observation.url == f"{WIKI}/wiki/A/Kettle"
    looked = await in_its_own_task(episode.snapshot())
    assert looked is not None
    assert [found.values for found in looked.located] == [("/wiki/A/Kettle",)]
    await in_its_own_task(episode.step(Stop()))
    score = await in_its_own_task(episode.score())
    assert str(score.outcome) == "success"
    await in_its_own_task(episode.close())
    evidence = episode.evidence()
    assert evidence.ended is Ended.STOPPED
    assert [step.logical for step in evidence.steps[1:]] == ["wiki:/article/Kettle"] * 2
    assert evidence.steps[1].requests >= 1


async def test_a_step_under_way_ends_when_the_episode_is_closed_beside_it(
    episode: Episode,
) -> None:
    await episode.reset()
    step = asyncio.create_task(episode.step(Goto(url=f"{WIKI}/wiki/A/Other")))
    await asyncio.sleep(0)  # the step has begun
    await episode.close()
    result = await asyncio.wait_for(step, 30)
    assert result.is_over
    assert str((await episode.score()).outcome) == "unscored: infra"


async def left_in(options: BrowserOptions, kind: BrowserKind) -> dict[str, Any]:
    """Play the same steps in a browser, and return what they left behind."""
    async with opened(options) as (browser, episode):
        assert (browser.kind, "headless shell" in browser.version) == (
            kind,
            kind is BrowserKind.SHELL,
        )
        seen = await episode.reset()
        link = next(node.id for node in seen.nodes if node.role == "link")
        await episode.step(Click(element=link))
        await episode.step(Stop())
        score = await episode.score()
        await episode.close()
    evidence = episode.evidence().model_dump(exclude={"started_at", "seconds"})
    for step in evidence["steps"]:
        del step["timings"], step["requests"]  # the full browser asks for an icon as well
    return evidence | {"score": score, "seen": seen.text}


@pytest.mark.skipif(not shutil.which("chromium-headless-shell"), reason="no headless shell here")
async def test_the_headless_shell_and_the_full_browser_leave_the_same_evidence() -> None:
    shell = await left_in(BrowserOptions(only_shell=True), BrowserKind.SHELL)
    full = await left_in(BrowserOptions(full=True), BrowserKind.CHROMIUM)
    assert full == shell
    assert str(full["score"].outcome) == "success"


@pytest.mark.usefixtures("display")
async def test_a_browser_with_a_window_leaves_the_same_evidence_as_one_without() -> None:
    headed = await left_in(BrowserOptions(headless=False), BrowserKind.HEADED)
    assert [acted["text"] for acted in headed["steps"][1]["acted"]] == ["Kettle"]
    assert str(headed["score"].outcome) == "success"
    assert headed == await left_in(BrowserOptions(full=True), BrowserKind.CHROMIUM)


async def test_without_a_display_a_window_is_one_line_with_the_next_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(BrowserError, match="neither DISPLAY nor WAYLAND_DISPLAY") as caught:
        async with launch(BrowserOptions(headless=False)):
            pass
    assert "choose another --browser" in caught.value.hint


async def test_a_headless_shell_that_was_asked_for_is_no_other_browser(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ARENA_CHROMIUM", str(shutil.which("chromium")))
    with pytest.raises(BrowserMissingError, match="there is none, only") as caught:
        async with launch(BrowserOptions(only_shell=True)):
            pass
    assert "apt-get install chromium-headless-shell" in caught.value.hint
