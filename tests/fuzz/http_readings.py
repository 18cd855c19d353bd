"""What the gateway's parser and h11 make of the same bytes, and where the two may differ.

Two parsers on one way that see different messages in the same bytes are what request smuggling is
made of. So a message that both accept must be the same to the last byte, none may wait for more
where the other has the end, and each refusal that only one of them knows has its reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import h11

from orchestrator.gateway.bodies import Body
from orchestrator.gateway.connection import BufferedConnection, PeerGoneError
from orchestrator.gateway.heads import (
    BadMessageError,
    Framing,
    Head,
    ResponseHead,
    parse_request,
    parse_response,
)

_INCOMPLETE: Final = "incomplete"
_CLOSES: Final = "closes"
_END: Final = "end"
_DONE: Final = frozenset({_CLOSES, _END})
ENDS: Final = _DONE | {_INCOMPLETE}

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
    "a trailer belongs into the head": "h11 lets a trailer name a length or a host",
    "a head or line of more than": "h11 has one limit, for all of an event",
    "more than 256 header fields": "h11 counts none",
    "too many trailers": "h11 counts none",
}
# What only h11 refuses, and why the gateway may take it.
LOOSER: Final = {
    "Missing mandatory Host: header": "the gateway asks for Host where it reads the target",
    "Found multiple Host: headers": "the same",
    "Received server _SWITCH_UPGRADE event": "the gateway asks whether the client wanted to switch "
    "where it answers",
    "illegal chunk header": "RFC 9112, 7.1.1 allows blanks before an extension's semicolon",
}


@dataclass(frozen=True)
class Message:
    """What a parser made of a request or response; fields by name in lower case."""

    first: tuple[bytes, ...]
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


async def connection_with(data: bytes) -> BufferedConnection:
    made = BufferedConnection(set())
    made.data_received(data)
    made.eof_received()
    return made


async def whole(body: Body) -> bytes:
    pieces = []
    while not body.complete:
        pieces.append(await body.piece())
    return b"".join(pieces)


def _own_fields(head: Head) -> tuple[tuple[bytes, bytes], ...]:
    return _fields([(field.key, field.value) for field in head.fields])


async def own_requests(data: bytes) -> Reading:
    connection = await connection_with(data)
    messages: list[Message] = []
    while await connection.arrival():
        try:
            head = parse_request(await connection.head())
            body = await whole(Body(connection, head.framing()))
        except PeerGoneError:
            return Reading(tuple(messages), _INCOMPLETE)
        except BadMessageError as bad:
            return Reading(tuple(messages), bad.reason)
        first = (head.method.encode(), head.target.encode())
        messages.append(Message(first, _own_fields(head), body))
        if not head.keeps_alive or head.method == "CONNECT":
            return Reading(tuple(messages), _CLOSES)
    return Reading(tuple(messages), _END)


async def own_response(data: bytes, method: str) -> Reading:
    connection = await connection_with(data)
    try:
        head, framing = await _own_response_head(connection, method)
        while head.is_interim and head.status != 101:
            head, framing = await _own_response_head(connection, method)
        body = await whole(Body(connection, framing))
    except PeerGoneError:
        return Reading((), _INCOMPLETE)
    except BadMessageError as bad:
        return Reading((), bad.reason)
    return Reading((Message((b"%d" % head.status,), _own_fields(head), body),), _CLOSES)


async def _own_response_head(
    connection: BufferedConnection, method: str
) -> tuple[ResponseHead, Framing]:
    head = parse_response(await connection.head())
    return head, head.framing(method)


def h11_requests(data: bytes) -> Reading:
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


def h11_response(data: bytes, method: str) -> Reading:
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
                return Reading((Message((b"%d" % answer.status_code,), fields, body),), _CLOSES)
            case h11.InformationalResponse():
                continue
            case _:
                return Reading((), _INCOMPLETE)


def _h11_reason(error: h11.RemoteProtocolError) -> str:
    said = str(error)
    gone = ("peer closed connection", "peer unexpectedly closed", "can't handle event type")
    return _INCOMPLETE if said.startswith(gone) else said


def difference(own: Reading, other: Reading) -> str | None:
    """Say how two readings of the same bytes differ in a way that is not listed; None if not."""
    both = min(len(own.messages), len(other.messages))
    if own.messages[:both] != other.messages[:both]:
        return "both accept, and see different messages"
    if own.stop == other.stop and len(own.messages) == len(other.messages):
        return None
    refuses = own.stop.startswith(tuple(STRICTER)), other.stop.startswith(tuple(LOOSER))
    match len(own.messages) - both, len(other.messages) - both:
        case 0, 0:
            ends = own.stop in ENDS, other.stop in ENDS
            has_read_all = own.stop in _DONE, other.stop in _DONE
            fine = (
                any(refuses)
                or not any(ends)  # both refuse, in other words
                or not (all(ends) or any(has_read_all))  # one refuses what the other waits for
            )
        case 0, _:
            fine = own.stop == _CLOSES or refuses[0]
        case _:
            fine = other.stop == _CLOSES or refuses[1]
    return None if fine else f"the gateway: {own.stop}; h11: {other.stop}"
