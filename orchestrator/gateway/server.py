"""The gateway itself: a forward proxy on the loopback interface for one browser context."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Final, Self
from urllib.parse import urlsplit

from arena_core.errors import GatewayError
from orchestrator.gateway.arm import Arm
from orchestrator.gateway.connection import BufferedConnection, ConnectionPool
from orchestrator.gateway.conversation import Conversation, Deadlines, Exit, RequestPacer
from orchestrator.gateway.journal import GatewayJournal
from orchestrator.gateway.policy import Policy, Route
from orchestrator.gateway.recorded import RecordedDocuments
from orchestrator.gateway.taped import Leads

# What Chromium opens to one host for one page: that many tunnels at once are one page load.
_TUNNELS_A_PAGE = 6


class Gateway:
    """A running gateway; it stops at the end of `async with Gateway.open(policy)`.

    Attributes:
        journal: what went through and what was refused.
        url: what a browser context takes as its proxy.
    """

    def __init__(
        self,
        policy: Policy,
        deadlines: Deadlines,
        recorded: RecordedDocuments | None = None,
        arm: Arm | None = None,
    ) -> None:
        self.journal = GatewayJournal()
        self.url = ""
        self._policy = policy
        self._deadlines = deadlines
        self._recorded = RecordedDocuments() if recorded is None else recorded
        self._arm = arm
        self._leads = Leads()
        self._alive: set[BufferedConnection] = set()
        self._conversations: set[asyncio.Task[None]] = set()
        self._exits = {route: self._exit(route) for route in policy.routes}

    @classmethod
    @contextlib.asynccontextmanager
    async def open(
        cls,
        policy: Policy,
        *,
        bind: str | socket.socket = "127.0.0.1",
        deadlines: Deadlines | None = None,
        recorded: RecordedDocuments | None = None,
        arm: Arm | None = None,
    ) -> AsyncIterator[Self]:
        """Start a gateway; at the end, close every connection it has.

        Args:
            bind: a loopback address, of which a free port is taken, or a socket that is bound to
                one (a browser's own network namespace hands such out); it is closed at the end.
            recorded: documents that it answers in place of their sites, once each.
            arm: what is varied; None for nothing: every byte is the site's own.
        """
        address = bind if isinstance(bind, str) else bind.getsockname()[0]
        if not _is_loopback(address):
            raise GatewayError(f"the gateway listens on loopback only, not on '{address}'")
        gateway = cls(policy, deadlines or Deadlines(), recorded, arm)
        try:
            server = await _serve(bind, lambda: BufferedConnection(gateway._alive, gateway._accept))
        except OSError as error:
            message = f"the gateway cannot listen on {address}: {error.strerror or error}"
            raise GatewayError(message) from error
        host, port = server.sockets[0].getsockname()[:2]
        gateway.url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        try:
            yield gateway
        finally:
            server.close()
            await gateway._stop()

    def _exit(self, route: Route) -> Exit:
        return Exit(
            ConnectionPool(route.address, self._alive, self._deadlines.connect_s),
            RequestPacer(route.pace_s),
            RequestPacer(route.pace_s, burst=_TUNNELS_A_PAGE),
        )

    def _accept(self, client: BufferedConnection) -> None:
        conversation = Conversation(
            client,
            self._policy,
            self.journal,
            self._exits,
            self._deadlines,
            recorded=self._recorded,
            leads=self._leads,
            arm=self._arm,
        )
        task = asyncio.create_task(conversation.run(), name="gateway conversation")
        self._conversations.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._conversations.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            # A bug of the gateway: said aloud, and seen by the browser as a closed connection.
            context = {"message": "a gateway conversation failed", "exception": error, "task": task}
            task.get_loop().call_exception_handler(context)

    async def _stop(self) -> None:
        for task in self._conversations:
            task.cancel()
        if self._conversations:
            await asyncio.wait(self._conversations)
        connections = tuple(self._alive)
        for connection in connections:
            connection.abort()
        if connections:
            await asyncio.wait([connection.closed for connection in connections])


async def _serve(
    bind: str | socket.socket, accept: Callable[[], BufferedConnection]
) -> asyncio.Server:
    loop = asyncio.get_running_loop()
    if isinstance(bind, str):
        return await loop.create_server(accept, bind, 0)
    return await loop.create_server(accept, sock=bind)


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


_LOOPBACK: Final = "127.0.0.1"
_HEAD_S: Final = 10.0


def pac(policy: Policy, proxy_url: str) -> str:
    """Return the script: hosts of the policy by this proxy, everything else directly."""
    hosts = json.dumps(sorted({route.host for route in policy.routes}))
    proxy = json.dumps(f"PROXY {urlsplit(proxy_url).netloc}")
    return (
        "function FindProxyForURL(url, host) {\n"
        f"  return {hosts}.indexOf(host.toLowerCase()) < 0 ? 'DIRECT' : {proxy};\n"
        "}\n"
    )


@asynccontextmanager
async def serve_pac(script: str) -> AsyncIterator[str]:
    """Serve a script on loopback, and yield its URL."""
    body = script.encode()
    answer = (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ns-proxy-autoconfig\r\n"
        b"Content-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(body), body)
    )

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_HEAD_S):
                await reader.readuntil(b"\r\n\r\n")
                writer.write(answer)
                await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # whoever asked went away, or did not speak HTTP
        finally:
            writer.close()

    try:
        server = await asyncio.start_server(serve, _LOOPBACK, 0)
    except OSError as error:
        message = f"nothing can listen on {_LOOPBACK}: {error.strerror or error}"
        raise GatewayError(message) from error
    try:
        port = server.sockets[0].getsockname()[1]
        yield f"http://{_LOOPBACK}:{port}/proxy.pac"
    finally:
        server.close()
