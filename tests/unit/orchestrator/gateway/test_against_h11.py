"""The gateway's parser and h11 read the same bytes: they agree, or the difference is listed.

The list is in `fuzz/http_readings.py`; `make fuzz` tries a hundred thousand more.
"""

from __future__ import annotations

import asyncio

import pytest
from fuzz.http_readings import (
    ENDS,
    STRICTER,
    Message,
    Reading,
    connection_with,
    difference,
    h11_requests,
    h11_response,
    own_requests,
    own_response,
    whole,
)
from hypothesis import example, given, settings
from hypothesis import strategies as st

from orchestrator.gateway.bodies import Body
from orchestrator.gateway.connection import PeerGoneError
from orchestrator.gateway.heads import BadMessageError, BodyKind, parse_request, request_head

_NAMES = st.sampled_from(
    [
        *(b"Host", b"host", b"X-A", b"Content-Length", b"content-length", b"Transfer-Encoding"),
        *(b"transfer-encoding", b"Connection", b"Expect", b"TE", b"Trailer", b"", b"X A", b"X\x00"),
        *(b"Content-Length ", b" Content-Length", b"Content_Length", b"X\t"),
    ]
)
_VALUES = st.sampled_from(
    [
        *(
            b"shop.arena.test",
            b"0",
            b"3",
            b"5",
            b"5, 5",
            b"05",
            b"+5",
            b"-1",
            b"0x5",
            b"5 ",
            b"5 5",
        ),
        *(
            b"chunked",
            b"Chunked",
            b"\x0bchunked",
            b"chunked, chunked",
            b"gzip, chunked",
            b"identity",
        ),
        *(b"chunked;q=1", b'"chunked"', b"close", b"keep-alive", b"100-continue", b"", b"a\tb"),
        *(b"\xe4", b"a\x01b", b"a\x7f", b"9" * 19, b"9" * 21, b"trailers", b"x\r\n folded"),
        *(b"Content-Length", b"Host, Transfer-Encoding", b"close, X-A"),
    ]
)
_COLONS = st.sampled_from([b": ", b":", b" : ", b":\t", b":  "])
_LINEENDS = st.sampled_from([b"\r\n"] * 12 + [b"\n", b"\r", b"\r\r\n", b"\n\r\n"])
_FIELD_LINES = st.tuples(_NAMES, _COLONS, _VALUES).map(b"".join)
_SOUND_LINES = st.sampled_from(
    [b"Host: shop.arena.test", b"X-A: b", b"Content-Length: 3", b"Transfer-Encoding: chunked"]
)
_REQUEST_LINES = st.one_of(
    st.sampled_from(
        [
            *(b"GET / HTTP/1.1", b"POST http://shop.arena.test/ HTTP/1.1", b"HEAD /a HTTP/1.0"),
            *(
                b"GET  / HTTP/1.1",
                b"GET / HTTP/1.1 ",
                b"GET / HTTP/2.0",
                b"GET / http/1.1",
                b"GET /",
            ),
            *(
                b"GET /a b HTTP/1.1",
                b"G\xe4T / HTTP/1.1",
                b"GET /\xe4 HTTP/1.1",
                b"",
                b" GET / HTTP/1.1",
            ),
            *(b"GET / HTTP/1.10", b"GET\t/ HTTP/1.1", b"CONNECT shop.arena.test:80 HTTP/1.1"),
        ]
    ),
    st.just(b"POST / HTTP/1.1"),
)
_STATUS_LINES = st.sampled_from(
    [
        *(b"HTTP/1.1 200 OK", b"HTTP/1.0 200 OK", b"HTTP/1.1 204 No Content", b"HTTP/1.1 304 "),
        *(b"HTTP/1.1 200", b"HTTP/1.1 100 Continue", b"HTTP/1.1 099 x", b"HTTP/2.0 200 OK"),
        *(b"HTTP/1.1 2000 OK", b"HTTP/1.1 200OK", b"HTTP/1.1  200 OK", b"ICY 200 OK", b""),
        *(b"HTTP/1.1 200 \xe4", b"HTTP/1.1 200 a\x01"),
    ]
)
_BODIES = st.one_of(
    st.sampled_from(
        [
            *(b"", b"abc", b"abcde", b"3\r\nabc\r\n0\r\n\r\n", b"3\nabc\n0\n\n", b"0\r\n\r\n"),
            *(b"3;a=b\r\nabc\r\n0\r\n\r\n", b"3 ;a\r\nabc\r\n0\r\n\r\n", b"3 \r\nabc\r\n0\r\n\r\n"),
            *(b"0x3\r\nabc\r\n0\r\n\r\n", b"+3\r\nabc\r\n0\r\n\r\n", b"3\r\nabcd\r\n0\r\n\r\n"),
            *(
                b"3\r\nabc0\r\n\r\n",
                b"0\r\nX: y\r\n\r\n",
                b"0\r\nX y\r\n\r\n",
                b"0\r\n\nGET / HTTP/1.1\r\n\r\n",
            ),
            *(
                b"00003\r\nabc\r\n000\r\n\r\n",
                b"3\r\nabc\r\n0\r\n",
                b"f" * 16 + b"\r\nabc\r\n0\r\n\r\n",
            ),
            *(b"3;\x01\r\nabc\r\n0\r\n\r\n", b"-3\r\nabc\r\n0\r\n\r\n", b" 3\r\nabc\r\n0\r\n\r\n"),
            *(b"0\r\nContent-Length: 5\r\n\r\n", b"0\r\n X: folded\r\n\r\n", b"0;\n\r\n\r\n"),
        ]
    ),
    st.binary(max_size=12),
)


