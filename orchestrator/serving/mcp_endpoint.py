"""An MCP server for one episode: streamable HTTP, Playwright MCP's tools, and `submit_answer`."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from arena_core.errors import ArenaError, UnknownNameError
from orchestrator.api.held import Held
from orchestrator.grammars.grammar import Misread
from orchestrator.observation import AriaSnapshot, AxTree, Observation, Picture
from orchestrator.serving.client_stream import GONE, AnsweringTools, ClientStream
from orchestrator.serving.host import ConflictError, EpisodeHost, HostedEpisode
from orchestrator.serving.mcp_tools import (
    TOOLS,
    BrowserTool,
    SubmitAnswer,
    TakeScreenshot,
    read_call,
    schema_of,
)
from orchestrator.serving.results import EpisodeResult
from orchestrator.serving.session import EpisodeSession, Stepped

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

_OVER: Final = "the episode is over"
_MOST_SESSIONS: Final = 16


def mcp_path(episode: str) -> str:
    """Return where an episode's MCP server is, below the service's URL."""
    return f"episodes/{episode}/mcp"


class McpRoute:
    """Answers the MCP requests of every episode of a service, as an ASGI application."""

    def __init__(self, host: EpisodeHost) -> None:
        self._host = host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request for the episode that its path names.

        Raises:
            UnknownNameError: there is no such episode, or it has no tools.
        """
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
    """Return a server of the official SDK that has the tools of one episode."""
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
        """What the agent is to do."""
        return self._hosted.session.assignment.intent

    async def listed(self, _: object, __: object) -> types.ListToolsResult:
        """List them."""
        tools = [
            types.Tool(name=name, description=tool.__doc__, input_schema=schema_of(tool))
            for name, tool in TOOLS.items()
        ]
        return types.ListToolsResult(tools=tools)

    async def called(self, _: object, asked: types.CallToolRequestParams) -> types.CallToolResult:
        """Do what a call says; what is wrong with it is said to the agent."""
        session = self._hosted.session
        if session.result is not None:
            return _failed(_OVER, session.result)
        if self._stream is not None:
            self._stream.is_played()
        call = read_call(asked.name, asked.arguments or {})
        try:
            return await self._host.perform(self._hosted, lambda: _done(session, call))
        except (ArenaError, ConflictError) as error:
            return _failed(str(error))


async def _done(session: EpisodeSession, call: BrowserTool | Misread) -> types.CallToolResult:
    if isinstance(call, Misread):
        return _stepped(await session.misread(call.why))
    if isinstance(call, SubmitAnswer):
        ended = session.finish(call.answer, call.status, call.reason, data=call.data)
        return _ended(await ended)
    if isinstance(call, TakeScreenshot):
        return _pictured(session.seen)
    actions = call.actions()
    return _stepped(await session.play(actions)) if actions else _shown(session.seen)


def _stepped(done: Stepped) -> types.CallToolResult:
    return _shown(done.observation) if done.result is None else _ended(done.result)


def _shown(seen: Observation) -> types.CallToolResult:
    """Say what is seen, in the sections of Playwright MCP's answers."""
    error = seen.last_error
    parts = [f"### Error\n{error}"] if error else []
    if len(seen.tabs) > 1:
        lines = [
            f"- {tab.index}:{' (current)' if tab.is_current else ''} [{tab.title}]({tab.url})"
            for tab in seen.tabs
        ]
        parts.append("### Open tabs\n" + "\n".join(lines))
    parts.append(f"### Page\n- Page URL: {seen.url}\n- Page Title: {seen.title}")
    parts.append(f"### Snapshot\n```yaml\n{_snapshot(seen)}\n```")
    text = types.TextContent(text="\n".join(parts))
    return types.CallToolResult(content=[text], is_error=error is not None)


def _snapshot(seen: Observation) -> str:
    """Return the page as text: as Playwright MCP would, where the episode observes that form."""
    parts = seen.parts.values()
    texts = [one.text for one in parts if isinstance(one, AriaSnapshot)]
    texts += [one.text for one in parts if isinstance(one, AxTree)]
    return texts[0] if texts else "(no form of text is observed in this episode)"


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
    text = types.TextContent(text=f"### Error\n{why}")
    document = None if result is None else result.model_dump(mode="json")
    return types.CallToolResult(content=[text], structured_content=document, is_error=True)
