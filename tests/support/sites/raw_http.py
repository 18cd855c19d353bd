"""HTTP by hand: real sockets on loopback whose every byte a test decides, at either end.

::

    async with Stage() as stage:
        shop = await stage.server(answers(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"))
        gateway = await stage.gateway(shop.route())
        client = await stage.client(gateway)
        await client.send(b"GET http://shop.arena.test/ HTTP/1.1\r\nHost: shop.arena.test\r\n\r\n")
        assert await client.exactly(...)
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from orchestrator.gateway.arm import Arm
from orchestrator.gateway.conversation import Deadlines
from orchestrator.gateway.policy import Policy, Route, SocketAddress
from orchestrator.gateway.recorded import RecordedDocuments
from orchestrator.gateway.server import Gateway

WAIT_S = 5.0
SHOP = "shop.arena.test"


@dataclass(frozen=True, slots=True)
class Peer:
    """One end of a connection; every wait is bounded."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        async with asyncio.timeout(WAIT_S):
            await self.writer.drain()

    async def head(self) -> bytes:
        """Return a message's head with the empty line; empty where the connection has ended."""
        async with asyncio.timeout(WAIT_S):
            try:
                return await self.reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError as ended:
                return ended.partial

    async def exactly(self, count: int) -> bytes:
        async with asyncio.timeout(WAIT_S):
            return await self.reader.readexactly(count)

    async def rest(self) -> bytes:
        """Return everything until the end; a reset raises ConnectionResetError."""
        async with asyncio.timeout(WAIT_S):
            return await self.reader.read()

    async def response(self) -> tuple[int, bytes]:
        """Return status and body of a response with a Content-Length (or none at all)."""
        head = await self.head()
        length = next(
            (
                int(line.split(b":")[1])
                for line in head.split(b"\r\n")
                if line.lower().startswith(b"content-length:")
            ),
            0,
        )
        return int(head.split(b" ")[1]), await self.exactly(length)

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(ConnectionError):
            await self.writer.wait_closed()


Script = Callable[[Peer], Awaitable[None]]


def answers(*responses: bytes) -> Script:
    """Answer the requests of each connection (they have no body) with these, then close."""

    async def script(peer: Peer) -> None:
        for response in responses:
            if not await peer.head():
                return
            await peer.send(response)

    return script


def keeps_answering(response: bytes) -> Script:
    """Answer every request of each connection (they have no body) until the client leaves."""

    async def script(peer: Peer) -> None:
        while await peer.reader.read(1):
            await peer.head()
            await peer.send(response)

    return script


@dataclass(slots=True)
class Server:
    """A scripted origin; `connections` counts what was accepted, `faults` what a script raised."""

    port: int = 0
    connections: int = 0
    faults: list[BaseException] = field(default_factory=list)

    def route(
        self, host: str = SHOP, *, live: bool = False, port: int = 80, **rules: float
    ) -> Route:
        return Route(
            site=host.split(".", maxsplit=1)[0],
            live=live,
            host=host,
            port=port,
            connect_to=SocketAddress("127.0.0.1", self.port),
            read_only=bool(rules.get("read_only", live)),
            pace_s=rules.get("pace_s", 0.0),
        )


class Stage:
    """Servers, gateways and clients of one test, all closed at its end."""

    def __init__(self) -> None:
        self._open = AsyncExitStack()
        self._scripts: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        await self._open.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._open.__aexit__(kind, error, trace)

    async def server(self, script: Script) -> Server:
        """Start a server that runs the script for each connection, then closes it."""
        server = Server()

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            server.connections += 1
            peer = Peer(reader, writer)
            try:
                await script(peer)
            except (ConnectionError, asyncio.IncompleteReadError, TimeoutError) as fault:
                server.faults.append(fault)
            finally:
                await peer.close()

        def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.create_task(accept(reader, writer))
            self._scripts.add(task)
            task.add_done_callback(self._scripts.discard)

        listening = await asyncio.start_server(begin, "127.0.0.1", 0)
        server.port = listening.sockets[0].getsockname()[1]
        self._open.push_async_callback(self._stop, listening)
        return server

    async def gateway(
        self,
        *routes: Route,
        deadlines: Deadlines | None = None,
        recorded: RecordedDocuments | None = None,
        arm: Arm | None = None,
    ) -> Gateway:
        return await self._open.enter_async_context(
            Gateway.open(Policy(routes), deadlines=deadlines, recorded=recorded, arm=arm)
        )

    async def client(self, gateway: Gateway) -> Peer:
        """Connect to a gateway by hand."""
        return await self.connect(urlsplit(gateway.url).port or 0)

    async def connect(self, port: int) -> Peer:
        peer = Peer(*await asyncio.open_connection("127.0.0.1", port))
        self._open.push_async_callback(peer.close)
        return peer

    async def _stop(self, listening: asyncio.Server) -> None:
        listening.close()
        scripts = tuple(self._scripts)
        for script in scripts:
            script.cancel()
        if scripts:
            await asyncio.wait(scripts)


def get(path: str = "/", host: str = SHOP, *, method: str = "GET", extra: str = "") -> bytes:
    """Return a request as a browser sends it to its proxy; `extra` holds whole lines."""
    return (
        f"{method} http://{host}{path} HTTP/1.1\r\nHost: {host}\r\n"
        f"Proxy-Connection: keep-alive\r\n{extra}\r\n"
    ).encode()


async def unchanging(value: Callable[[], int]) -> int:
    """Return a value once it has stayed the same for a while."""
    seen = -1
    while seen != value():
        seen = value()
        await asyncio.sleep(0.1)
    return seen


class MemoryPeak:
    """How far this process's resident memory has risen at most since this was made."""

    def __init__(self) -> None:
        # Linux: 5 resets the high-water mark to what is resident now (proc(5)).
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        self._before = self._high_water()

    def grown_by(self) -> int:
        """Return bytes."""
        return self._high_water() - self._before

    @staticmethod
    def _high_water() -> int:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024


async def read_upload(peer: Peer) -> bytes:
    """Return the body of one request, decoded."""
    head = (await peer.head()).lower()
    if b"chunked" in head:
        body = b""
        while size := int((await peer.reader.readline()), 16):
            body += (await peer.exactly(size + 2))[:-2]
        await peer.exactly(2)
        return body
    length = head.split(b"content-length: ")[1].split(b"\r\n")[0]
    return await peer.exactly(int(length))