def _messages(first_lines: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    fields = st.lists(st.one_of(_SOUND_LINES, _SOUND_LINES, _FIELD_LINES), max_size=5)

    @st.composite
    def made(draw: st.DrawFn) -> bytes:
        lines = [draw(first_lines), *draw(fields)]
        head = b"".join(line + draw(_LINEENDS) for line in lines)
        return head + draw(_LINEENDS) + draw(_BODIES)

    return made()


@st.composite
def _damaged(draw: st.DrawFn, whole: st.SearchStrategy[bytes]) -> bytes:
    """Cut or change some bytes of what was sound or nearly so."""
    data = bytearray(draw(whole))
    for _ in range(draw(st.integers(0, 2))):
        if data:
            at = draw(st.integers(0, len(data) - 1))
            data[at : at + draw(st.integers(0, 2))] = draw(
                st.sampled_from(
                    [b"", b"\r", b"\n", b" ", b"\t", b":", b"\x00", b"0", b"\r\n", b";"]
                )
            )
    return bytes(data)


_REQUESTS = st.lists(_messages(_REQUEST_LINES), min_size=1, max_size=3).map(b"".join)
_THOROUGH = settings(max_examples=3 * settings().max_examples)
_POST = b"POST / HTTP/1.1\r\nHost: shop.arena.test\r\n"
_CHUNKED = _POST + b"Transfer-Encoding: chunked\r\n\r\n"


@given(_damaged(_REQUESTS))
@example(_CHUNKED + b"0\r\n\nGET /smuggled HTTP/1.1\r\n\r\n")
@example(_CHUNKED + b"0\r\nX y\r\n\r\nGET / HTTP/1.1\r\nHost: shop.arena.test\r\n\r\n")
@example(_CHUNKED + b"0\r\nX: y\r\n\r\nGET / HTTP/1.1\r\nHost: shop.arena.test\r\n\r\n")
@example(_POST + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
@example(_POST + b"Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc")
@example(_POST + b"Content-Length : 3\r\n\r\nabc")
@example(_POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n")
@_THOROUGH
def test_both_read_the_same_requests(data: bytes) -> None:
    assert difference(asyncio.run(own_requests(data)), h11_requests(data)) is None


@given(_damaged(_REQUESTS))
@example(_POST + b"Connection: Content-Length\r\nContent-Length: 3\r\n\r\nabc")
@example(_POST + b"Connection: Transfer-Encoding\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n")
@example(_POST + b"Connection: Host, X-A\r\nX-A: b\r\nContent-Length: 0\r\n\r\n")
@example(b"POST / HTTP/1.0\r\nHost: shop.arena.test\r\nContent-Length: 3\r\n\r\nabc")
@_THOROUGH
def test_what_leaves_the_gateway_is_the_one_message_that_it_read(data: bytes) -> None:
    read = asyncio.run(_passed_on(data))
    if read is None:
        return
    mine, leaves = read
    sent = h11_requests(leaves)
    assert [message.first for message in sent.messages] == [mine.first], (data, leaves)
    assert sent.messages[0].body == mine.body, (data, leaves)
    assert sent.stop in ENDS, (data, leaves, sent)


async def _passed_on(data: bytes) -> tuple[Message, bytes] | None:
    """Return the first request and how it goes to an upstream; None where it does not."""
    connection = await connection_with(data)
    try:
        head = parse_request(await connection.head())
        framing = head.framing()
        body = await whole(Body(connection, framing))
    except (PeerGoneError, BadMessageError):
        return None
    if len(head.values(b"host")) != 1 or head.method == "CONNECT" or head.is_websocket:
        return None
    sent = body
    if framing.kind is BodyKind.CHUNKED:
        sent = (b"%x\r\n%b\r\n" % (len(body), body) if body else b"") + b"0\r\n\r\n"
    read = Message((head.method.encode(), b"/path"), (), body)
    return read, request_head(head, "/path") + sent


@given(_damaged(_messages(_STATUS_LINES)), st.sampled_from(["GET", "HEAD", "POST"]))
@example(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX y\r\n\r\n", "GET")
@example(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", "GET")
@example(b"HTTP/1.1 204 OK\r\nContent-Length: 3\r\n\r\nabc", "GET")
@_THOROUGH
def test_both_read_the_same_response(data: bytes, method: str) -> None:
    own = asyncio.run(own_response(data, method))
    assert difference(own, h11_response(data, method)) is None


@pytest.mark.parametrize("reason", sorted(STRICTER))
def test_each_refusal_that_only_the_gateway_knows_is_met(reason: str) -> None:
    """What is listed is real: h11 reads each of these, and the gateway does not."""
    data = {
        "a line ends in a bare LF": b"GET / HTTP/1.1\nHost: a\n\n",
        "a header field is folded over two lines": _POST + b"X: b\r\n c\r\n\r\n",
        "both Content-Length and Transfer-Encoding": _POST
        + b"Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Content-Length is not one number": _POST + b"Content-Length: 0, 0\r\n\r\n",
        "Transfer-Encoding in HTTP/1.0": b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"0\r\n\r\n",
        "a header field is malformed": _POST + b"X: \x01\r\n\r\n",
        "the request line is malformed": b"GET / HTTP/1.9\r\nHost: a\r\n\r\n",
        "a chunk's size is malformed": _CHUNKED + b"0;\x01\r\n\r\n",
        "a trailer belongs into the head": _CHUNKED + b"0\r\nContent-Length: 5\r\n\r\n",
        "a head or line of more than": _CHUNKED + b"0\r\nX: " + b"y" * 4100 + b"\r\n\r\n",
        "more than 256 header fields": _POST + b"X: y\r\n" * 257 + b"\r\n",
        "too many trailers": _CHUNKED + b"0\r\n" + b"X: y\r\n" * 65 + b"\r\n",
        "the status line is malformed": b"",
    }[reason]
    if data:
        refused = asyncio.run(own_requests(data))
        assert (refused.messages, refused.stop[: len(reason)]) == ((), reason)
        assert len(h11_requests(data).messages) == 1
    else:
        answer = b"HTTP/1.9 200 OK\r\nContent-Length: 0\r\n\r\n"
        assert asyncio.run(own_response(answer, "GET")) == Reading((), reason)
        assert len(h11_response(answer, "GET").messages) == 1
