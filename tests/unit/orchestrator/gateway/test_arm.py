"""An arm on real sockets: the agent's documents are varied, everything else is the site's own."""

from __future__ import annotations

import asyncio
import gzip
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quick_cases import ONE_QUICK
from support.sites.raw_http import Peer, Stage, answers, get, keeps_answering

from orchestrator.gateway.arm import Arm, wait_s
from orchestrator.gateway.documents import MOST_BYTES
from orchestrator.gateway.variations import Variation

DARK: Final = Variation.parse("look=dark")
SLOW: Final = Variation.parse("network=slow@5000")
NAVIGATION: Final = (
    "Upgrade-Insecure-Requests: 1\r\nAccept: text/html,*/*;q=0.8\r\n"
    "Accept-Encoding: gzip, deflate, br, zstd\r\n"
)
PAGE: Final = b"<!doctype html><title>Kettles</title><h1>Kettles</h1>"


def ok(body: bytes, *lines: str) -> bytes:
    fields = "".join(f"{line}\r\n" for line in lines)
    start = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{fields}"
    return f"{start}Content-Length: {len(body)}\r\n\r\n".encode() + body


def chunked(body: bytes, size: int, *lines: str) -> bytes:
    fields = "".join(f"{line}\r\n" for line in lines)
    start = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{fields}"
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    sent = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in [*pieces, b""])
    return f"{start}Transfer-Encoding: chunked\r\n\r\n".encode() + sent


async def varied(stage: Stage, response: bytes, arm: Arm) -> Peer:
    """Return a client of a shop that always answers this, behind a gateway with an arm."""
    shop = await stage.server(keeps_answering(response))
    return await stage.client(await stage.gateway(shop.route(), arm=arm))


def test_a_content_is_in_effect_where_a_site_begins_otherwise_and_alters_no_document() -> None:
    content = Variation.parse("content=long")
    assert Arm((content, DARK), changed=2).effects == {content: 2, DARK: 0}
    assert Arm((content,)).effects == {content: 0}
    varied = Arm((content,), changed=1)
    assert not varied.meets_documents
    assert not varied.alters_answers


@pytest.mark.parametrize(
    "response",
    [
        ok(PAGE),
        ok(gzip.compress(PAGE), "Content-Encoding: gzip", 'ETag: "x"'),
        chunked(PAGE, 7),
        chunked(gzip.compress(PAGE), 5, "Content-Encoding: gzip"),
    ],
)
async def test_a_document_is_altered_and_its_connection_goes_on(
    stage: Stage, response: bytes
) -> None:
    arm = Arm((DARK,))
    client = await varied(stage, response, arm)
    for count in (1, 2):
        await client.send(get(extra=NAVIGATION))
        status, body = await client.response()
        assert status == 200
        assert body.startswith(b"<!doctype html><script>(()=>{const s=new CSSStyleSheet();")
        assert body.endswith(b"</script>" + PAGE.removeprefix(b"<!doctype html>"))
        assert arm.effects == {DARK: count}


