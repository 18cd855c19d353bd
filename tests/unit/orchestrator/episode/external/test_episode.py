"""Connections that break: which of them are the agent's own doing, and which are the world's."""

from __future__ import annotations

import asyncio
import json
import socket
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, TCPConnector, WSMsgType, web
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.agents.foreign_values import CASES, JSON_TEXTS, objects, require_scored
from support.runs.played_episode import ANSWER, episode
from support.worlds.fake_world import FakeWorld

from evaluators.evidence import Ended
from orchestrator.browser.cdp_proxy import relay
from orchestrator.browser.cdp_proxy.relay import Relay
from orchestrator.episode.episode import Episode
from orchestrator.episode.external.command import read_finish
from orchestrator.episode.external.episode import ExternalEpisode, Finish, open_external

RIGHT = Finish(answer="1891")
EVENT = json.dumps({"method": "Network.dataReceived", "params": {"data": "x" * 60_000}})


class Browser:
    """The debugging port of a browser that answers each command with nothing.

    Attributes:
        is_mute: it does not answer.
        floods: it sends events without end, once anything is asked.
        stuck: set when the other end took no more of them.
        closed: how many connections the other end has ended.
        commands: what it was asked.
    """

    def __init__(self) -> None:
        self.port = 0
        self.is_mute = False
        self.floods = False
        self.asked = asyncio.Event()
        self.stuck = asyncio.Event()
        self.closed = 0
        self.commands: list[dict[str, Any]] = []
        self._open: list[web.WebSocketResponse] = []

    @classmethod
    @asynccontextmanager
    async def running(cls) -> AsyncIterator[Browser]:
        browser = cls()
        app = web.Application()
        app.add_routes([web.get("/devtools/browser/B", browser._connect)])
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            browser.port = runner.addresses[0][1]
            yield browser
        finally:
            await runner.cleanup()

    async def socket_inside(self) -> socket.socket:
        return socket.socket()

    async def dial(self, port: int | None = None) -> socket.socket:
        raise NotImplementedError

    async def vanish(self) -> None:
        """Break off every connection, as a browser that crashed."""
        for one in self._open:
            await one.close()

    async def _connect(self, request: web.Request) -> web.WebSocketResponse:
        wire = web.WebSocketResponse()
        await wire.prepare(request)
        self._open.append(wire)
        async for message in wire:
            self.asked.set()
            while self.floods:
                try:
                    await wire.send_str(EVENT)
                except ConnectionError:
                    self.stuck.set()
                    return wire
            if not self.is_mute:
                asked = json.loads(message.data)
                self.commands.append(asked)
                answer = json.dumps({"id": asked["id"], "result": {}}, separators=(",", ":"))
                await wire.send_str(answer)
        self.closed += 1
        return wire


class Opened:
    """An episode with its address, before a browser without pages."""

    def __init__(self, browser: Browser, one: Episode, external: ExternalEpisode) -> None:
        self.browser = browser
        self.episode = one
        self.external = external

    @asynccontextmanager
    async def client(
        self, connector: TCPConnector | None = None
    ) -> AsyncIterator[ClientWebSocketResponse]:
        url = f"{self.external.cdp_url}/devtools/browser/B"
        async with (
            ClientSession(connector=connector) as http,
            http.ws_connect(url, max_msg_size=0) as wire,
        ):
            yield wire

    async def outcome(self, finish: Finish = RIGHT) -> str:
        await self.external.finish(finish)
        return str((await self.episode.score()).outcome)


@asynccontextmanager
async def opened(**task: Any) -> AsyncIterator[Opened]:
    world = FakeWorld(is_shared=True)
    async with Browser.running() as browser, episode(world, checks=[ANSWER], **task) as one:
        await one.reset()
        exposed: Any = browser
        async with open_external(one, exposed) as external:
            yield Opened(browser, one, external)


async def send(wire: ClientWebSocketResponse, method: str = "Target.closeTarget") -> None:
    await wire.send_json({"id": 1, "method": method, "params": {"targetId": "T"}})


async def test_a_client_that_leaves_in_the_middle_of_a_command_may_come_again() -> None:
    async with opened() as one:
        one.browser.is_mute = True
        async with one.client() as wire:
            await send(wire)
            await one.browser.asked.wait()
            assert one.external.idle_s == 0.0
        async with asyncio.timeout(5):
            while one.external.idle_s == 0.0:  # noqa: ASYNC110  what left tells nobody
                await asyncio.sleep(0.01)
        one.browser.is_mute = False
        async with one.client() as again:
            await send(again)
            assert (await again.receive_json())["result"] == {}
        assert await one.outcome() == "success"
        assert len(one.episode.evidence().steps) == 4  # the opening, two that closed tabs, the end


