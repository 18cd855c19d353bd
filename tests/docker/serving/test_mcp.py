"""`arena mcp`: one episode for the official SDK's client."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import httpx2
import mcp
import pytest
from mcp.client.streamable_http import streamable_http_client
from support.agents.arena_process import ArenaProcess
from support.tasks.small_suites import BRUGES

from orchestrator import Arena

pytestmark = [pytest.mark.docker, pytest.mark.browser]

PLAYWRIGHTS = {
    "browser_navigate",
    "browser_navigate_back",
    "browser_snapshot",
    "browser_take_screenshot",
    "browser_click",
    "browser_type",
    "browser_select_option",
    "browser_press_key",
    "browser_hover",
    "browser_drag",
    "browser_tabs",
    "browser_wait_for",
    "browser_mouse_click_xy",
}


async def configuration(process: ArenaProcess) -> dict[str, Any]:
    """Return what the command printed for its client."""
    await asyncio.to_thread(process.hear, "until the episode is over")
    printed: dict[str, Any] = json.loads(await asyncio.to_thread(process.printed, r"(?m)^\}"))
    return printed


async def test_the_sdks_client_plays_by_the_printed_configuration(tmp_path: Path) -> None:
    words = ("mcp", "--task", "demo/wiki-bells-of-bruges", "--out", tmp_path / "out")
    with ArenaProcess(*words, cwd=tmp_path) as process:
        (server,) = (await configuration(process))["mcpServers"].values()
        assert server["type"] == "http"
        async with (
            httpx2.AsyncClient(headers=server["headers"], timeout=120) as http,
            mcp.Client(streamable_http_client(server["url"], http_client=http)) as client,
        ):
            assert "How many bells" in (client.instructions or "")
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert set(tools) == {*PLAYWRIGHTS, "submit_answer"}
            assert tools["browser_click"].input_schema["required"] == ["target"]
            (picture,) = (await client.call_tool("browser_take_screenshot", {})).content
            assert picture.type == "image"
            assert b64decode(picture.data).startswith(b"\x89PNG")
            wrong = await client.call_tool("browser_click", {"target": "the button"})
            assert wrong.is_error
            there = await client.call_tool("browser_navigate", {"url": BRUGES})
            (part,) = there.content
            assert part.type == "text"
            assert f"- Page URL: {BRUGES}" in part.text
            ended = await client.call_tool("submit_answer", {"answer": "47"})
            assert ended.structured_content["outcome"] == "success"
        done = await asyncio.to_thread(process.wait)
    assert done.code == 0
    assert "success" in done.err
    (folder,) = (tmp_path / "out").iterdir()
    (episode,) = Arena().runs.score(folder)
    assert str(episode.score.outcome) == "success"


async def test_who_does_not_know_the_token_gets_no_tools(tmp_path: Path) -> None:
    with ArenaProcess("mcp", "--task", "demo/wiki-bells-of-bruges", cwd=tmp_path) as process:
        (server,) = (await configuration(process))["mcpServers"].values()
        async with httpx2.AsyncClient() as stranger:
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            assert (await stranger.post(server["url"], json=body)).status_code == 401
            page = {**server["headers"], "Origin": "http://127.0.0.1:1"}
            answer = await stranger.post(server["url"], json=body, headers=page)
            assert answer.status_code == 403
