from __future__ import annotations

import asyncio

import pytest
from support.sites.raw_http import SHOP, Peer, Stage, answers, get, keeps_answering

from arena_core.errors import GatewayError
from orchestrator.gateway import conversation
from orchestrator.gateway.conversation import Deadlines
from orchestrator.gateway.policy import Policy, Route
from orchestrator.gateway.server import Gateway

HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


async def test_a_refused_host_gets_a_page_that_says_so(stage: Stage) -> None:
    shop = await stage.server(answers())
    wiki = await stage.server(answers())
    gateway = await stage.gateway(shop.route(), wiki.route("en.wikipedia.org", live=True, port=443))
    client = await stage.client(gateway)
    await client.send(get(host="evil.test"))

    status, page = await client.response()
    assert status == 403
    assert b"evil.test is not a site of this task" in page
    assert b'<a href="http://shop.arena.test/">' in page
    assert b'<a href="https://en.wikipedia.org/">' in page
    (exchange,) = gateway.journal.since(0)
    assert (exchange.url, exchange.site) == ("http://evil.test/", None)
    assert exchange.refused == "evil.test is not a site of this task"


async def test_a_refusal_leaves_the_connection_usable_and_nothing_counted(stage: Stage) -> None:
    shop = await stage.server(keeps_answering(HELLO))
    gateway = await stage.gateway(shop.route())
    client = await stage.client(gateway)
    await client.send(get(host="evil.test"))
    await client.response()
    await client.send(get(host="evil.test", method="DELETE"))
    await client.response()
    await client.send(get())

    assert await client.response() == (200, b"hello")
    assert not any(exchange.may_write for exchange in gateway.journal.since(0))


async def test_a_refused_upload_still_gets_its_page(stage: Stage) -> None:
    """Closing while the client sends would reset the connection before the page is read."""
    shop = await stage.server(answers())
    client = await stage.client(await stage.gateway(shop.route()))
    await client.send(get(host="evil.test", method="POST", extra="Content-Length: 9000000\r\n"))
    await client.send(b"x" * 2_000_000)

    assert b"not a site of this task" in await client.rest()


async def test_the_page_for_head_has_no_body(stage: Stage) -> None:
    shop = await stage.server(answers())
    client = await stage.client(await stage.gateway(shop.route()))
    await client.send(get(host="evil.test", method="HEAD"))
    await client.head()
    await client.send(get(host="evil.test"))

    assert (await client.response())[0] == 403


async def test_the_page_for_a_malformed_head_request_has_no_body(stage: Stage) -> None:
    shop = await stage.server(answers())
    client = await stage.client(await stage.gateway(shop.route()))
    await client.send(get(method="HEAD", extra="Content-Length: 1, 1\r\n"))

    response = await client.rest()
    assert response.startswith(b"HTTP/1.1 400 ")
    assert response.endswith(b"\r\n\r\n")


@pytest.mark.parametrize("target", ["evil.test:443", "shop.arena.test:443", "127.0.0.1:22"])
async def test_connect_to_anything_but_a_route_is_refused(stage: Stage, target: str) -> None:
    shop = await stage.server(answers())
    gateway = await stage.gateway(shop.route())
    client = await stage.client(gateway)
    await client.send(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())

    assert (await client.response())[0] == 403
    (exchange,) = gateway.journal.since(0)
    assert (exchange.method, exchange.url) == ("CONNECT", target)
    assert exchange.refused is not None
    assert shop.connections == 0


def test_what_a_client_wrote_is_escaped_in_pages() -> None:
    route = Route(site="shop", live=True, host="shop.org", port=80, connect_to=None)

    for page in (
        conversation.refusal_page(Policy((route,)), "<script>", 80),
        conversation.read_only_page(route, "<script>"),
        conversation.unreachable_page(route, "<script>"),
        conversation.malformed_page("<script>"),
    ):
        assert "&lt;script&gt;" in page
        assert "<script>" not in page


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"GET / HTTP/1.1\r\nHost: shop.arena.test\r\n\r\n", 400),
        (b"GET http://shop.arena.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n", 400),
        (b"GET http://shop.arena.test/ HTTP/1.1\r\n\r\n", 400),
        (b"GET http://shop.arena.test/ HTTP/1.1\nHost: shop.arena.test\n\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\r\n\r\n", 400),
        (get(extra="A: b\r\n c\r\n"), 400),
        (get(extra="X: " + "y" * 70_000 + "\r\n"), 431),
        (b"G" * 70_000, 431),
        (get(method="POST", extra="Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"), 400),
        (b"CONNECT shop.arena.test HTTP/1.1\r\n\r\n", 400),
        (b"CONNECT shop.arena.test:80 HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", 400),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    ],
)
async def test_a_malformed_request_is_answered_with_an_error_and_goes_nowhere(
    stage: Stage, request_bytes: bytes, status: int
) -> None:
    shop = await stage.server(answers(HELLO))
    gateway = await stage.gateway(shop.route())
    client = await stage.client(gateway)
    await client.send(request_bytes)

    assert (await client.rest()).startswith(f"HTTP/1.1 {status} ".encode())
    (exchange,) = gateway.journal.since(0)
    assert exchange.status == status
    assert exchange.refused is not None
    assert shop.connections == 0


