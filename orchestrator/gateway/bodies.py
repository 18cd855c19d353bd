"""Message bodies, passed on piece by piece: never more in memory than a connection's buffer."""

from __future__ import annotations

import re
from typing import assert_never

from orchestrator.gateway.connection import BufferedConnection, PeerGoneError
from orchestrator.gateway.heads import BadMessageError, BodyKind, Framing, parse_field

_CHUNK_LINE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?")
_MAX_LINE_BYTES = 4096
_MAX_TRAILERS = 64
# RFC 9110, 6.5.1: what says where a message ends or goes is no trailer.
_HEAD_ONLY = frozenset({b"content-length", b"transfer-encoding", b"host"})


class Body:
    """A body as it arrives on a wire."""

    def __init__(self, connection: BufferedConnection, framing: Framing) -> None:
        self._connection = connection
        self._kind = framing.kind
        self._left = framing.length
        self.complete = framing.kind is BodyKind.NONE

    @property
    def has_data(self) -> bool:
        """Whether the next piece can be had without waiting for the peer."""
        return self._connection.has_data

    async def piece(self) -> bytes:
        """Return the next bytes; empty when the body is complete."""
        match self._kind:
            case BodyKind.NONE:
                return b""
            case BodyKind.LENGTH:
                piece = await self._some()
                self.complete = not self._left
                return piece
            case BodyKind.CHUNKED:
                return await self._chunk_piece()
            case BodyKind.UNTIL_CLOSE:
                piece = await self._connection.read()
                self.complete = not piece
                return piece
            case _:
                assert_never(self._kind)

    async def _some(self) -> bytes:
        piece = await self._connection.read(self._left) if self._left else b""
        if not piece and self._left:
            raise PeerGoneError
        self._left -= len(piece)
        return piece

    async def _chunk_piece(self) -> bytes:
        if self.complete:
            return b""
        if not self._left:
            self._left = await self._chunk_size()
        if not self._left:
            await self._skip_trailers()
            self.complete = True
            return b""
        piece = await self._some()
        if not self._left and await self._connection.line(2) != b"":
            raise BadMessageError("a chunk is longer than it says")
        return piece

    async def _chunk_size(self) -> int:
        found = _CHUNK_LINE.fullmatch(await self._connection.line(_MAX_LINE_BYTES))
        if found is None:
            raise BadMessageError("a chunk's size is malformed")
        return int(found[1], 16)

    async def _skip_trailers(self) -> None:
        # Dropped, as RFC 9110, 6.5.1 allows: nothing may slip in behind the head's checks. Read
        # first: another parser may take for a request what is no trailer.
        for _ in range(_MAX_TRAILERS):
            line = await self._connection.line(_MAX_LINE_BYTES)
            if line == b"":
                return
            if parse_field(line).key in _HEAD_ONLY:
                raise BadMessageError("a trailer belongs into the head")
        raise BadMessageError("too many trailers")


def chunk(piece: bytes) -> bytes:
    """Return a piece of a body as a chunk."""
    return b"%x\r\n%b\r\n" % (len(piece), piece)


async def held_back(body: Body, most: int) -> bytes:
    """Return a body, or its first pieces where it is longer than `most`: it is incomplete then."""
    held = bytearray()
    while not body.complete and len(held) <= most:
        held += await body.piece()
    return bytes(held)


async def relay(body: Body, to: BufferedConnection, *, head: bytes = b"", chunked: bool) -> None:
    """Send a head and then a body, as chunks of our own where `chunked`.

    The head leaves at once, together with the body's first bytes where those are here already.
    """
    if head and not body.has_data:
        to.write(head)
        head = b""
    while not body.complete:
        piece = await body.piece()
        if chunked:
            piece = chunk(piece)  # the empty piece ends the body
        if head or piece:
            to.write(head + piece)
            head = b""
            await to.drain()
    if head:
        to.write(head)
