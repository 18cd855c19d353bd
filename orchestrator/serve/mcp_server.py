"""An episode's MCP server, over HTTP and over a client's pipes."""

from __future__ import annotations

import asyncio
import json
import sys
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
import mcp_types as types
from anyio import AsyncFile
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from arena_core.errors import ArenaError, UnknownNameError, UsageError
from arena_core.foreign import whole
from arena_core.held import Held
from orchestrator.agents.action_spaces.parser import Misread
from orchestrator.browser.observation import Observation, Picture
from orchestrator.serve.host import (
    GONE,
    AnsweringTools,
    ClientStream,
    ConflictError,
    EpisodeHost,
    HostedEpisode,
)
from orchestrator.serve.mcp_tools import (
    BrowserTool,
    SubmitAnswer,
    TakeScreenshot,
    page_as_text,
    read_call,
    schema_of,
    tools_for,
)
from orchestrator.serve.messages import MOST_BYTES
from orchestrator.serve.results import EpisodeResult
from orchestrator.serve.session import EpisodeSession, Stepped

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

_OVER: Final = "the episode is over"
_MOST_SESSIONS: Final = 16
_TOO_LONG: Final = b"a message that is too long"
INPUT_ENDED: Final = "its client is gone: standard input ended"
_DEAF: Final = "its client is gone: nobody reads standard output"


def mcp_path(episode: str) -> str:
    """Return where an episode's MCP server is, below the service's URL."""
    return f"episodes/{episode}/mcp"


class McpRoute:
    """Answers the MCP requests of every episode of a service, as an ASGI application."""

    def __init__(self, host: EpisodeHost) -> None:
        self._host = host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request for the episode that its path names."""
        hosted = self._host.find(scope["path_params"]["name"])
        if not hosted.has_tools:
            message = f"the episode {hosted.id} has no MCP server"
            raise UnknownNameError(message, hint='begin it with "endpoints": ["mcp"]')
        self._host.touch(hosted)
        if hosted.tools is None:
            hosted.tools = await Held.enter(_answering(self._host, hosted))
        tools = hosted.tools.value
        if scope["method"] == "GET":
            with tools.stream.held():
                await tools.manager.handle_request(scope, receive, send)
        else:
            tools.stream.is_asked()
            await tools.manager.handle_request(scope, receive, send)


@asynccontextmanager
async def _answering(host: EpisodeHost, hosted: HostedEpisode) -> AsyncIterator[AnsweringTools]:
    """Answer requests for an episode until the block ends.

    A session holds nothing but a stream from its client; the episode is all the state there is.
    """
    stream = ClientStream(lambda: host.take_back(hosted, GONE))
    server = mcp_server(McpTools(host, hosted, stream))

    async def discover(_: object, __: object) -> types.DiscoverResult:
        """Name the protocol versions whose sessions hold a stream: its end tells of the client's.

        A client that insists on a later one, which has no sessions, is answered all the same.
        """
        return types.DiscoverResult(
            supported_versions=list(HANDSHAKE_PROTOCOL_VERSIONS),
            capabilities=server.get_capabilities(),
            instructions=hosted.session.assignment.intent,
            ttl_ms=0,
            cache_scope="private",
        )

    server.add_request_handler("server/discover", types.RequestParams, discover)
    manager = StreamableHTTPSessionManager(
        server, json_response=True, session_idle_timeout=None, max_sessions=_MOST_SESSIONS
    )
    async with manager.run():
        try:
            yield AnsweringTools(manager, stream)
        finally:
            stream.forget()


def mcp_server(tools: McpTools) -> Server[Any]:
    return Server(
        "arena",
        instructions=tools.intent,
        on_list_tools=tools.listed,
        on_call_tool=tools.called,
    )


class McpTools:
    """The tools of one episode."""

    def __init__(
        self, host: EpisodeHost, hosted: HostedEpisode, stream: ClientStream | None = None
    ) -> None:
        self._host = host
        self._hosted = hosted
        self._stream = stream

    @property
    def intent(self) -> str:
        return self._hosted.session.assignment.intent

    async def listed(self, _: object, __: object) -> types.ListToolsResult:
        tools = [
            types.Tool(name=name, description=tool.__doc__, input_schema=schema_of(tool))
            for name, tool in tools_for(self._hosted.session.assignment).items()
        ]
        return types.ListToolsResult(tools=tools)

    async def called(self, _: object, asked: types.CallToolRequestParams) -> types.CallToolResult:
        """Do what a call says; what is wrong with it is said to the agent."""
        session = self._hosted.session
        call = read_call(asked.name, asked.arguments or {})
        if session.result is not None:
            return _looked(session, call) or _failed(_OVER, session.result)
        if self._stream is not None:
            self._stream.is_played()
        try:
            return await self._host.perform(self._hosted, lambda: _done(session, call))
        except (ArenaError, ConflictError) as error:
            return _failed(str(error))


async def _done(session: EpisodeSession, call: BrowserTool | Misread) -> types.CallToolResult:
    if isinstance(call, Misread):
        return _stepped(await session.misread(call.why))
    if isinstance(call, SubmitAnswer):
        ended = session.finish(
            call.answer, call.status, call.reason, data=call.data, confidence=call.confidence
        )
        return _ended(await ended)
    return _looked(session, call) or _stepped(await session.play(call.actions()))


def _looked(session: EpisodeSession, call: BrowserTool | Misread) -> types.CallToolResult | None:
    """Show what was seen last, also once the episode is over; None for what does something."""
    if isinstance(call, (Misread, SubmitAnswer)):
        return None
    if isinstance(call, TakeScreenshot):
        return _pictured(session.seen)
    return None if call.actions() else _shown(session.seen)


def _stepped(done: Stepped) -> types.CallToolResult:
    return _shown(done.observation) if done.result is None else _ended(done.result)


def _shown(seen: Observation) -> types.CallToolResult:
    text = types.TextContent(text=page_as_text(seen))
    return types.CallToolResult(content=[text], is_error=seen.last_error is not None)


def _pictured(seen: Observation) -> types.CallToolResult:
    for part in seen.parts.values():
        if isinstance(part, Picture):
            data = b64encode(part.data).decode()
            return types.CallToolResult(
                content=[types.ImageContent(data=data, mime_type="image/png")]
            )
    return _failed("no screenshots are taken in this episode")


def _ended(result: EpisodeResult) -> types.CallToolResult:
    document = result.model_dump(mode="json")
    text = types.TextContent(text=f"### Result\n{_OVER}\n{json.dumps(document)}")
    return types.CallToolResult(content=[text], structured_content=document)


def _failed(why: str, result: EpisodeResult | None = None) -> types.CallToolResult:
    text = types.TextContent(text=whole(f"### Error\n{why}"))
    document = None if result is None else result.model_dump(mode="json")
    return types.CallToolResult(content=[text], structured_content=document, is_error=True)


async def serve_stdio(host: EpisodeHost, hosted: HostedEpisode) -> None:
    """Let the client at standard input play an episode until it is gone.

    The client is gone when it stops writing, or stops reading the answers; an episode that is not
    over then is taken back. The SDK's own reader holds a thread until the input ends, which Ctrl-C
    could not cut short.
    """
    lines = cast("AsyncFile[str]", _Lines(await _standard_input()))
    server = mcp_server(McpTools(host, hosted))
    why = INPUT_ENDED
    try:
        async with stdio_server(stdin=lines) as (asked, answered):
            await server.run(asked, answered, server.create_initialization_options())
    except* (BrokenPipeError, anyio.BrokenResourceError):
        why = _DEAF
    if hosted.session.result is None:
        await host.abandon(hosted, why)


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