@pytest.mark.parametrize(
    "body", [b"zz\r\n", b"4\r\nabcdX\r\n0\r\n\r\n", b"-1\r\n", b"1\nx\r\n", b"4 \n\r\n", b"f" * 17]
)
async def test_a_malformed_chunk_is_answered_with_an_error_and_never_passed_on(
    stage: Stage, body: bytes
) -> None:
    got: list[bytes] = []

    async def listen(peer: Peer) -> None:
        await peer.head()
        got.append(await peer.reader.read())

    shop = await stage.server(listen)
    gateway = await stage.gateway(shop.route())
    client = await stage.client(gateway)
    await client.send(get(method="POST", extra="Transfer-Encoding: chunked\r\n") + body)
    await client.send(b"\r\n" * 3000)

    assert (await client.rest()).split(b" ")[1] in {b"400", b"431"}
    (exchange,) = gateway.journal.since(0)
    assert exchange.refused is not None
    assert exchange.failed is None
    assert not any(b"0\r\n\r\n" in body for body in got)


async def test_a_head_that_is_never_finished_is_given_up(stage: Stage) -> None:
    shop = await stage.server(answers())
    client = await stage.client(await stage.gateway(shop.route(), deadlines=Deadlines(head_s=0.1)))
    await client.send(b"GET http://shop.arena.test/ HTTP/1.1\r\n")

    assert (await client.rest()).startswith(b"HTTP/1.1 408 ")


async def test_a_live_host_is_read_only_unless_the_route_allows_more(stage: Stage) -> None:
    live = await stage.server(keeps_answering(HELLO))
    gateway = await stage.gateway(
        live.route("read.org", live=True), live.route("write.org", live=True, read_only=False)
    )
    client = await stage.client(gateway)
    for method in ("GET", "OPTIONS"):
        await client.send(get(host="read.org", method=method))
        assert await client.response() == (200, b"hello")
    await client.send(get(host="read.org", method="DELETE"))
    status, page = await client.response()
    await client.send(get(host="write.org", method="DELETE"))

    assert await client.response() == (200, b"hello")
    assert status == 403
    assert b"read.org is read-only in this task: DELETE was not sent" in page
    assert (gateway.journal.writes("read"), gateway.journal.writes("write")) == (0, 1)
    assert gateway.journal.since(2)[0].refused == "read.org is read-only: DELETE"


async def test_pages_of_a_live_host_are_paced_and_their_parts_are_not(stage: Stage) -> None:
    live = await stage.server(keeps_answering(HELLO))
    gateway = await stage.gateway(live.route("slow.org", live=True, pace_s=0.5))
    client = await stage.client(gateway)
    loop = asyncio.get_running_loop()
    begun = loop.time()

    async def seconds_until(accept: str) -> float:
        await client.send(get(host="slow.org", extra=f"Accept: {accept}\r\n"))
        await client.response()
        return loop.time() - begun

    assert await seconds_until("text/html,*/*") < 0.45
    assert await seconds_until("image/png") < 0.45
    assert await seconds_until("text/html,*/*") >= 0.5


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.0.2.1", "localhost", ""])  # noqa: S104
async def test_nothing_but_loopback_is_ever_bound(address: str) -> None:
    with pytest.raises(GatewayError, match="loopback only"):
        async with Gateway.open(Policy(()), bind=address):
            pass


async def test_the_gateway_listens_on_loopback_and_where_its_url_says(stage: Stage) -> None:
    shop = await stage.server(keeps_answering(HELLO))
    gateway = await stage.gateway(shop.route())

    assert gateway.url.startswith("http://127.0.0.1:")
    client = await stage.client(gateway)
    await client.send(get(host=SHOP))
    assert await client.response() == (200, b"hello")