async def test_an_agent_that_closed_its_last_tab_is_scored_as_it_stands() -> None:
    async with opened() as one:
        async with one.client() as wire:
            await send(wire)
            await wire.receive_json()
        assert await one.outcome(Finish(answer="1066")) == "failure"


async def test_a_browser_that_breaks_off_is_no_fault_of_the_agents() -> None:
    async with opened() as one, one.client() as wire:
        await send(wire)
        await wire.receive_json()
        lost = asyncio.create_task(one.external.lost())
        await one.browser.vanish()
        async with asyncio.timeout(5):
            await lost
        assert await one.outcome() == "unscored: infra"


async def test_an_agent_that_gives_up_since_the_browser_broke_off_is_unscored_too() -> None:
    async with opened() as one:
        async with one.client() as wire:
            await send(wire)
            await wire.receive_json()
            await one.browser.vanish()
            await wire.receive()
        await one.external.end(Ended.AGENT_CRASHED, "the agent exited with 1")
        assert str((await one.episode.score()).outcome) == "unscored: infra"


async def test_a_client_that_breaks_off_under_a_flood_of_events_is_the_agents_own_fault() -> None:
    """The browser's events have nowhere to go then: that is no browser that broke off."""
    async with opened() as one:
        one.browser.floods = True
        connector = TCPConnector()
        async with one.client(connector) as wire:
            await send(wire)
            await wire.receive()
            await connector.close()
        await one.browser.stuck.wait()
        one.browser.floods = False
        assert await one.outcome(Finish(answer="1066")) == "failure"


async def test_a_client_that_stays_is_let_go_of_before_the_end_is_looked_at() -> None:
    """Else it would hold the pages that the end checks open: they wait for every client."""
    async with opened() as one, one.client() as wire:
        await send(wire)
        await wire.receive_json()
        assert await one.outcome() == "success"
        assert one.browser.closed == 1
        assert (await wire.receive()).type in {WSMsgType.CLOSE, WSMsgType.CLOSED}


async def test_what_breaks_while_the_address_is_open_is_not_taken_for_a_port_in_use() -> None:
    with pytest.raises(ConnectionResetError):
        async with opened():
            raise ConnectionResetError


