from __future__ import annotations

import asyncio
from typing import Any

import pytest
from quick_cases import SLOW
from support.sites.raw_http import (
    SHOP,
    Peer,
    Stage,
    answers,
    get,
    keeps_answering,
    read_upload,
    unchanging,
)

from orchestrator.gateway import forwarding
from orchestrator.gateway.policy import Route

CHUNKED = "Transfer-Encoding: chunked\r\n"
HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


async def test_a_request_arrives_as_a_browser_without_proxy_would_have_sent_it(
    stage: Stage,
) -> None:
    heads: list[bytes] = []

    async def keep_head(peer: Peer) -> None:
        heads.append(await peer.head())
        await peer.send(HELLO)

    shop = await stage.server(keep_head)
    client = await stage.client(await stage.gateway(shop.route()))
    await client.send(
        b"GET http://shop.arena.test/p?q=1 HTTP/1.1\r\nHost: shop.arena.test\r\n"
        b"Proxy-Connection: keep-alive\r\nUSER-agent: X\r\nCookie: a=b\r\n\r\n"
    )

    assert await client.response() == (200, b"hello")
    (head,) = heads
    assert head == (
        b"GET /p?q=1 HTTP/1.1\r\nHost: shop.arena.test\r\nConnection: keep-alive\r\n"
        b"USER-agent: X\r\nCookie: a=b\r\n\r\n"
    )


async def test_both_sides_are_kept_alive(stage: Stage) -> None:
    shop = await stage.server(keeps_answering(HELLO))
    gateway = await stage.gateway(shop.route())
    client = await stage.client(gateway)
    for _ in range(5):
        await client.send(get())
        assert await client.response() == (200, b"hello")

    assert shop.connections == 1
    assert len(gateway.journal.since(0)) == 5


async def echo_path(peer: Peer) -> None:
    while head := await peer.head():
        path = head.split(b" ")[1]
        await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(path) + path)


async def test_pipelined_requests_are_answered_in_order(stage: Stage) -> None:
    shop = await stage.server(echo_path)
    client = await stage.client(await stage.gateway(shop.route()))
    await client.send(get("/1") + get("/22") + get("/333"))

    assert [(await client.response())[1] for _ in range(3)] == [b"/1", b"/22", b"/333"]


@pytest.mark.parametrize(
    "response",
    [
        b"HTTP/1.1 204 No Content\r\nX: y\r\n\r\n",
        b'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\n',
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    ],
)
async def test_a_response_passes_unchanged_and_another_can_follow(
    stage: Stage, response: bytes
) -> None:
    shop = await stage.server(keeps_answering(response))
    client = await stage.client(await stage.gateway(shop.route()))
    for _ in range(2):
        await client.send(get())
        assert await client.exactly(len(response)) == response

    assert shop.connections == 1


async def test_the_response_to_head_has_no_body_whatever_its_length_says(stage: Stage) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
    shop = await stage.server(keeps_answering(head))
    client = await stage.client(await stage.gateway(shop.route()))
    for _ in range(2):
        await client.send(get(method="HEAD"))
        assert await client.exactly(len(head)) == head


async def test_a_body_that_ends_with_the_connection_ends_the_clients_too(stage: Stage) -> None:
    shop = await stage.server(answers(b"HTTP/1.0 200 OK\r\n\r\nuntil the end"))
    client = await stage.client(await stage.gateway(shop.route()))
    await client.send(get())

    assert await client.rest() == b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end"


async def test_a_body_streams_on_before_it_is_complete(stage: Stage) -> None:
    go_on = asyncio.Event()

    async def two_parts(peer: Peer) -> None:
        await peer.head()
        await peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
        await go_on.wait()
        await peer.send(b"3\r\ntwo\r\n0\r\n\r\n")

    shop = await stage.server(two_parts)
    gateway = await stage.gateway(shop.route())
    client = await stage.client(gateway)
    await client.send(get())

    await client.head()
    assert await client.exactly(8) == b"3\r\none\r\n"
    assert gateway.journal.in_flight == 1
    go_on.set()
    assert await client.exactly(13) == b"3\r\ntwo\r\n0\r\n\r\n"
    assert await gateway.journal.quiet(1)


@pytest.mark.parametrize(
    ("extra", "body", "expected"),
    [
        ("Content-Length: 7\r\n", b"a=1&b=2", b"a=1&b=2"),
        (CHUNKED, b"3\r\na=1\r\n4;x\r\n&b=2\r\n0\r\nT: u\r\n\r\n", b"a=1&b=2"),
        ("Content-Length: 3000000\r\n", b"x" * 3_000_000, b"x" * 3_000_000),
    ],
)  # fmt: skip
async def test_a_request_body_arrives_and_counts_as_a_write(
    stage: Stage, extra: str, body: bytes, expected: bytes
) -> None:
    arrived: list[bytes] = []

    async def take(peer: Peer) -> None:
        for _ in range(2):
            arrived.append(await read_upload(peer))
            await peer.send(HELLO)

    shop = await stage.server(take)
    gateway = await stage.gateway(shop.route())
    client = await stage.client(gateway)
    for _ in range(2):
        await client.send(get(method="POST", extra=extra) + body)
        assert await client.response() == (200, b"hello")

    assert arrived == [expected, expected]
    assert gateway.journal.writes("shop") == 2
    assert all(exchange.may_write for exchange in gateway.journal.since(0))


