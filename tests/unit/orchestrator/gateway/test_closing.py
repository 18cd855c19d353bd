from __future__ import annotations

import asyncio
import gc

import pytest
from quick_cases import SLOW
from support.sites.raw_http import MemoryPeak, Peer, Stage, get, keeps_answering, unchanging

from orchestrator.gateway.policy import Policy
from orchestrator.gateway.server import Gateway

HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
PIECE = b"x" * 65_536
PIECES = 800


@SLOW
async def test_closing_ends_every_connection_and_leaves_no_task(stage: Stage) -> None:
    """One each: idle, in a tunnel, waiting for an answer, receiving one, sending a body."""
    left: list[bytes] = []

    async def never_end(peer: Peer) -> None:
        head = await peer.head()
        if b"/stream" in head:
            await peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
        await peer.reader.read()
        left.append(head)

    shop, idle = await stage.server(never_end), await stage.server(keeps_answering(HELLO))
    live = shop.route("live.org", live=True, port=443)
    before = asyncio.all_tasks()
    async with Gateway.open(Policy((shop.route(), idle.route("idle.test"), live))) as gateway:
        clients = [await stage.client(gateway) for _ in range(6)]
        await clients[0].send(get(host="idle.test"))
        await clients[0].response()
        await clients[1].send(b"CONNECT live.org:443 HTTP/1.1\r\n\r\n\x16")
        await clients[1].head()
        await clients[2].send(get("/wait"))
        await clients[3].send(get("/stream"))
        await clients[3].head()
        await clients[4].send(get(method="POST", extra="Content-Length: 9\r\n") + b"x")
        await clients[5].send(b"GET http://sho")
        while gateway.journal.in_flight < 3:
            await gateway.journal.changed()

    for client in clients:
        assert await client.rest() in {b"", b"1\r\nx\r\n"}
    leftover = {task for task in asyncio.all_tasks() - before if "gateway" in task.get_name()}
    assert leftover == set()
    gc.collect()  # an unclosed socket would warn here, and warnings are errors


async def test_a_gateway_that_is_closed_accepts_nothing(stage: Stage) -> None:
    shop = await stage.server(keeps_answering(HELLO))
    async with Gateway.open(Policy((shop.route(),))) as gateway:
        pass

    with pytest.raises(ConnectionRefusedError):
        await stage.client(gateway)


async def test_an_error_in_the_block_closes_the_gateway_as_well(stage: Stage) -> None:
    shop = await stage.server(keeps_answering(HELLO))
    clients: list[Peer] = []

    async def fail_inside() -> None:
        async with Gateway.open(Policy((shop.route(),))) as gateway:
            clients.append(await stage.client(gateway))
            await clients[0].send(get())
            await clients[0].response()
            raise LookupError

    with pytest.raises(LookupError):
        await fail_inside()
    assert await clients[0].rest() == b""


async def test_fifty_megabytes_pass_a_slow_reader_in_bounded_memory(stage: Stage) -> None:
    sent = 0

    async def pour(peer: Peer) -> None:
        nonlocal sent
        await peer.head()
        await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (len(PIECE) * PIECES))
        for _ in range(PIECES):
            peer.writer.write(PIECE)
            await peer.writer.drain()
            sent += len(PIECE)

    shop = await stage.server(pour)
    client = await stage.client(await stage.gateway(shop.route()))
    await client.send(get())
    await client.head()
    peak = MemoryPeak()
    held_back = await unchanging(lambda: sent)

    got = 0
    while got < len(PIECE) * PIECES:
        got += len(await client.reader.read(1 << 20))

    assert held_back < 16_000_000  # sockets' and our buffers; the rest waited at the server
    assert peak.grown_by() < 25_000_000
