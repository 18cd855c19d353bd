"""Plays one task by the tools of its MCP server, with the official SDK's client.

arena mcp --task demo/wiki-bells-of-bruges > client.json       # in another terminal
python examples/mcp/play.py client.json
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def main(server: dict[str, Any]) -> None:
    """Follow the link to Bruges, tell how many bells it names, and print what that is worth."""
    async with (
        httpx2.AsyncClient(headers=server["headers"], timeout=300) as http,
        Client(streamable_http_client(server["url"], http_client=http)) as client,
    ):
        print(client.instructions)
        seen = await text_of(client, "browser_snapshot")
        link = re.search(r'link "Bruges".*?\[ref=(e\d+)\]', seen)
        if link:
            seen = await text_of(client, "browser_click", target=link[1])
        bells = re.search(r"(\d+) bells", seen)
        answer = bells[1] if bells else None
        ended = await client.call_tool("submit_answer", {"answer": answer})
        print(ended.structured_content["outcome"], ended.structured_content["reward"])


async def text_of(client: Client, tool: str, **arguments: str) -> str:
    """Call a tool, and return what it says."""
    called = await client.call_tool(tool, arguments)
    return "\n".join(part.text for part in called.content if part.type == "text")


if __name__ == "__main__":
    configured = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    asyncio.run(main(configured["mcpServers"]["arena"]))
