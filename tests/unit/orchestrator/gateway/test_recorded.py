from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from support.sites.raw_http import SHOP, Stage, get, keeps_answering

from orchestrator.gateway.recorded import (
    RecordedDocument,
    RecordedDocuments,
    kept_headers,
    recorded_response,
)

LIVE = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlive"
BASKET = RecordedDocument(
    url=f"http://{SHOP}/basket?id=1",
    status=404,
    headers=(("Content-Type", "text/html; charset=latin1"), ("X-Frame-Options", "DENY")),
    body="<p>café".encode("latin-1"),
)


def asked(document: RecordedDocument, path: str = "/basket?id=1", *, method: str = "GET") -> bytes:
    return get(path, method=method, extra=f"X-Arena-Recorded: {document.key}\r\n")


async def test_a_recorded_document_is_answered_once_and_nothing_goes_to_the_site(
    stage: Stage,
) -> None:
    shop = await stage.server(keeps_answering(LIVE))
    gateway = await stage.gateway(shop.route(), recorded=RecordedDocuments([BASKET]))
    client = await stage.client(gateway)
    await client.send(asked(BASKET))
    assert await client.response() == (404, BASKET.body)
    assert shop.connections == 0
    await client.send(asked(BASKET))
    assert (await client.response())[0] == 502
    assert shop.connections == 0
    await client.send(get("/basket?id=1"))
    assert await client.response() == (200, b"live")
    first, second, third = gateway.journal.since(0)
    assert (first.recorded, first.site, first.status, first.refused) == (True, "shop", 404, None)
    assert (second.recorded, second.status) == (False, 502)
    assert second.refused == "no such recorded document, or it was asked for before"
    assert (third.recorded, third.refused) == (False, None)
    assert gateway.journal.writes("shop") == 0
    assert gateway.journal.in_flight == 0


@pytest.mark.parametrize(
    "request_for",
    [
        asked(replace(BASKET, body=b"another")),
        asked(replace(BASKET, headers=())),
        asked(BASKET, "/"),
        asked(BASKET, method="HEAD"),
        asked(BASKET, method="DELETE"),
    ],
)
async def test_nothing_else_is_answered_with_it_and_nothing_goes_to_the_site(
    stage: Stage, request_for: bytes
) -> None:
    shop = await stage.server(keeps_answering(LIVE))
    for recorded in (RecordedDocuments([BASKET]), None):
        gateway = await stage.gateway(shop.route(), recorded=recorded)
        client = await stage.client(gateway)
        await client.send(request_for)
        assert (await client.head()).startswith(b"HTTP/1.1 502 ")
        assert not gateway.journal.since(0)[0].recorded
        assert gateway.journal.writes("shop") == 0
    assert shop.connections == 0


async def test_a_document_given_twice_is_answered_twice(stage: Stage) -> None:
    shop = await stage.server(keeps_answering(LIVE))
    gateway = await stage.gateway(shop.route(), recorded=RecordedDocuments([BASKET, BASKET]))
    client = await stage.client(gateway)
    for status in (404, 404, 502):
        await client.send(asked(BASKET))
        assert (await client.response())[0] == status


async def test_a_client_that_closes_gets_all_of_it(stage: Stage) -> None:
    big = replace(BASKET, body=b"x" * 3_000_000)
    shop = await stage.server(keeps_answering(LIVE))
    gateway = await stage.gateway(shop.route(), recorded=RecordedDocuments([big]))
    client = await stage.client(gateway)
    line, rest = asked(big).split(b"\r\n", 1)
    await client.send(
        line + b"\r\nConnection: close\r\n" + rest.replace(b"Proxy-Connection: keep-alive\r\n", b"")
    )
    async with asyncio.timeout(10):
        assert await client.response() == (404, big.body)
        assert await client.reader.read() == b""


def test_the_head_tells_the_length_of_what_is_sent_and_keeps_nothing_for_later() -> None:
    head = recorded_response(BASKET, closes=False).split(b"\r\n\r\n")[0]
    assert head.split(b"\r\n") == [
        b"HTTP/1.1 404 Not Found",
        b"Content-Type: text/html; charset=latin1",
        b"X-Frame-Options: DENY",
        b"X-Arena-Recorded: " + BASKET.key.encode(),
        b"Content-Length: 7",
        b"Cache-Control: no-store",
    ]
    assert recorded_response(replace(BASKET, status=799), closes=True).startswith(
        b"HTTP/1.1 799 \r\n"
    )


def test_what_belongs_to_one_transfer_is_not_kept() -> None:
    dropped = (
        *("Set-Cookie", "content-encoding", "Transfer-Encoding", "CONTENT-LENGTH", "ETag"),
        *("Cache-Control", "Expires", "Connection", "X-Arena-Recorded"),
    )
    kept = (("Content-Type", "text/html"), ("Content-Security-Policy", "a, b"))
    headers = (*kept, *((name, "x") for name in dropped), ("X-Bad", "a\r\nSet-Cookie: b=c"))
    assert kept_headers(headers) == kept
    assert b"Set-Cookie" not in recorded_response(replace(BASKET, headers=headers), closes=False)


def test_a_documents_key_is_of_all_of_it_whatever_holds_its_headers() -> None:
    others = (
        replace(BASKET, url=BASKET.url + "0"),
        replace(BASKET, status=200),
        replace(BASKET, headers=BASKET.headers[:1]),
        replace(BASKET, body=b""),
    )
    assert len({BASKET.key, *(other.key for other in others)}) == 5
    lists = replace(BASKET, headers=tuple(list(one) for one in BASKET.headers))  # type: ignore[misc]
    assert lists.key == BASKET.key