@pytest.mark.parametrize(
    ("method", "writes"),
    [("GET", 0), ("HEAD", 0), ("OPTIONS", 0), ("TRACE", 0), ("DELETE", 1), ("PURGE", 1)],
)
async def test_methods_that_may_write_are_counted(stage: Stage, method: str, writes: int) -> None:
    shop = await stage.server(keeps_answering(b"HTTP/1.1 204 No Content\r\n\r\n"))
    gateway = await stage.gateway(shop.route())
    client = await stage.client(gateway)
    await client.send(get(method=method))
    await client.head()

    assert gateway.journal.writes("shop") == writes


async def test_expect_continue_asks_the_server_before_the_body_is_sent(stage: Stage) -> None:
    async def agree(peer: Peer) -> None:
        head = await peer.head()
        assert b"Expect: 100-continue" in head
        await peer.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        await peer.exactly(4)
        await peer.send(HELLO)

    shop = await stage.server(agree)
    client = await stage.client(await stage.gateway(shop.route()))
    await client.send(get(method="PUT", extra="Content-Length: 4\r\nExpect: 100-continue\r\n"))

    assert await client.head() == b"HTTP/1.1 100 Continue\r\n\r\n"
    await client.send(b"body")
    assert await client.response() == (200, b"hello")


async def test_a_final_answer_to_expect_ends_the_connection_without_the_body(
    stage: Stage,
) -> None:
    shop = await stage.server(answers(b"HTTP/1.1 417 No\r\nContent-Length: 2\r\n\r\nno"))
    client = await stage.client(await stage.gateway(shop.route()))
    await client.send(get(method="PUT", extra="Content-Length: 4\r\nExpect: 100-continue\r\n"))

    answer = await client.rest()
    assert answer.startswith(b"HTTP/1.1 417 No\r\n")
    assert answer.endswith(b"Connection: close\r\n\r\nno")


async def test_an_answer_before_the_body_is_through_still_reaches_the_client(
    stage: Stage,
) -> None:
    async def too_large(peer: Peer) -> None:
        await peer.head()
        await peer.send(b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig")
        while await peer.reader.read(65536):
            pass

    shop = await stage.server(too_large)
    client = await stage.client(await stage.gateway(shop.route()))
    await client.send(get(method="POST", extra="Content-Length: 5000000\r\n"))
    await client.send(b"x" * 1_000_000)

    answer = await client.rest()
    assert answer.startswith(b"HTTP/1.1 413 Too Large\r\n")
    assert answer.endswith(b"big")


async def test_a_connection_that_still_waits_for_a_body_never_carries_another_request(
    stage: Stage,
) -> None:
    """The next request would be read as the rest of that body."""

    async def answer_early(peer: Peer) -> None:
        await peer.head()
        await peer.send(HELLO)
        await peer.reader.read()

    shop = await stage.server(answer_early)
    gateway = await stage.gateway(shop.route())
    uploading, asking = await stage.client(gateway), await stage.client(gateway)
    await uploading.send(get(method="POST", extra="Content-Length: 500\r\n") + b"x")
    await uploading.response()
    await asking.send(get())

    assert await asking.response() == (200, b"hello")
    assert shop.connections == 2


async def test_a_connection_that_the_server_will_close_is_not_kept(stage: Stage) -> None:
    async def last_answer(peer: Peer) -> None:
        await peer.head()
        await peer.send(HELLO.replace(b"OK\r\n", b"OK\r\nConnection: close\r\n"))
        await peer.reader.read()

    shop = await stage.server(last_answer)
    client = await stage.client(await stage.gateway(shop.route()))
    for _ in range(2):
        await client.send(get())
        assert await client.response() == (200, b"hello")

    assert shop.connections == 2


async def test_a_stale_kept_connection_costs_a_get_nothing(stage: Stage) -> None:
    """The server reads the second request on its kept connection and hangs up unanswered."""
    first = True

    async def hang_up_once(peer: Peer) -> None:
        nonlocal first
        await peer.head()
        await peer.send(HELLO)
        if first:
            first = False
            await peer.head()
            return
        await peer.head()

    shop = await stage.server(hang_up_once)
    gateway = await stage.gateway(shop.route())
    client = await stage.client(gateway)
    for _ in range(2):
        await client.send(get())
        assert await client.response() == (200, b"hello")

    assert shop.connections == 2
    assert [exchange.failed for exchange in gateway.journal.since(0)] == [None, None]


async def test_a_second_hang_up_is_not_tried_a_third_time(stage: Stage) -> None:
    answered = False

    async def hang_up(peer: Peer) -> None:
        nonlocal answered
        await peer.head()
        if not answered:
            answered = True
            await peer.send(HELLO)
            await peer.head()

    shop = await stage.server(hang_up)
    client = await stage.client(await stage.gateway(shop.route()))
    await client.send(get())
    await client.response()
    await client.send(get())

    assert (await client.response())[0] == 502
    assert shop.connections == 2


async def test_a_post_never_travels_on_a_kept_connection(stage: Stage) -> None:
    """So it is neither lost to a server that is just closing it, nor sent twice."""
    posts: list[bytes] = []

    async def only_one_each(peer: Peer) -> None:
        posts.append(await peer.head())
        await peer.send(HELLO)
        await peer.reader.read()

    shop = await stage.server(only_one_each)
    client = await stage.client(await stage.gateway(shop.route()))
    for method in ("GET", "POST", "POST"):
        await client.send(get(method=method))
        assert await client.response() == (200, b"hello")

    assert [post.split()[0] for post in posts] == [b"GET", b"POST", b"POST"]


@SLOW
async def test_a_hundred_requests_at_once_all_get_their_own_answer(stage: Stage) -> None:
    shop = await stage.server(echo_path)
    gateway = await stage.gateway(shop.route())

    async def ask(number: int) -> bytes:
        client = await stage.client(gateway)
        await client.send(get(f"/{number}"))
        return (await client.response())[1]

    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(ask(number)) for number in range(100)]

    assert [task.result() for task in asked] == [b"/%d" % number for number in range(100)]
    assert gateway.journal.in_flight == 0


