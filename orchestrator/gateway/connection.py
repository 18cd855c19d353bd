"""One TCP connection as the gateway reads and writes it: buffered, bounded, and aware of its end.

asyncio's streams hide the moment at which a peer goes away until somebody reads. A proxy has to
know at once, to let go of the other side; hence a protocol of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import ssl
import struct
from collections.abc import Callable
from ipaddress import ip_address
from typing import cast

from orchestrator.gateway.heads import MAX_HEAD_BYTES, BadMessageError
from orchestrator.gateway.policy import SocketAddress

# Reading stops above this and goes on when the buffer is taken: what bounds memory.
_BUFFER_BYTES = 256 * 1024
_BARE_LF = re.compile(rb"(?<!\r)\n")


class PeerGoneError(Exception):
    """The peer closed or broke the connection before it had sent, or taken, all it should."""


class BufferedConnection(asyncio.Protocol):
    """A connection; one task reads it and one task (maybe the same) writes it.

    Attributes:
        on_end: called once when the peer ends or breaks the connection, at that moment.
    """

    def __init__(
        self,
        alive: set[BufferedConnection],
        on_open: Callable[[BufferedConnection], None] | None = None,
    ) -> None:
        self._alive = alive
        self._on_open = on_open
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None
        self._paused = False
        self._congested = False
        self._ended = False
        self._broken = False
        self.on_end: Callable[[], None] | None = None
        self.closed: asyncio.Future[None] = self._loop.create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        # asyncio does so itself only for sockets that were made with the protocol's number.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._alive.add(self)
        if self._on_open is not None:
            self._on_open(self)

    def data_received(self, data: bytes) -> None:
        """Keep bytes for the reader; stop reading where it lags behind."""
        self._buffer += data
        if len(self._buffer) > _BUFFER_BYTES and not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()
        _wake(self._reader)

    def eof_received(self) -> None:
        """Take a peer that sends no more for gone, as browsers and servers mean it."""
        self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        self._broken = exc is not None
        self._end()
        self._alive.discard(self)
        self.closed.set_result(None)

    def pause_writing(self) -> None:
        self._congested = True

    def resume_writing(self) -> None:
        self._congested = False
        _wake(self._writer)

    @property
    def has_ended(self) -> bool:
        """Whether the peer is gone or this side has closed; bytes may still wait to be read."""
        return self._ended or self._transport is None or self._transport.is_closing()

    @property
    def has_data(self) -> bool:
        return bool(self._buffer)

    async def arrival(self) -> bytes:
        """Wait for bytes and return the first one without taking it; empty at the end."""
        while not self._buffer and not self._ended:
            await self._more()
        return bytes(self._buffer[:1])

    async def read(self, limit: int = _BUFFER_BYTES) -> bytes:
        """Return at least one byte and at most `limit`; empty at the end."""
        while not self._buffer and not self._ended:
            await self._more()
        if self._broken and not self._buffer:
            raise PeerGoneError
        piece = bytes(self._buffer[:limit])
        self._take(len(piece))
        return piece

    async def head(self) -> bytes:
        """Return a message's head without the empty line that ends it, which is taken too."""
        return await self._until(b"\r\n\r\n", MAX_HEAD_BYTES)

    async def line(self, limit: int) -> bytes:
        """Return one line without its CRLF, which is taken too; raises as `head` does."""
        return await self._until(b"\r\n", limit)

    def write(self, data: bytes) -> None:
        """Send bytes; follow with `drain` where there may be many."""
        if self._transport is None or self.has_ended:
            raise PeerGoneError
        self._transport.write(data)

    async def drain(self) -> None:
        """Wait while the peer takes bytes more slowly than they come."""
        while self._congested and not self._ended:
            self._writer = self._loop.create_future()
            try:
                await self._writer
            finally:
                self._writer = None
        if self._ended:
            raise PeerGoneError

    async def start_tls(self, context: ssl.SSLContext, deadline_s: float, first: bytes) -> None:
        """Send plain bytes, and be a TLS server from then on.

        Nothing that the peer sends between the two can be taken for plain: reading stops before
        the event loop goes on.

        Raises:
            PeerGoneError: the peer broke the handshake off, or already sent what nobody asked for.
        """
        if self._transport is None or self.has_ended or self._buffer:
            raise PeerGoneError
        self._transport.write(first)
        try:
            secured = await self._loop.start_tls(
                self._transport,
                self,
                context,
                server_side=True,
                ssl_handshake_timeout=deadline_s,
            )
        except (OSError, TimeoutError):  # SSLError among them
            raise PeerGoneError from None
        if secured is None:
            raise PeerGoneError
        self._transport = secured

    def end_writing(self) -> None:
        """Send what is unsent and then the end of the stream, and go on reading."""
        # TLS has no half-closed connections: what ends one there is the close that follows.
        if self._transport is not None and not self.has_ended and self._transport.can_write_eof():
            with contextlib.suppress(OSError):  # a peer that has just reset the connection
                self._transport.write_eof()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def reset(self) -> None:
        """Close at once so that the peer sees a reset: what it has got so far is not all."""
        if self._transport is not None and not self.has_ended:
            at_once = struct.pack("ii", 1, 0)
            self._transport.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, at_once
            )
            self._transport.abort()

    async def _until(self, end: bytes, limit: int) -> bytes:
        searched = 0
        while (found := self._buffer.find(end, searched, limit + len(end))) < 0:
            if len(self._buffer) >= limit + len(end):
                raise BadMessageError(f"a head or line of more than {limit} bytes", 431)
            if _BARE_LF.search(self._buffer):
                raise BadMessageError("a line ends in a bare LF")
            if self._ended:
                raise PeerGoneError
            searched = max(0, len(self._buffer) - len(end) + 1)
            await self._more()
        taken = bytes(self._buffer[:found])
        self._take(found + len(end))
        return taken

    async def _more(self) -> None:
        self._reader = self._loop.create_future()
        try:
            await self._reader
        finally:
            self._reader = None

    def _take(self, count: int) -> None:
        del self._buffer[:count]
        if self._paused and len(self._buffer) <= _BUFFER_BYTES and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()

    def _end(self) -> None:
        if self._ended:
            return
        self._ended = True
        _wake(self._reader)
        _wake(self._writer)
        if self.on_end is not None:
            self.on_end()


