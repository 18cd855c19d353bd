"""A client that is killed loses its episode, and its slot is free for another at once."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from quick_cases import SLOW
from support.worlds.worldless_service import Serving

from orchestrator.serve import host
from orchestrator.serve.host import ClientStream

LIMIT_S = 10.0

HOLDS = """
import sys, urllib.request
url, token = sys.argv[1:]
request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
with urllib.request.urlopen(request, timeout=60) as events:
    print(events.readline().decode().strip(), flush=True)
    events.read()
"""


# With the official SDK's client, as it is: it asks what is spoken, and holds what it is offered.
PLAYS = """
import asyncio, sys, httpx2, mcp
from mcp.client.streamable_http import streamable_http_client

async def main(url, token, tool):
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        async with mcp.Client(streamable_http_client(url, http_client=http)) as client:
            await client.list_tools()
            if tool:
                await client.call_tool(tool, {})
            print("ready", flush=True)
            await asyncio.sleep(60)

asyncio.run(main(*sys.argv[1:]))
"""


@asynccontextmanager
async def started(code: str, *words: str, said: bytes) -> AsyncIterator[asyncio.subprocess.Process]:
    """Start a client, and wait until it says that it is there; it is killed in the end."""
    client = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, *words, stdout=subprocess.PIPE
    )
    assert client.stdout is not None
    try:
        async with asyncio.timeout(30):
            assert await client.stdout.readline() == said
        yield client
    finally:
        if client.returncode is None:
            client.kill()
        await client.wait()


@SLOW
async def test_a_client_that_holds_its_episode_and_is_killed_frees_its_slot(
    serving: Serving,
) -> None:
    async with serving() as service:
        name = await service.begun()
        url = f"{service.served.url}/episodes/{name}/events?hold=true"
        async with started(HOLDS, url, service.served.token, said=b": follows\n") as holding:
            assert await service.free() == 0
            holding.kill()
            await service.until_free(1, LIMIT_S)
        state = (await service.client.get(f"/episodes/{name}")).json()
        assert state["result"]["outcome"] == "unscored"
        assert state["result"]["reward"] is None
        assert (await service.create()).status_code == 201


@SLOW
async def test_an_mcp_client_that_is_killed_frees_its_slot(serving: Serving) -> None:
    async with serving() as service:
        name = await service.begun()
        url = f"{service.served.url}/episodes/{name}/mcp"
        words = (url, service.served.token, "browser_snapshot")
        async with started(PLAYS, *words, said=b"ready\n") as playing:
            assert await service.free() == 0
            playing.kill()
            await service.until_free(1, LIMIT_S)
        result = (await service.client.get(f"/episodes/{name}")).json()["result"]
        assert (result["outcome"], result["reward"]) == ("unscored", None)
        assert "its MCP client is gone" in result["because"]
        assert (await service.create()).status_code == 201


@SLOW
async def test_an_mcp_client_that_only_looked_at_the_tools_may_leave(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs do that which check what they are configured with."""
    monkeypatch.setattr(host, "COMES_BACK_S", 0.2)
    async with serving() as service:
        name = await service.begun()
        url = f"{service.served.url}/episodes/{name}/mcp"
        async with started(PLAYS, url, service.served.token, "", said=b"ready\n") as looking:
            looking.kill()
        await asyncio.sleep(0.6)
        assert await service.free() == 0


async def test_a_client_whose_stream_ended_may_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "COMES_BACK_S", 0.1)
    gone = asyncio.Event()
    stream = ClientStream(gone.set)
    stream.is_played()
    with stream.held():
        pass
    with stream.held():
        await asyncio.sleep(0.3)
    stream.is_asked()
    await asyncio.sleep(0.3)
    assert not gone.is_set()
    with stream.held():
        pass
    async with asyncio.timeout(5):
        await gone.wait()