async def test_a_client_that_leaves_takes_its_upstream_connection_with_it(stage: Stage) -> None:
    asked, left = asyncio.Event(), asyncio.Event()

    async def never_answer(peer: Peer) -> None:
        await peer.head()
        asked.set()
        await peer.reader.read()
        left.set()

    shop = await stage.server(never_answer)
    gateway = await stage.gateway(shop.route())
    client = await stage.client(gateway)
    await client.send(get())
    await asyncio.wait_for(asked.wait(), 2)
    await client.close()

    await asyncio.wait_for(left.wait(), 2)
    assert await gateway.journal.quiet(1)
    (exchange,) = gateway.journal.since(0)
    assert (exchange.status, exchange.failed, exchange.refused) == (None, None, None)


async def test_a_client_that_stops_reading_and_leaves_ends_its_exchange(stage: Stage) -> None:
    left = asyncio.Event()
    poured = 0

    async def pour(peer: Peer) -> None:
        nonlocal poured
        await peer.head()
        await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
        try:
            while True:
                peer.writer.write(b"x" * 65536)
                await peer.writer.drain()
                poured += 65536
        except ConnectionError:
            left.set()

    shop = await stage.server(pour)
    gateway = await stage.gateway(shop.route())
    client = await stage.client(gateway)
    await client.send(get())
    await client.head()
    assert await unchanging(lambda: poured) > 0
    client.writer.transport.abort()

    await asyncio.wait_for(left.wait(), 2)
    assert await gateway.journal.quiet(2)


async def test_an_exchange_ends_with_its_last_byte_not_with_its_connection(stage: Stage) -> None:
    shop = await stage.server(answers(b"HTTP/1.1 200 OK\r\n\r\nuntil the end"))
    gateway = await stage.gateway(shop.route())
    client = await stage.client(gateway)
    await client.send(get())
    await client.rest()

    assert gateway.journal.in_flight == 0


async def test_a_live_host_without_an_address_is_found_by_its_name(stage: Stage) -> None:
    server = await stage.server(keeps_answering(HELLO))
    by_name = Route(site="here", live=True, host="localhost", port=server.port, connect_to=None)
    client = await stage.client(await stage.gateway(by_name))
    await client.send(get(host=f"localhost:{server.port}"))

    assert await client.response() == (200, b"hello")


async def test_an_http_1_0_client_gets_a_plain_body_and_the_end(stage: Stage) -> None:
    shop = await stage.server(
        answers(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n")
    )
    client = await stage.client(await stage.gateway(shop.route()))
    await client.send(f"GET http://{SHOP}/ HTTP/1.0\r\nHost: {SHOP}\r\n\r\n".encode())

    assert await client.rest() == b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhi"


async def test_an_upload_that_ends_as_the_answer_comes_disturbs_no_deadline() -> None:
    reports: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reports.append(context))

    async def uploading() -> None:
        return None

    upload = asyncio.create_task(uploading())
    async with forwarding._deadline(60.0, upload):
        while not upload.done():  # noqa: ASYNC110  its callbacks are queued in this very turn
            await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert reports == []
