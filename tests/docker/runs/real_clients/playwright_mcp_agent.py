"""An agent whose hands are Playwright MCP, unchanged from npm: its words are the path to cli.js."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys

import mcp
from mcp.client.stdio import StdioServerParameters


async def main(program: str) -> None:
    """Click on the link to Bruges, and read the number of its bells."""
    server = StdioServerParameters(
        command="node",
        args=[program, "--cdp-endpoint", os.environ["ARENA_CDP_URL"]],
        env=dict(os.environ),
    )
    async with asyncio.timeout(90), mcp.Client(server) as client:
        seen = await call(client, "browser_snapshot")
        link = re.search(r'link "Bruges".*?\[ref=(\w+)\]', seen)
        assert link is not None, seen
        await call(client, "browser_click", element="Bruges", target=link[1])
        text = await call(client, "browser_evaluate", function="() => document.body.innerText")
        found = re.search(r"(\d+) bells", text)
        assert found is not None, text
    sys.stdout.write(json.dumps({"answer": found[1]}) + "\n")


async def call(client: mcp.Client, tool: str, **arguments: str) -> str:
    """Call a tool, and return what it says."""
    called = await client.call_tool(tool, arguments)
    text = "\n".join(part.text for part in called.content if part.type == "text")
    assert not called.is_error, text
    return text


asyncio.run(main(sys.argv[1]))
