"""Connections that break: which of them are the agent's own doing, and which are the world's."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, TCPConnector, WSMsgType, web
from fake_world import FakeWorld
from played_episode import ANSWER, episode

from evaluators.evidence import Ended
from orchestrator.cdp_front.relay import Relay
from orchestrator.episode.episode import Episode
from orchestrator.outside.outside_episode import Finish, OutsideEpisode, opened_to_outside

RIGHT = Finish(answer="1891")
EVENT = json.dumps({"method": "Network.dataReceived", "params": {"data": "x" * 60_000}})


class Browser:
    """The debugging port of a browser that answers each command with nothing.

    Attributes:
        is_mute: it does not answer.
        floods: it sends events without end, once anything is asked.
        stuck: set when the other end took no more of them.
        closed: how many connections the other end has ended.
    """

    def __init__(self) -> None:
        self.port = 0
        self.is_mute = False
        self.floods = False
        self.asked = asyncio.Event()
        self.stuck = asyncio.Event()
        self.closed = 0
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
                answer = json.dumps({"id": asked["id"], "result": {}}, separators=(",", ":"))
                await wire.send_str(answer)
        self.closed += 1
        return wire


class Opened:
    """An episode with its address, before a browser without pages."""

    def __init__(self, browser: Browser, one: Episode, outside: OutsideEpisode) -> None:
        self.browser = browser
        self.episode = one
        self.outside = outside

    @asynccontextmanager
    async def client(
        self, connector: TCPConnector | None = None
    ) -> AsyncIterator[ClientWebSocketResponse]:
        url = f"{self.outside.cdp_url}/devtools/browser/B"
        async with (
            ClientSession(connector=connector) as http,
            http.ws_connect(url, max_msg_size=0) as wire,
        ):
            yield wire

    async def outcome(self, finish: Finish = RIGHT) -> str:
        await self.outside.finish(finish)
        return str((await self.episode.evaluate()).outcome)


@asynccontextmanager
async def opened() -> AsyncIterator[Opened]:
    world = FakeWorld(is_shared=True)
    async with Browser.running() as browser, episode(world, checks=[ANSWER]) as one:
        await one.reset()
        exposed: Any = browser
        async with opened_to_outside(one, exposed) as outside:
            yield Opened(browser, one, outside)


async def send(wire: ClientWebSocketResponse, method: str = "Target.closeTarget") -> None:
    await wire.send_json({"id": 1, "method": method, "params": {"targetId": "T"}})


async def test_a_client_that_leaves_in_the_middle_of_a_command_may_come_again() -> None:
    async with opened() as one:
        one.browser.is_mute = True
        async with one.client() as wire:
            await send(wire)
            await one.browser.asked.wait()
            assert one.outside.idle_s == 0.0
        async with asyncio.timeout(5):
            while one.outside.idle_s == 0.0:  # noqa: ASYNC110  what left tells nobody
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
        lost = asyncio.create_task(one.outside.lost())
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
        await one.outside.end(Ended.AGENT_CRASHED, "the agent exited with 1")
        assert str((await one.episode.evaluate()).outcome) == "unscored: infra"


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
