"""HTTP messages at the gateway: its parser beside h11's, and a whole conversation between two h11.

The wires are in memory, so that a hundred thousand conversations take minutes, and so that it shows
when nothing more can happen: what waits then, waits for the peer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import h11
from fuzz.http_readings import (
    Message,
    difference,
    h11_requests,
    h11_response,
    own_requests,
    own_response,
)

from orchestrator.gateway.connection import BufferedConnection, ConnectionPool
from orchestrator.gateway.conversation import Conversation, Deadlines, Exit, RequestPacer
from orchestrator.gateway.journal import GatewayJournal
from orchestrator.gateway.policy import Policy, Route, SocketAddress
from orchestrator.gateway.recorded import RecordedDocuments
from orchestrator.gateway.taped import Leads

_SHOP: Final = Route(
    site="shop",
    live=False,
    host="shop.arena.test",
    port=80,
    connect_to=SocketAddress("127.0.0.1", 32768),
)
_ORIGIN: Final = b"http://shop.arena.test"
_IDLE_TICKS: Final = 30
_ENDS_WITHIN_S: Final = 5.0
_EVENT_BYTES: Final = 1 << 20


class WrongReadingError(Exception):
    """The gateway read, passed on or answered what it should not have."""


def read_requests(path: Path) -> None:
    """Hold the gateway's parser against h11's, as servers."""
    data = path.read_bytes()
    _require_none(difference(asyncio.run(own_requests(data)), h11_requests(data)))


def read_responses(path: Path) -> None:
    """Hold the gateway's parser against h11's, as clients that asked in different ways."""
    data = path.read_bytes()
    for method in ("GET", "HEAD"):
        own = asyncio.run(own_response(data, method))
        _require_none(difference(own, h11_response(data, method)))


def converse(path: Path) -> None:
    """Have a whole conversation; hold what the site and the browser get against h11's reading."""
    data = path.read_bytes()
    read = asyncio.run(own_requests(data)).messages
    site, answered = asyncio.run(_conversation(data))
    if any(message.first[0] == b"CONNECT" for message in read):
        return  # what is inside was not read above; that the site could read it, was tried
    asked = iter([_as_asked(message) for message in read])
    for got in site:
        if got not in asked:
            raise WrongReadingError(f"the site got {got}, which nobody sent (in this order)")
    _require_responses(answered, [message.first[0] for message in read])


def _as_asked(message: Message) -> tuple[bytes, bytes, bytes]:
    method, target = message.first
    path = target[len(_ORIGIN) :] if target.lower().startswith(_ORIGIN) else target
    path = path.removeprefix(b":80")
    return method, path if path.startswith(b"/") else b"/" + path, message.body


def _require_none(fault: str | None) -> None:
    if fault is not None:
        raise WrongReadingError(fault)


def _require_responses(data: bytes, methods: list[bytes]) -> None:
    """Read all that the browser got: a whole response to each request, and one to what is none."""
    for method in methods:
        data = _after_response(data, method) if data else b""
    if data:
        # The refusal of a request that was not read above; its method may have been.
        is_head = data.endswith(b"\r\n\r\n")
        data = _after_response(data, b"HEAD" if is_head else b"GET")
    if data:
        raise WrongReadingError(f"the browser got what it did not ask for: {data!r}")


def _after_response(data: bytes, method: bytes) -> bytes:
    """Return what follows the next response, if there is any."""
    peer = h11.Connection(h11.CLIENT, max_incomplete_event_size=_EVENT_BYTES)
    peer.send(h11.Request(method=method, target="/", headers=[("Host", "a")]))
    peer.send(h11.EndOfMessage())
    peer.receive_data(data)
    begun = False
    while not isinstance(event := peer.next_event(), h11.EndOfMessage):
        if event is h11.NEED_DATA and not begun:
            return b""  # nothing, or an interim response to a request that never ended
        if event is h11.NEED_DATA:
            raise WrongReadingError(f"the browser got half a response: {data!r}")
        begun = begun or isinstance(event, h11.Response)
    return peer.trailing_data[0]


class _Socket:
    def setsockopt(self, *_: object) -> None:
        """Take what a TCP socket would."""