async def test_a_bug_of_the_front_is_no_fault_of_the_agents(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(Relay, "from_browser", None)
    async with opened() as one:
        async with one.client() as wire:
            await send(wire)
            await wire.receive()
        assert await one.outcome(Finish(answer="1066")) == "unscored: infra"
    assert "a bug ended a client's connection" in caplog.text


_METHODS = [
    "Input.dispatchKeyEvent",
    "Input.dispatchMouseEvent",
    "Input.insertText",
    "Page.navigate",
    "Runtime.callFunctionOn",
    "Runtime.evaluate",
    "Target.attachToTarget",
    "Target.closeTarget",
    "Target.createTarget",
    "Target.getTargets",
    "Target.setAutoAttach",
    "Network.setCookie",
    "Fetch.continueRequest",
]
_PARAMS = objects(
    {
        "type": ['"keyDown"', '"mousePressed"', '"mouseWheel"'],
        "text": ['"a"'],
        "key": ['"Enter"'],
        "modifiers": ["2"],
        "x": ["1"],
        "y": ["1"],
        "deltaX": ["1"],
        "clickCount": ["2"],
        "button": ['"left"'],
        "url": ['"http://wiki.arena.test/"'],
        "targetId": ['"T"'],
        "flatten": ["true"],
        "contextId": ["1", "6.0", "1e999"],
        "uniqueContextId": ['"1.2"'],
        "objectId": ['"1.2.3"', f'"1.{"9" * 5_000}.3"', '"1.\\u0663.3"'],
        "arguments": ['[{"objectId": "1.2.3"}]'],
        "worldName": ['"mine"'],
        "sessionId": ['"S"'],
    }
)
_COMMANDS = objects(
    {"id": ["7"], "sessionId": ['""'], "params": ["{}"], "method": [f'"{one}"' for one in _METHODS]}
) | st.builds(
    '{{"id": {}, "method": "{}", "params": {}}}'.format,
    st.integers(1, 1000),
    st.sampled_from(_METHODS),
    _PARAMS,
)


@settings(max_examples=CASES // 10)
@example(said=["[" * 200_000 + "]" * 200_000])
@example(said=['{"id": 1, "method": "Page.navigate", "params": {"url": [' + "9" * 5_000 + "]}}"])
@example(
    said=[f'{{"id": 1, "method": "DOM.focus", "params": {{"objectId": "1.{"9" * 5_000}.3"}}}}']
)
@example(said=['{"id": 1, "method": "DOM.focus", "params": ' + '{"a":' * 900 + "1" + "}" * 901])
@example(said=['{"id": 1, "method": "Input.dispatchKeyEvent", "params": {"type": [], "key": {}}}'])
@given(said=st.lists(_COMMANDS | JSON_TEXTS, min_size=10, max_size=20))
def test_whatever_a_client_of_cdp_says_is_its_own_doing(said: list[str]) -> None:
    asyncio.run(_said_over_cdp(said))


async def _said_over_cdp(said: list[str]) -> None:
    async with opened() as one:
        async with one.client() as wire:
            for text in said:
                await wire.send_str(text)
            await wire.send_str('{"id": 1001, "method": "Page.enable"}')
            async with asyncio.timeout(20):
                while json.loads((await wire.receive()).data).get("id") != 1001:
                    pass
        assert await one.outcome() == "success"
        require_scored(one.episode.task, one.episode.evidence())


_LAST_LINES = JSON_TEXTS | objects(
    {
        "answer": ['"1891"', "1891"],
        "data": ["1891", '{"year": 1891}'],
        "status": ['"done"', '"gave_up"', '"infeasible"', '"not_found"'],
        "reason": ['"why"'],
        "usage": ['{"input_tokens": 3}', f'{{"input_tokens": {10**400}}}', '{"usd": 1e308}'],
    }
)


@settings(max_examples=CASES)
@example(line='{"answer": "\\ud800"}')
@example(line='{"status": "infeasible", "reason": "\\ud800"}')
@example(line='{"status": "gave_up", "reason": "\\ud800"}')
@example(line=f'{{"data": {"[" * 900}{"]" * 900}}}')
@example(line=f'{{"answer": "1891", "usage": {{"input_tokens": {10**400}}}}}')
@given(line=_LAST_LINES)
def test_whatever_a_last_line_says_is_the_agents_own_doing(line: str) -> None:
    asyncio.run(_ended_with(line))


async def _ended_with(line: str) -> None:
    world = FakeWorld(is_shared=True)
    async with episode(world, checks=[ANSWER]) as one:
        await one.reset()
        browser: Any = Browser()
        async with open_external(one, browser) as external:
            try:
                finish = read_finish(line)
            except ValueError as error:
                await external.end(Ended.AGENT_CRASHED, str(error))
            else:
                await external.finish(finish)
        await one.score()
        require_scored(one.task, one.evidence())


async def test_a_page_that_a_clients_script_keeps_busy_is_no_fault_of_the_browser(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(relay, "_ANSWER_S", 0.1)
    async with opened() as one:
        one.browser.is_mute = True
        async with one.client() as wire:
            busy = {"id": 1, "method": "Runtime.evaluate", "params": {"contextId": 1}}
            await wire.send_json(busy)
            answer = await wire.receive_json(timeout=5)
            assert answer["error"]["message"] == "the page does not answer"
        assert await one.outcome() == "success"


async def test_a_page_is_handed_the_tasks_files_alone_and_they_go_with_the_episode() -> None:
    files = [{"name": "a.txt", "content": b64encode(b"alpha")}]
    async with opened(files=files) as one:
        path = Path(one.external.info()["files"]["a.txt"])
        assert path.read_bytes() == b"alpha"  # noqa: ASYNC240  a small file
        async with one.client() as wire:
            answer: dict[str, Any] = {}
            for named in ("a.txt", str(path), "/etc/passwd"):
                params = {"nodeId": 1, "files": [named]}
                await wire.send_json({"id": 1, "method": "DOM.setFileInputFiles", "params": params})
                answer = await wire.receive_json()
            assert (
                "provides no file '/etc/passwd'; it provides: a.txt" in answer["error"]["message"]
            )
        assert [asked["params"]["files"] for asked in one.browser.commands] == [[str(path)]] * 2
        await one.outcome()
        notes = [note for step in one.episode.evidence().steps for note in step.notes]
        assert [note.method for note in notes] == ["DOM.setFileInputFiles"]
    assert not path.exists()  # noqa: ASYNC240  the same


async def test_a_client_learns_of_the_limit_before_it_is_let_go() -> None:
    async with opened(limits={"steps": 1}) as one:

        async def end_with_the_episode() -> None:
            await one.external.over.wait()
            await one.external.settle()

        ending = asyncio.create_task(end_with_the_episode())
        async with one.client() as wire:
            await send(wire)
            assert (await wire.receive_json())["result"] == {}
            await send(wire)
            answer = await wire.receive_json()
            assert answer["error"]["message"].startswith("limit reached: 1 steps were used up")
            goodbye = await wire.receive()
            assert goodbye.type is WSMsgType.CLOSE
            assert str(goodbye.extra).startswith("limit reached: ")
        await ending
