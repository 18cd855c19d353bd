from __future__ import annotations

import asyncio

from support.sites.raw_http import SHOP, Peer, Server, Stage, answers, get, keeps_answering

from orchestrator.gateway.policy import Route
from orchestrator.gateway.server import Gateway

HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
TLS_HELLO = b"\x16\x03\x01\x00\x05hello"
UPGRADE = "Connection: Upgrade\r\nUpgrade: websocket\r\n"
SWITCHED = (
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Accept: x\r\n\r\n"
)


async def shout(peer: Peer) -> None:
    """Answer each piece in capitals until the client leaves."""
    while piece := await peer.reader.read(65536):
        await peer.send(piece.upper())


async def tunnel(stage: Stage, gateway: Gateway, target: str) -> Peer:
    client = await stage.client(gateway)
    await client.send(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
    assert (await client.head()).startswith(b"HTTP/1.1 200 ")
    return client


def live(server: Server, **rules: float) -> Route:
    return server.route("live.org", live=True, port=443, **rules)


async def test_tls_to_a_live_host_passes_unread_both_ways(stage: Stage) -> None:
    server = await stage.server(shout)
    gateway = await stage.gateway(live(server))
    client = await tunnel(stage, gateway, "live.org:443")
    await client.send(TLS_HELLO)

    assert await client.exactly(10) == TLS_HELLO.upper()
    (exchange,) = gateway.journal.since(0)
    assert (exchange.status, exchange.site, exchange.live) == (200, "live", True)
    assert exchange.tunnelled
    assert not exchange.may_write
    assert gateway.journal.in_flight == 0


async def test_bytes_sent_along_with_connect_are_not_lost(stage: Stage) -> None:
    server = await stage.server(shout)
    client = await stage.client(await stage.gateway(live(server)))
    await client.send(b"CONNECT live.org:443 HTTP/1.1\r\n\r\n" + TLS_HELLO)

    await client.head()
    assert await client.exactly(10) == TLS_HELLO.upper()


async def test_either_end_of_a_tunnel_closes_the_other(stage: Stage) -> None:
    left = asyncio.Event()

    async def until_left(peer: Peer) -> None:
        await peer.exactly(10)
        await peer.reader.read()
        left.set()

    async def say_goodbye(peer: Peer) -> None:
        await peer.exactly(10)
        await peer.send(b"x" * 500_000)

    patient, brief = await stage.server(until_left), await stage.server(say_goodbye)
    gateway = await stage.gateway(live(patient), brief.route("brief.org", live=True, port=443))

    client = await tunnel(stage, gateway, "live.org:443")
    await client.send(TLS_HELLO)
    await client.close()
    await asyncio.wait_for(left.wait(), 2)

    client = await tunnel(stage, gateway, "brief.org:443")
    await client.send(TLS_HELLO)
    assert len(await client.rest()) == 500_000


async def test_a_tunnel_that_is_never_used_ends_with_either_end(stage: Stage) -> None:
    async def leave(peer: Peer) -> None:
        await asyncio.sleep(0)

    gone = asyncio.Event()

    async def stay(peer: Peer) -> None:
        await peer.reader.read()
        gone.set()

    leaving, staying = await stage.server(leave), await stage.server(stay)
    gateway = await stage.gateway(live(leaving), staying.route("stay.org", live=True, port=443))

    assert await (await tunnel(stage, gateway, "live.org:443")).rest() == b""
    await (await tunnel(stage, gateway, "stay.org:443")).close()
    await asyncio.wait_for(gone.wait(), 2)


async def test_connect_to_a_live_host_that_is_down_is_a_502(stage: Stage) -> None:
    server = await stage.server(answers())
    server.port = 1
    gateway = await stage.gateway(live(server))
    client = await stage.client(gateway)
    await client.send(b"CONNECT live.org:443 HTTP/1.1\r\n\r\n")

    assert (await client.response())[0] == 502
    assert gateway.journal.since(0)[0].failed is not None


async def test_one_page_loads_worth_of_tunnels_opens_at_once_and_the_next_waits(
    stage: Stage,
) -> None:
    server = await stage.server(shout)
    gateway = await stage.gateway(live(server, pace_s=0.5))
    loop = asyncio.get_running_loop()

    begun = loop.time()
    for _ in range(6):
        await tunnel(stage, gateway, "live.org:443")
    assert loop.time() - begun < 0.45
    await tunnel(stage, gateway, "live.org:443")
    assert loop.time() - begun >= 0.5


async def test_plain_http_inside_a_tunnel_is_read_like_any_other(stage: Stage) -> None:
    shop = await stage.server(keeps_answering(HELLO))
    gateway = await stage.gateway(shop.route())
    client = await tunnel(stage, gateway, f"{SHOP}:80")
    for method in ("GET", "DELETE", "GET"):
        await client.send(f"{method} /a HTTP/1.1\r\nHost: {SHOP}\r\n\r\n".encode())
        assert await client.response() == (200, b"hello")

    assert gateway.journal.writes("shop") == 1
    assert [exchange.url for exchange in gateway.journal.since(1)] == [f"http://{SHOP}/a"] * 3


async def test_a_tunnel_is_no_way_around_read_only_or_to_another_host(stage: Stage) -> None:
    server = await stage.server(keeps_answering(HELLO))
    other = await stage.server(keeps_answering(HELLO))
    gateway = await stage.gateway(server.route("live.org", live=True), other.route())

    client = await tunnel(stage, gateway, "live.org:80")
    await client.send(b"DELETE / HTTP/1.1\r\nHost: live.org\r\n\r\n")
    assert (await client.response())[0] == 403
    await client.send(f"GET / HTTP/1.1\r\nHost: {SHOP}\r\n\r\n".encode())
    assert (await client.response())[0] == 400
    assert other.connections == 0


async def test_tls_to_a_replica_is_refused_because_nothing_may_reach_it_unread(
    stage: Stage,
) -> None:
    shop = await stage.server(shout)
    gateway = await stage.gateway(shop.route())
    client = await tunnel(stage, gateway, f"{SHOP}:80")
    await client.send(TLS_HELLO)

    assert (await client.rest()).startswith(b"HTTP/1.1 400 ")
    refused = gateway.journal.since(1)[0].refused
    assert refused == "TLS to shop.arena.test, whose replica speaks plain http"


async def switch_and_shout(peer: Peer) -> None:
    head = await peer.head()
    assert b"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" in head
    await peer.send(SWITCHED + b"early")
    await shout(peer)


async def test_a_websocket_is_joined_once_the_server_agrees(stage: Stage) -> None:
    shop = await stage.server(switch_and_shout)
    gateway = await stage.gateway(shop.route())
    client = await stage.client(gateway)
    await client.send(f"GET http://{SHOP}/ws HTTP/1.1\r\nHost: {SHOP}\r\n{UPGRADE}\r\n".encode())

    assert await client.head() == SWITCHED
    assert await client.exactly(5) == b"early"
    await client.send(b"hello")
    assert await client.exactly(5) == b"HELLO"
    (exchange,) = gateway.journal.since(0)
    assert (exchange.status, exchange.tunnelled, exchange.may_write) == (101, True, True)
    assert (gateway.journal.in_flight, gateway.journal.writes("shop")) == (0, 1)


async def test_what_a_websocket_does_to_a_live_host_is_not_known(stage: Stage) -> None:
    server = await stage.server(switch_and_shout)
    gateway = await stage.gateway(server.route("live.org", live=True))
    client = await stage.client(gateway)
    await client.send(
        b"GET http://live.org/ HTTP/1.1\r\nHost: live.org\r\n%b\r\n" % UPGRADE.encode()
    )
    await client.head()

    (exchange,) = gateway.journal.since(0)
    assert (exchange.tunnelled, exchange.may_write) == (True, False)


async def test_a_websocket_inside_a_tunnel_is_joined_too(stage: Stage) -> None:
    shop = await stage.server(switch_and_shout)
    gateway = await stage.gateway(shop.route())
    client = await tunnel(stage, gateway, f"{SHOP}:80")
    await client.send(f"GET /ws HTTP/1.1\r\nHost: {SHOP}\r\n{UPGRADE}\r\n".encode())

    assert await client.head() == SWITCHED
    await client.exactly(5)
    await client.send(b"hello")
    assert await client.exactly(5) == b"HELLO"


async def test_a_server_that_declines_a_websocket_answers_as_usual(stage: Stage) -> None:
    shop = await stage.server(keeps_answering(HELLO))
    client = await stage.client(await stage.gateway(shop.route()))
    for _ in range(2):
        await client.send(get(extra=UPGRADE))
        assert await client.response() == (200, b"hello")


async def test_other_upgrades_are_not_asked_for(stage: Stage) -> None:
    heads: list[bytes] = []

    async def keep_head(peer: Peer) -> None:
        heads.append(await peer.head())
        await peer.send(HELLO)

    shop = await stage.server(keep_head)
    client = await stage.client(await stage.gateway(shop.route()))
    await client.send(get(extra="Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"))
    await client.response()

    assert b"pgrade" not in heads[0]