class _Wire(asyncio.Transport):
    """One end of a connection in memory: what is written goes to a function."""

    def __init__(self, end: BufferedConnection, sink: Callable[[bytes], None]) -> None:
        super().__init__({"socket": _Socket()})
        self._end, self._sink, self._closing = end, sink, False
        end.connection_made(self)

    def write(self, data: Any) -> None:
        self._sink(bytes(data))

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            asyncio.get_running_loop().call_soon(self._end.connection_lost, None)

    abort = close

    def is_closing(self) -> bool:
        return self._closing

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        """Nobody waits for the end of what is written."""

    def pause_reading(self) -> None:
        """All has arrived already."""

    resume_reading = pause_reading


class _Site:
    """A site behind the gateway, which reads with h11 and answers everything."""

    def __init__(self) -> None:
        self.got: list[tuple[bytes, bytes, bytes]] = []
        self.work = 0
        self.failure: h11.RemoteProtocolError | None = None

    def connected(self) -> BufferedConnection:
        peer = h11.Connection(h11.SERVER, max_incomplete_event_size=_EVENT_BYTES)
        connection = BufferedConnection(set())
        soon = asyncio.get_running_loop().call_soon
        parts: list[bytes] = []

        def arrived(data: bytes) -> None:
            self.work += 1
            peer.receive_data(data)
            try:
                self._read(peer, parts, lambda answer: soon(connection.data_received, answer))
            except h11.RemoteProtocolError as error:
                self.failure = error

        _Wire(connection, arrived)
        return connection

    def _read(
        self, peer: h11.Connection, parts: list[bytes], answer: Callable[[bytes], object]
    ) -> None:
        while True:
            match peer.next_event():
                case h11.Request() as event:
                    parts[:] = [event.method, event.target, b""]
                    if peer.they_are_waiting_for_100_continue:
                        interim = h11.InformationalResponse(status_code=100, headers=[])
                        answer(peer.send(interim) or b"")
                case h11.Data() as event:
                    parts[2] += event.data
                case h11.EndOfMessage():
                    self.got.append((parts[0], parts[1], parts[2]))
                    fields = [("Content-Length", "2")]
                    answer(peer.send(h11.Response(status_code=200, headers=fields)) or b"")
                    if parts[0] != b"HEAD":
                        answer(peer.send(h11.Data(data=b"ok")) or b"")
                    answer(peer.send(h11.EndOfMessage()) or b"")
                    if peer.our_state is not h11.DONE or peer.their_state is not h11.DONE:
                        return
                    peer.start_next_cycle()
                case _:
                    return


class _Connections(ConnectionPool):
    """Connections to a site in memory."""

    def __init__(self, site: _Site) -> None:
        super().__init__(_SHOP.address, set(), _ENDS_WITHIN_S)
        self._site = site

    async def connect(self) -> BufferedConnection:
        return self._site.connected()


async def _conversation(data: bytes) -> tuple[list[tuple[bytes, bytes, bytes]], bytes]:
    """Return the requests that the site got, and the bytes that the browser got."""
    site, answered = _Site(), bytearray()

    def browser(data: bytes) -> None:
        site.work += 1
        answered.extend(data)

    client = BufferedConnection(set())
    wire = _Wire(client, browser)
    conversation = Conversation(
        client,
        Policy((_SHOP,)),
        GatewayJournal(),
        {_SHOP: Exit(_Connections(site), RequestPacer(0), RequestPacer(0))},
        Deadlines(),
        recorded=RecordedDocuments(),
        leads=Leads(),
    )
    talk = asyncio.create_task(conversation.run())
    middle = len(data) // 2
    for part in (data[:middle], data[middle:]):
        if not wire.is_closing():
            client.data_received(part)
        await _still(site, talk)
    if not wire.is_closing():
        client.eof_received()
        wire.close()
    try:
        async with asyncio.timeout(_ENDS_WITHIN_S):
            await talk
    except TimeoutError:
        raise WrongReadingError("the conversation does not end with its client") from None
    if site.failure is not None:
        raise WrongReadingError(f"the site cannot read what it got: {site.failure}")
    return site.got, bytes(answered)


async def _still(site: _Site, talk: asyncio.Task[None]) -> None:
    """Let the event loop run until nothing has happened for a while."""
    idle, work = 0, site.work
    while idle < _IDLE_TICKS and not talk.done():
        await asyncio.sleep(0)
        idle, work = (idle + 1, work) if work == site.work else (0, site.work)