def _wake(waiter: asyncio.Future[None] | None) -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)


async def splice(one: BufferedConnection, other: BufferedConnection) -> None:
    """Pass bytes both ways until either side ends, then close both, unsent bytes first.

    It may be idle for as long as the browser context lives.
    """
    async with asyncio.TaskGroup() as both:
        both.create_task(_pump(one, other))
        both.create_task(_pump(other, one))


async def _pump(source: BufferedConnection, sink: BufferedConnection) -> None:
    try:
        while piece := await source.read():
            sink.write(piece)
            await sink.drain()
    except PeerGoneError:
        pass  # either side may end a tunnel at any time: that is how tunnels end
    finally:
        sink.close()


_MAX_IDLE = 16
# RFC 8305, 5: when to try a name's next address beside the one that has not answered yet.
_NEXT_ADDRESS_S = 0.25


class UpstreamError(Exception):
    """An upstream could not be reached, or broke off; `status` is what the client gets."""

    def __init__(self, reason: str, status: int = 502) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status


class ConnectionPool:
    """The connections to one address."""

    def __init__(
        self, address: SocketAddress, alive: set[BufferedConnection], connect_s: float
    ) -> None:
        self._address = address
        self._alive = alive
        self._connect_s = connect_s
        self._idle: list[BufferedConnection] = []
        self._is_name = not _is_ip(address.host)

    @property
    def address(self) -> SocketAddress:
        return self._address

    async def connect(self) -> BufferedConnection:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._connect_s):
                _, connection = await loop.create_connection(
                    lambda: BufferedConnection(self._alive),
                    self._address.host,
                    self._address.port,
                    happy_eyeballs_delay=_NEXT_ADDRESS_S if self._is_name else None,
                )
        except TimeoutError:
            message = f"no connection to {self._address} within {self._connect_s:g} s"
            raise UpstreamError(message) from None
        except OSError as error:
            message = f"no connection to {self._address}: {error.strerror or error}"
            raise UpstreamError(message) from None
        return connection

    def take(self) -> BufferedConnection | None:
        """Return a connection that was kept, the one last used first; None where there is none.

        One on which bytes came that nobody asked for is closed: they would answer the next request.
        """
        while self._idle:
            connection = self._idle.pop()
            connection.on_end = None
            if not connection.has_ended and not connection.has_data:
                return connection
            connection.close()
        return None

    def keep(self, connection: BufferedConnection) -> None:
        """Keep a connection for the next request, or close it where there are enough."""
        if connection.has_ended or len(self._idle) >= _MAX_IDLE:
            connection.on_end = None
            connection.close()
            return
        self._idle.append(connection)
        connection.on_end = lambda: self._idle.remove(connection)


def _is_ip(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
