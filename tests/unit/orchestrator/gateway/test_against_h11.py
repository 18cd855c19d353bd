"""The gateway's parser and h11 read the same bytes: they agree, or the difference is listed here.

Two parsers on one way that see different messages in the same bytes are what request smuggling is
made of. So a message that both accept must be the same to the last byte, none may wait for more
where the other has the end, and each refusal that only one of them knows has its reason.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

import h11
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from orchestrator.gateway.bodies import Body
from orchestrator.gateway.connection import BufferedConnection, PeerGoneError
from orchestrator.gateway.heads import (
    BadMessageError,
    BodyKind,
    Head,
    parse_request,
    parse_response,
    request_head,
)

_INCOMPLETE: Final = "incomplete"
_CLOSES: Final = "closes"
_END: Final = "end"
_ENDS: Final = frozenset({_INCOMPLETE, _CLOSES, _END})

# What only the gateway refuses, and why: it repairs nothing that another parser may read otherwise.
STRICTER: Final = {
    "a line ends in a bare LF": "h11 takes a lone LF for the end of a line",
    "a header field is folded over two lines": "h11 joins the lines",
    "both Content-Length and Transfer-Encoding": "h11 lets Transfer-Encoding win",
    "Content-Length is not one number": "h11 takes equal lengths for one, and 20 digits",
    "Transfer-Encoding in HTTP/1.0": "h11 reads it as if it were HTTP/1.1",
    "a header field is malformed": "h11 lets control characters but NUL stand in values",
    "the request line is malformed": "h11 takes any HTTP/n.n",
    "the status line is malformed": "h11 takes any HTTP/n.n, 000 to 099, and control characters",
    "a chunk's size is malformed": "h11 lets control characters stand in extensions, and 20 digits",
}
# What only h11 refuses, and why the gateway may take it.
LOOSER: Final = {
    "Missing mandatory Host: header": "the gateway asks for Host where it reads the target",
    "Found multiple Host: headers": "the same",
    "illegal chunk header": "RFC 9112, 7.1.1 allows blanks before an extension's semicolon",
}


@dataclass(frozen=True)
class Message:
    """What a parser made of a request or response; fields by name in lower case."""

    first: tuple[object, ...]
    fields: tuple[tuple[bytes, bytes], ...]
    body: bytes


@dataclass(frozen=True)
class Reading:
    """The messages in some bytes, and why no more were read."""

    messages: tuple[Message, ...]
    stop: str


_FRAMING: Final = frozenset({b"content-length", b"transfer-encoding"})


def _fields(fields: list[tuple[bytes, bytes]]) -> tuple[tuple[bytes, bytes], ...]:
    """Leave out what delimits the body: the body itself is compared."""
    return tuple((name, value) for name, value in fields if name not in _FRAMING)


async def _connection(data: bytes) -> BufferedConnection:
    made = BufferedConnection(set())
    made.data_received(data)
    made.eof_received()
    return made


async def _whole(body: Body) -> bytes:
    pieces = []
    while not body.complete:
        pieces.append(await body.piece())
    return b"".join(pieces)


def _own_fields(head: Head) -> tuple[tuple[bytes, bytes], ...]:
    return _fields([(field.key, field.value) for field in head.fields])


async def _own_requests(data: bytes) -> Reading:
    connection = await _connection(data)
    messages: list[Message] = []
    while await connection.arrival():
        try:
            head = parse_request(await connection.head())
            body = await _whole(Body(connection, head.framing()))
        except PeerGoneError:
            return Reading(tuple(messages), _INCOMPLETE)
        except BadMessageError as bad:
            return Reading(tuple(messages), bad.reason)
        first = (head.method.encode(), head.target.encode())
        messages.append(Message(first, _own_fields(head), body))
        if not head.keeps_alive or head.method == "CONNECT":
            return Reading(tuple(messages), _CLOSES)
    return Reading(tuple(messages), _END)


async def _own_response(data: bytes, method: str) -> Reading:
    connection = await _connection(data)
    try:
        head = parse_response(await connection.head())
        while head.is_interim and head.status != 101:
            head = parse_response(await connection.head())
        body = await _whole(Body(connection, head.framing(method)))
    except PeerGoneError:
        return Reading((), _INCOMPLETE)
    except BadMessageError as bad:
        return Reading((), bad.reason)
    return Reading((Message((head.status,), _own_fields(head), body),), _CLOSES)


def _h11_requests(data: bytes) -> Reading:
    peer = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 20)
    peer.receive_data(data)
    peer.receive_data(b"")
    messages: list[Message] = []
    asked: h11.Request | None = None
    body = b""
    while True:
        try:
            event = peer.next_event()
        except h11.RemoteProtocolError as error:
            return Reading(tuple(messages), _h11_reason(error))
        match event:
            case h11.Request():
                asked, body = event, b""
            case h11.Data():
                body += event.data
            case h11.EndOfMessage() if asked is not None:
                fields = _fields(list(asked.headers))
                messages.append(Message((asked.method, asked.target), fields, body))
                peer.send(h11.Response(status_code=200, headers=[("Content-Length", "0")]))
                if asked.method == b"CONNECT" or peer.their_state is not h11.DONE:
                    return Reading(tuple(messages), _CLOSES)
                peer.send(h11.EndOfMessage())
                if peer.our_state is not h11.DONE:
                    return Reading(tuple(messages), _CLOSES)
                peer.start_next_cycle()
            case _:
                return Reading(tuple(messages), _END)


def _h11_response(data: bytes, method: str) -> Reading:
    peer = h11.Connection(h11.CLIENT, max_incomplete_event_size=1 << 20)
    peer.send(h11.Request(method=method, target="/", headers=[("Host", "a")]))
    peer.send(h11.EndOfMessage())
    peer.receive_data(data)
    peer.receive_data(b"")
    answer: h11.Response | h11.InformationalResponse | None = None
    body = b""
    while True:
        try:
            event = peer.next_event()
        except h11.RemoteProtocolError as error:
            return Reading((), _h11_reason(error))
        match event:
            case h11.Response():
                answer = event
            case h11.Data():
                body += event.data
            case h11.EndOfMessage() if answer is not None:
                fields = _fields(list(answer.headers))
                return Reading((Message((answer.status_code,), fields, body),), _CLOSES)
            case h11.InformationalResponse():
                continue
            case _:
                return Reading((), _INCOMPLETE)


def _h11_reason(error: h11.RemoteProtocolError) -> str:
    said = str(error)
    gone = ("peer closed connection", "peer unexpectedly closed", "can't handle event type")
    return _INCOMPLETE if said.startswith(gone) else said


def _hold_together(own: Reading, other: Reading, data: bytes) -> None:
    """Fail where both accept and differ, or one refuses for a reason that is not listed."""
    both = min(len(own.messages), len(other.messages))
    assert own.messages[:both] == other.messages[:both], data
    if len(own.messages) > both:
        assert _is_listed(other.stop, LOOSER) or other.stop == _CLOSES, (data, own, other)
    elif len(other.messages) > both:
        assert own.stop in STRICTER or own.stop == _CLOSES, (data, own, other)
    elif own.stop != other.stop and {own.stop, other.stop} <= _ENDS:
        pytest.fail(f"one waits, the other has ended: {data!r}: {own} and {other}")


def _is_listed(said: str, listed: dict[str, str]) -> bool:
    return said.startswith(tuple(listed))


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
_LINE_ENDS = st.sampled_from([b"\r\n"] * 12 + [b"\n", b"\r", b"\r\r\n", b"\n\r\n"])
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
        head = b"".join(line + draw(_LINE_ENDS) for line in lines)
        return head + draw(_LINE_ENDS) + draw(_BODIES)

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
    _hold_together(asyncio.run(_own_requests(data)), _h11_requests(data), data)


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
    sent = _h11_requests(leaves)
    assert [message.first for message in sent.messages] == [mine.first], (data, leaves)
    assert sent.messages[0].body == mine.body, (data, leaves)
    assert sent.stop in _ENDS, (data, leaves, sent)


async def _passed_on(data: bytes) -> tuple[Message, bytes] | None:
    """Return the first request and how it goes to an upstream; None where it does not."""
    connection = await _connection(data)
    try:
        head = parse_request(await connection.head())
        framing = head.framing()
        body = await _whole(Body(connection, framing))
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
    _hold_together(asyncio.run(_own_response(data, method)), _h11_response(data, method), data)


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
        "the status line is malformed": b"",
    }[reason]
    if data:
        assert asyncio.run(_own_requests(data)) == Reading((), reason)
        assert len(_h11_requests(data).messages) == 1
    else:
        answer = b"HTTP/1.9 200 OK\r\nContent-Length: 0\r\n\r\n"
        assert asyncio.run(_own_response(answer, "GET")) == Reading((), reason)
        assert len(_h11_response(answer, "GET").messages) == 1
