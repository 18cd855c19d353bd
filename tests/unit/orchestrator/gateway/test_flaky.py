"""A flaky network on real sockets: documents are refused now and then, and nothing else ever."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Final

import pytest
from quick_cases import ONE_QUICK
from support.sites.raw_http import Peer, Server, Stage, get, keeps_answering

from orchestrator.gateway.arm import Arm
from orchestrator.gateway.policy import Route, SocketAddress
from orchestrator.gateway.server import Gateway
from orchestrator.gateway.variations import Variation

ALWAYS: Final = Variation.parse("network=flaky@100")
NAVIGATION: Final = "Upgrade-Insecure-Requests: 1\r\nAccept: text/html,*/*;q=0.8\r\n"
PAGE: Final = b"<!doctype html><title>Kettles</title>"
OK: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 37\r\n\r\n" + PAGE
SHOP: Final = Route(
    site="shop",
    live=False,
    host="shop.arena.test",
    port=80,
    connect_to=SocketAddress("127.0.0.1", 1),
    login_paths=("/login/",),
)


async def flaky(stage: Stage, arm: Arm, *, live: bool = False) -> tuple[Peer, Server, Gateway]:
    shop = await stage.server(keeps_answering(OK))
    route = replace(shop.route(live=live), login_paths=("/login/",))
    gateway = await stage.gateway(route, arm=arm)
    return await stage.client(gateway), shop, gateway


async def statuses(client: Peer, *requests: bytes) -> list[int]:
    found = []
    for request in requests:
        await client.send(request)
        found.append((await client.response())[0])
    return found


async def test_a_document_is_refused_and_what_is_asked_again_is_there(stage: Stage) -> None:
    arm = Arm((ALWAYS,))
    client, shop, gateway = await flaky(stage, arm)
    document = get("/kettles?page=2", extra=NAVIGATION)
    await client.send(document)
    head = await client.head()
    assert head.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    assert b"\r\nRetry-After: 0\r\n" in head
    assert b"\r\nCache-Control: no-store\r\n" in head
    length = int(head.partition(b"Content-Length: ")[2].partition(b"\r\n")[0])
    assert b"Service unavailable" in await client.exactly(length)
    assert shop.connections == 0  # the site never heard of it
    [refused] = gateway.journal.since(0)
    assert (refused.status, refused.failed, refused.refused) == (503, None, None)
    assert not refused.may_write
    await client.send(document)
    assert await client.exactly(len(OK)) == OK
    assert await statuses(client, *[document] * 4) == [503, 200, 503, 200]
    assert arm.effects == {ALWAYS: 3}


@pytest.mark.parametrize(
    "request_of_a_page",
    [
        get("/style.css", extra="Accept: text/css,*/*;q=0.1\r\n"),
        get("/api", extra="Accept: */*\r\n"),
        get("/part", extra="Accept: text/html, */*\r\nX-Requested-With: XMLHttpRequest\r\n"),
        get(method="POST", extra=f"{NAVIGATION}Content-Length: 0\r\n"),
        get("/login/?next=/", extra=NAVIGATION),
    ],
    ids=["style", "data", "fragment", "write", "login"],
)
async def test_whatever_is_no_document_that_is_only_read_is_never_refused(
    stage: Stage, request_of_a_page: bytes
) -> None:
    arm = Arm((ALWAYS,))
    client, _, _ = await flaky(stage, arm)
    assert await statuses(client, *[request_of_a_page] * 3) == [200] * 3
    assert arm.effects == {ALWAYS: 0}


async def test_start_pages_and_what_checks_read_are_never_refused(stage: Stage) -> None:
    arm = Arm((ALWAYS,))
    client, _, _ = await flaky(stage, arm)
    with arm.opening():
        assert (
            await statuses(client, get(extra=NAVIGATION), get("/b", extra=NAVIGATION)) == [200] * 2
        )
    with arm.at_rest():
        for _ in range(2):
            await client.send(get(extra=NAVIGATION))
            assert await client.exactly(len(OK)) == OK
    assert arm.effects == {ALWAYS: 0}
    assert await statuses(client, get(extra=NAVIGATION)) == [503]


async def test_a_site_on_the_live_web_is_never_refused(stage: Stage) -> None:
    arm = Arm((ALWAYS,))
    client, _, _ = await flaky(stage, arm, live=True)
    assert await statuses(client, *[get(extra=NAVIGATION)] * 2) == [200] * 2
    assert arm.effects == {ALWAYS: 0}


def drawing(text: str, *, repeat: int = 0) -> Arm:
    """Return an arm that has refused the first document, as it always does."""
    arm = Arm((Variation.parse(text),), repeat=repeat)
    assert arm.refuses(SHOP, "/first")
    return arm


def drawn(text: str, *, repeat: int = 0, times: int = 1) -> list[bool]:
    arm = drawing(text, repeat=repeat)
    return [arm.refuses(SHOP, f"/{number}") for number in range(2000) for _ in range(times)]


def test_what_is_refused_is_drawn_from_seed_and_repeat_in_the_share_that_was_asked_for() -> None:
    few = drawn("network=flaky")
    assert 160 <= sum(few) <= 240
    assert few == drawn("network=flaky@10,seed=0")
    assert few != drawn("network=flaky@10,seed=1")
    assert few != drawn("network=flaky", repeat=1)
    more = drawn("network=flaky@50")
    assert 930 <= sum(more) <= 1070
    assert all(wide for narrow, wide in zip(few, more, strict=True) if narrow)


def test_the_order_in_which_a_browser_asks_is_no_matter() -> None:
    arms = [drawing("network=flaky@50") for _ in range(2)]
    paths = [f"/{number}" for number in range(50)]
    forth = {path: arms[0].refuses(SHOP, path) for path in paths}
    back = {path: arms[1].refuses(SHOP, path) for path in reversed(paths)}
    assert forth == back


@ONE_QUICK
@pytest.mark.parametrize("share", [1, 50, 100])
def test_no_request_is_refused_twice_in_a_row(share: int) -> None:
    found = drawn(f"network=flaky@{share}", times=6)
    rows = [found[at : at + 6] for at in range(0, len(found), 6)]
    assert any(any(row) for row in rows)
    assert not any(a and b for row in rows for a, b in pairwise(row))


@pytest.mark.parametrize("seed", range(5))
def test_no_episode_that_opens_a_page_is_void_however_small_the_share(seed: int) -> None:
    flaky = Variation.parse(f"network=flaky@1,seed={seed}")
    arm = Arm((flaky,))
    with arm.opening():
        assert not arm.refuses(SHOP, "/")
    assert not arm.refuses(SHOP, "/login/")
    assert arm.refuses(SHOP, "/kettles")
    assert not arm.refuses(SHOP, "/kettles")
    assert arm.effects == {flaky: 1}


def test_only_a_flaky_arm_takes_a_503_for_its_own() -> None:
    assert Arm((ALWAYS,)).may_be_refusal(503)
    assert not Arm((ALWAYS,)).may_be_refusal(200)
    assert not Arm((ALWAYS,)).may_be_refusal(None)
    assert not Arm(()).may_be_refusal(503)
    assert not Arm((Variation.parse("network=slow"),)).may_be_refusal(503)
    assert Arm((ALWAYS,)).alters_answers
    assert not Arm((ALWAYS,)).meets_documents
