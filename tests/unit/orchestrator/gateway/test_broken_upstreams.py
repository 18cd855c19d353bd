from __future__ import annotations

import asyncio
import socket
import struct

import pytest
from support.sites.raw_http import Peer, Stage, answers, get, keeps_answering, read_upload

from orchestrator.gateway.conversation import Deadlines
from orchestrator.gateway.policy import Route
from orchestrator.gateway.server import Gateway

CHUNKED = "Transfer-Encoding: chunked\r\n"
HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


async def closed_port(stage: Stage) -> Route:
    """Return a route to a port on which nobody listens any more."""
    server = await asyncio.start_server(lambda _r, _w: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    gone = await stage.server(answers())
    gone.port = port
    return gone.route()


async def the_page(stage: Stage, gateway: Gateway) -> tuple[int, str]:
    client = await stage.client(gateway)
    await client.send(get("/kettle"))
    status, page = await client.response()
    return status, page.decode()


async def test_an_upstream_that_is_down_is_a_page_that_says_what_and_where(stage: Stage) -> None:
    route = await closed_port(stage)
    gateway = await stage.gateway(route)

    status, page = await the_page(stage, gateway)

    (exchange,) = gateway.journal.since(0)
    assert status == exchange.status == 502
    assert f"no connection to 127.0.0.1:{route.address.port}" in page
    assert "site shop" in page
    assert exchange.failed is not None
    assert exchange.refused is None


async def test_an_upstream_that_stays_silent_is_given_up(stage: Stage) -> None:
    async def silent(peer: Peer) -> None:
        await peer.reader.read()

    shop = await stage.server(silent)
    gateway = await stage.gateway(shop.route(), deadlines=Deadlines(first_byte_s=0.1))

    status, page = await the_page(stage, gateway)

    assert status == 504
    assert "within 0.1 s" in page


async def test_an_upload_counts_the_first_byte_from_its_own_end(stage: Stage) -> None:
    async def slow_but_fine(peer: Peer) -> None:
        await read_upload(peer)
        await peer.send(HELLO)

    shop = await stage.server(slow_but_fine)
    gateway = await stage.gateway(shop.route(), deadlines=Deadlines(first_byte_s=0.3))
    client = await stage.client(gateway)
    await client.send(get(method="POST", extra="Content-Length: 8\r\n"))
    for _ in range(8):
        await asyncio.sleep(0.08)
        await client.send(b"x")

    assert await client.response() == (200, b"hello")


async def test_a_silent_upstream_is_given_up_after_an_upload_too(stage: Stage) -> None:
    async def silent(peer: Peer) -> None:
        await peer.reader.read()

    shop = await stage.server(silent)
    gateway = await stage.gateway(shop.route(), deadlines=Deadlines(first_byte_s=0.1))
    client = await stage.client(gateway)
    await client.send(get(method="POST", extra="Content-Length: 1\r\n") + b"x")

    assert (await client.response())[0] == 504


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 200 OK\nContent-Length: 2\n\nhi",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nhi",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 70_000 + b"\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
    ],
)
async def test_a_response_that_makes_no_sense_is_a_502(stage: Stage, answer: bytes) -> None:
    shop = await stage.server(answers(answer))
    gateway = await stage.gateway(shop.route())

    status, page = await the_page(stage, gateway)

    (exchange,) = gateway.journal.since(0)
    assert status == 502
    assert exchange.failed is not None
    assert exchange.failed.replace("'", "&#x27;") in page


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf!\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nzz\r\n",
    ],
)
async def test_a_response_that_breaks_off_is_not_passed_as_whole(
    stage: Stage, answer: bytes
) -> None:
    shop = await stage.server(answers(answer))
    gateway = await stage.gateway(shop.route())
    client = await stage.client(gateway)
    await client.send(get())

    with pytest.raises(ConnectionResetError):
        await client.rest()
    (exchange,) = gateway.journal.since(0)
    assert exchange.status == 200
    assert exchange.failed is not None
    assert "127.0.0.1" in exchange.failed or "not HTTP/1.1" in exchange.failed


async def test_a_reset_is_distinguished_from_the_end_of_a_body_without_length(stage: Stage) -> None:
    async def break_off(peer: Peer) -> None:
        await peer.head()
        await peer.send(b"HTTP/1.1 200 OK\r\n\r\nhalf of")
        await may_break.wait()
        at_once = struct.pack("ii", 1, 0)
        raw = peer.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        peer.writer.transport.abort()

    may_break = asyncio.Event()
    shop = await stage.server(break_off)
    gateway = await stage.gateway(shop.route())
    client = await stage.client(gateway)
    await client.send(get())
    await client.head()
    await client.exactly(7)
    may_break.set()

    with pytest.raises(ConnectionResetError):
        await client.rest()
    assert gateway.journal.since(0)[0].failed is not None


async def test_bytes_that_nobody_asked_for_do_not_answer_the_next_request(stage: Stage) -> None:
    shop = await stage.server(keeps_answering(HELLO + b"HTTP/1.1 200 OK\r\n\r\nforged"))
    client = await stage.client(await stage.gateway(shop.route()))
    for _ in range(2):
        await client.send(get())
        assert await client.response() == (200, b"hello")

    assert shop.connections == 2


async def test_bytes_that_come_while_a_connection_is_kept_make_it_unusable(stage: Stage) -> None:
    spoken = asyncio.Event()
    unasked = asyncio.Event()

    async def speak_unasked(peer: Peer) -> None:
        await peer.head()
        await peer.send(HELLO)
        await unasked.wait()
        await peer.send(HELLO.replace(b"hello", b"wrong"))
        spoken.set()
        await peer.reader.read()

    shop = await stage.server(speak_unasked)
    client = await stage.client(await stage.gateway(shop.route()))
    await client.send(get())
    await client.response()
    unasked.set()
    await spoken.wait()
    await asyncio.sleep(0.05)
    await client.send(get())

    assert await client.response() == (200, b"hello")
    assert shop.connections == 2


@pytest.mark.parametrize("status", ["100 Continue", "101 Switching Protocols", "103 Early Hints"])
async def test_an_interim_response_whose_body_could_be_read_in_two_ways_is_refused(
    stage: Stage, status: str
) -> None:
    interim = f"HTTP/1.1 {status}\r\nContent-Length: 4\r\n{CHUNKED}\r\n".encode()
    shop = await stage.server(answers(interim + HELLO))

    status_of_page, page = await the_page(stage, await stage.gateway(shop.route()))

    assert status_of_page == 502
    assert "both Content-Length and Transfer-Encoding" in page