async def test_a_document_that_ends_with_its_connection_gets_a_length(stage: Stage) -> None:
    shop = await stage.server(answers(b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n" + PAGE))
    client = await stage.client(await stage.gateway(shop.route(), arm=Arm((DARK,))))
    await client.send(get(extra=NAVIGATION))
    assert (await client.response())[1].endswith(b"<h1>Kettles</h1>")


UNTOUCHED: Final = {
    "a fragment for a script": (ok(PAGE), get(extra="Accept: text/html, */*\r\n")),
    "data": (ok(PAGE), get(extra="Accept: */*\r\nSec-Fetch-Dest: empty\r\n")),
    "a download": (ok(PAGE, "Content-Disposition: attachment"), get(extra=NAVIGATION)),
    "a coding nobody asked for": (ok(PAGE, "Content-Encoding: br"), get(extra=NAVIGATION)),
    "no gzip": (ok(PAGE, "Content-Encoding: gzip"), get(extra=NAVIGATION)),
    "no script allowed": (ok(PAGE, "Content-Security-Policy: sandbox"), get(extra=NAVIGATION)),
    "unchanged": (b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n', get(extra=NAVIGATION)),
    "only the head": (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 53\r\n\r\n",
        get(method="HEAD", extra=NAVIGATION),
    ),
    "too large": (ok(b"x" * (MOST_BYTES + 1)), get(extra=NAVIGATION)),
    "larger than what is held back": (ok(b"x" * 2 * MOST_BYTES), get(extra=NAVIGATION)),
}


@ONE_QUICK
@pytest.mark.parametrize("what", UNTOUCHED)
async def test_what_is_no_document_to_be_altered_passes_byte_for_byte(
    stage: Stage, what: str
) -> None:
    response, request = UNTOUCHED[what]
    arm = Arm((DARK,))
    client = await varied(stage, response, arm)
    for _ in range(2):
        await client.send(request)
        arrived = b""
        while len(arrived) < len(response) and (piece := await client.reader.read(2**16)):
            arrived += piece
        assert arrived == response
    assert arm.effects == {DARK: 0}


@ONE_QUICK
@pytest.mark.parametrize(
    ("body", "size", "lines"),
    [
        (bytes(range(256)) * (MOST_BYTES // 128), 100_000, ()),
        (PAGE, 9, ("Content-Encoding: gzip",)),
    ],
)
async def test_chunks_that_cannot_be_altered_arrive_whole(
    stage: Stage, body: bytes, size: int, lines: tuple[str, ...]
) -> None:
    arm = Arm((DARK,))
    client = await varied(stage, chunked(body, size, *lines), arm)
    for _ in range(2):
        await client.send(get(extra=NAVIGATION))
        assert b"chunked" in (await client.head()).lower()
        arrived = b""
        while length := int(await client.reader.readline(), 16):
            arrived += (await client.exactly(length + 2))[:-2]
        assert await client.exactly(2) == b"\r\n"
        assert arrived == body
    assert arm.effects == {DARK: 0}


async def test_while_a_check_reads_the_same_page_is_as_the_site_sent_it(stage: Stage) -> None:
    response = ok(PAGE, 'ETag: "1"')
    arm = Arm((DARK, Variation.parse("page=notice"), Variation.parse("network=slow@5000")))
    client = await varied(stage, response, arm)
    with arm.at_rest():
        await client.send(get(extra=NAVIGATION))
        assert await client.exactly(len(response)) == response
    assert set(arm.effects.values()) == {0}


async def test_documents_in_a_phones_window_are_counted_and_pass_byte_for_byte(
    stage: Stage,
) -> None:
    mobile = Variation.parse("look=mobile")
    response = ok(gzip.compress(PAGE), "Content-Encoding: gzip", 'ETag: "1"')
    arm = Arm((mobile,))
    client = await varied(stage, response, arm)
    for extra in (NAVIGATION, "Accept: */*\r\n", NAVIGATION):
        await client.send(get(extra=extra))
        assert await client.exactly(len(response)) == response
    with arm.at_rest():
        await client.send(get(extra=NAVIGATION))
        assert await client.exactly(len(response)) == response
    assert arm.effects == {mobile: 2}
    assert arm.window == (390, 844)
    assert not arm.alters_answers
    assert Arm((DARK, SLOW)).window is None


@pytest.mark.parametrize("vary", ["labels=german", "page=moved"])
async def test_what_is_done_in_the_agents_pages_leaves_what_the_site_sent(
    stage: Stage, vary: str
) -> None:
    one = Variation.parse(vary)
    response = ok(gzip.compress(PAGE), "Content-Encoding: gzip", 'ETag: "1"')
    arm = Arm((one,), labels={"Buy": "Kaufen"})
    client = await varied(stage, response, arm)
    await client.send(get(extra=NAVIGATION))
    assert await client.exactly(len(response)) == response
    assert not arm.meets_documents
    assert not arm.alters_answers
    assert arm.effects == {one: 0}  # only what was altered counts, and the pages say so
    assert list(arm.page_scripts) == [one]
    arm.altered_page(one)
    assert arm.effects == {one: 1}


def test_only_some_variations_are_done_in_pages() -> None:
    assert Arm((DARK, SLOW, Variation.parse("page=notice"))).page_scripts == {}


def test_where_parts_are_moved_is_drawn_from_seed_and_repeat_and_is_the_same_for_all() -> None:
    def script(seed: int, repeat: int) -> str:
        moved = Variation.parse(f"page=moved@seed={seed}")
        return Arm((moved,), repeat=repeat).page_scripts[moved]

    assert script(3, 1) == script(3, 1)
    assert len({script(seed, 0) for seed in range(20)}) == 3
    assert len({script(0, repeat) for repeat in range(20)}) == 3


def test_a_table_is_data_in_its_script_whatever_its_words_are() -> None:
    labels = Variation.parse("labels=mine")
    script = Arm((labels,), labels={'"); alert(1); ("': "</script>\u2028"}).page_scripts[labels]
    assert '"\\"); alert(1); (\\"": "</script>\\u2028"' in script


async def test_a_site_on_the_live_web_is_never_varied(stage: Stage) -> None:
    response = ok(PAGE)
    shop = await stage.server(keeps_answering(response))
    arm = Arm((DARK, SLOW))
    client = await stage.client(await stage.gateway(shop.route(live=True), arm=arm))
    await client.send(get(extra=NAVIGATION))
    assert await client.exactly(len(response)) == response
    assert arm.effects == {DARK: 0, SLOW: 0}


async def test_only_documents_are_asked_for_in_another_coding(stage: Stage) -> None:
    heads: list[bytes] = []

    async def keep_heads(peer: Peer) -> None:
        while head := await peer.head():
            heads.append(head)
            await peer.send(ok(PAGE))

    shop = await stage.server(keep_heads)
    client = await stage.client(await stage.gateway(shop.route(), arm=Arm((DARK,))))
    for extra in (f'{NAVIGATION}If-None-Match: "1"\r\n', "Accept-Encoding: gzip, br\r\n"):
        await client.send(get(extra=extra))
        await client.response()
    assert b"Accept-Encoding: gzip, deflate\r\n" in heads[0]
    assert b"If-None-Match" not in heads[0]
    assert b"Accept-Encoding: gzip, br\r\n" in heads[1]


async def test_a_notice_is_in_the_document_of_its_number_alone(stage: Stage) -> None:
    notice = Variation.parse("page=notice@2")
    arm = Arm((notice,))
    client = await varied(stage, ok(PAGE), arm)
    seen = []
    for extra in (NAVIGATION, "Accept: */*\r\n", NAVIGATION, NAVIGATION):
        await client.send(get(extra=extra))
        seen.append(b"site-notice" in (await client.response())[1])
    assert seen == [False, False, True, False]
    assert arm.effects == {notice: 1}


async def test_a_slow_network_holds_up_each_request_to_a_replica_but_logins(
    stage: Stage,
) -> None:
    slow = Variation.parse("network=slow@120")
    shop = await stage.server(keeps_answering(ok(PAGE)))
    arm = Arm((slow,))
    route = replace(shop.route(), login_paths=("/login/",))
    client = await stage.client(await stage.gateway(route, arm=arm))
    loop = asyncio.get_running_loop()
    took = {}
    for path in ("/login/?next=/", "/", "/style.css"):
        began = loop.time()
        await client.send(get(path))
        assert await client.response() == (200, PAGE)
        took[path] = loop.time() - began
    assert took["/"] >= wait_s(slow, 0, "GET http://shop.arena.test/", 0) >= 0.06
    assert took["/style.css"] >= 0.06
    assert arm.effects == {slow: 2}


async def test_what_is_held_up_when_a_check_begins_to_read_goes_on_at_once(stage: Stage) -> None:
    arm = Arm((SLOW,))
    shop = await stage.server(keeps_answering(ok(PAGE)))
    gateway = await stage.gateway(shop.route(), arm=arm)
    client = await stage.client(gateway)
    await client.send(get(method="POST", extra="Content-Length: 0\r\n"))
    async with asyncio.timeout(2):
        while not arm.effects[SLOW]:
            await gateway.journal.changed()
    assert shop.connections == 0
    with arm.at_rest():
        assert await client.response() == (200, PAGE)
    assert shop.connections == 1


@given(
    seed=st.integers(0, 10**18 - 2),
    repeat=st.integers(0, 99),
    asked=st.text(max_size=40),
    number=st.integers(0, 999),
)
def test_how_long_a_request_waits_is_drawn_from_the_seed_and_its_number(
    seed: int, repeat: int, asked: str, number: int
) -> None:
    slow = Variation.parse(f"network=slow@1000,seed={seed}")
    drawn = wait_s(slow, repeat, asked, number)
    assert 0.5 <= drawn <= 1
    assert drawn == wait_s(slow, repeat, asked, number)
    others = {
        wait_s(slow, repeat, asked, number + 1),
        wait_s(slow, repeat + 1, asked, number),
        wait_s(replace(slow, seed=seed + 1), repeat, asked, number),
    }
    assert drawn not in others
