"""A site that is told of the episode gets one header, the gateway's; no other site gets it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.sites.raw_http import Peer, Stage

HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
MADE_UP = (
    b"GET http://shop.arena.test/ HTTP/1.1\r\nHost: shop.arena.test\r\nx-arena-episode: mine\r\n"
)


async def head_that_arrives(stage: Stage, episode_info: str | None, request: bytes) -> bytes:
    heads: list[bytes] = []

    async def keep_head(peer: Peer) -> None:
        heads.append(await peer.head())
        await peer.send(HELLO)

    shop = await stage.server(keep_head)
    client = await stage.client(
        await stage.gateway(replace(shop.route(), episode_info=episode_info))
    )
    await client.send(request)
    assert await client.response() == (200, b"hello")
    return heads[0]


async def test_a_site_that_gets_episode_info_gets_the_gateways_and_not_the_browsers(
    stage: Stage,
) -> None:
    head = await head_that_arrives(stage, "eyJ9", MADE_UP + b"Accept: */*\r\n\r\n")
    assert head == (
        b"GET / HTTP/1.1\r\nHost: shop.arena.test\r\nAccept: */*\r\nX-Arena-Episode: eyJ9\r\n\r\n"
    )


async def test_it_is_sent_with_a_request_that_may_write_too(stage: Stage) -> None:
    post = (
        b"POST http://shop.arena.test/ HTTP/1.1\r\nHost: shop.arena.test\r\n"
        b"Content-Length: 0\r\n\r\n"
    )
    assert b"X-Arena-Episode: eyJ9\r\n" in await head_that_arrives(stage, "eyJ9", post)


@pytest.mark.parametrize("said", [b"", b"x-arena-episode: mine\r\n"])
async def test_no_other_site_gets_it(stage: Stage, said: bytes) -> None:
    request = b"GET http://shop.arena.test/ HTTP/1.1\r\nHost: shop.arena.test\r\n" + said + b"\r\n"
    head = await head_that_arrives(stage, None, request)
    assert b"X-Arena-Episode" not in head
    assert head == b"GET / HTTP/1.1\r\nHost: shop.arena.test\r\n" + said + b"\r\n"
