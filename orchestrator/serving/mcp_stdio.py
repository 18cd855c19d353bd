"""An MCP server at standard input and output: its client is gone when the input ends."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Final, cast

from anyio import AsyncFile
from mcp.server.stdio import stdio_server

from arena_core.errors import UsageError
from orchestrator.serving.guard import MOST_BYTES
from orchestrator.serving.host import EpisodeHost, HostedEpisode
from orchestrator.serving.mcp_endpoint import McpTools, mcp_server

_TOO_LONG: Final = b"a message that is too long"
GONE: Final = "its client is gone: standard input ended"


async def serve_stdio(host: EpisodeHost, hosted: HostedEpisode) -> None:
    """Let the client at standard input play an episode until it is gone.

    An episode that is not over then is taken back. The SDK's own reader holds a thread until the
    input ends, which Ctrl-C could not cut short.

    Raises:
        UsageError: standard input is no pipe, socket or terminal.
    """
    lines = cast("AsyncFile[str]", _Lines(await _standard_input()))
    server = mcp_server(McpTools(host, hosted))
    async with stdio_server(stdin=lines) as (asked, answered):
        await server.run(asked, answered, server.create_initialization_options())
    if hosted.session.result is None:
        await host.abandon(hosted, GONE)


async def _standard_input() -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=MOST_BYTES)
    loop = asyncio.get_running_loop()
    try:
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    except ValueError as cause:
        message = "standard input is a file: no client could be there"
        raise UsageError(message, hint="an MCP client starts arena mcp --stdio itself") from cause
    return reader


class _Lines:
    """The lines of a stream, as the SDK reads them."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    async def __aiter__(self) -> AsyncIterator[str]:
        while True:
            try:
                line = await self._reader.readline()
            except ValueError:  # longer than any message; what follows is read anew
                line = _TOO_LONG
            if not line:
                return
            yield line.decode(errors="replace")
