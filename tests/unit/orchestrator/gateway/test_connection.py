from __future__ import annotations

import asyncio
import socket
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.gateway.bodies import Body
from orchestrator.gateway.connection import BufferedConnection, PeerGoneError
from orchestrator.gateway.heads import BadMessageError, BodyKind, Framing

HEAD = b"GET / HTTP/1.1\r\nHost: shop.arena.test"
MESSAGE = HEAD + b"\r\n\r\n" + b"5;ext\r\nhello\r\n1\r\n!\r\n0\r\nTrailer: x\r\n\r\n" + b"next"
CUTS = st.lists(st.integers(0, len(MESSAGE)), max_size=12).map(
    lambda cuts: sorted({0, len(MESSAGE), *cuts})
)


async def read_message(cuts: list[int]) -> tuple[bytes, bytes, bytes]:
    connection = BufferedConnection(set())

    async def arrive() -> None:
        for start, end in pairwise(cuts):
            connection.data_received(MESSAGE[start:end])
            for _ in range(3):
                await asyncio.sleep(0)

    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        group.create_task(arrive())
        head = await connection.head()
        body = Body(connection, Framing(BodyKind.CHUNKED))
        content = b""
        while not body.complete:
            content += await body.piece()
    return head, content, await connection.read()


@given(CUTS)
def test_a_message_reads_the_same_however_it_is_cut_up(cuts: list[int]) -> None:
    assert asyncio.run(read_message(cuts)) == (HEAD, b"hello!", b"next")


async def test_a_head_that_ends_too_early_or_never_is_an_error() -> None:
    ended, endless = BufferedConnection(set()), BufferedConnection(set())
    ended.data_received(HEAD)
    ended.eof_received()
    endless.data_received(b"x" * 70_000)

    with pytest.raises(PeerGoneError):
        await ended.head()
    with pytest.raises(BadMessageError):
        await endless.head()


async def test_what_is_sent_in_pieces_waits_for_no_acknowledgement() -> None:
    opened = asyncio.get_running_loop().create_future()

    class Watched(BufferedConnection):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            opened.set_result(transport.get_extra_info("socket"))

    listener = socket.socket()  # as a browser hands one out: without the protocol's number
    listener.bind(("127.0.0.1", 0))
    server = await asyncio.get_running_loop().create_server(lambda: Watched(set()), sock=listener)
    async with server, asyncio.timeout(5):
        _, writer = await asyncio.open_connection(*listener.getsockname())
        accepted = await opened
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        writer.close()
