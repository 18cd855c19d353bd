"""Playwright MCP plays an episode of Arena, driven by the official SDK of MCP.

    arena eval wiki-bells-of-bruges \
        --agent-cmd 'python playwright_mcp_agent.py npx @playwright/mcp@0.0.83'

It follows one link and reads one number; a real agent would hand the tools to a model.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys

import mcp
from mcp.client.stdio import StdioServerParameters


async def main(command: str, *words: str) -> None:
    """Click on the link to Bruges, and answer with the number of its bells."""
    server = StdioServerParameters(
        command=command,
        args=[*words, "--cdp-endpoint", os.environ["ARENA_CDP_URL"]],
        env=dict(os.environ),
    )
    async with asyncio.timeout(90), mcp.Client(server) as client:
        seen = await call(client, "browser_snapshot")
        (link,) = re.findall(r'link "Bruges".*?\[ref=(\w+)\]', seen)
        await call(client, "browser_click", element="Bruges", target=link)
        text = await call(client, "browser_evaluate", function="() => document.body.innerText")
    bells = re.findall(r"(\d+) bells", text)
    sys.stdout.write(json.dumps({"answer": bells[0] if bells else None}) + "\n")


async def call(client: mcp.Client, tool: str, **arguments: str) -> str:
    """Call a tool, and return what it says."""
    called = await client.call_tool(tool, arguments)
    return "\n".join(part.text for part in called.content if part.type == "text")


asyncio.run(main(*sys.argv[1:]))
