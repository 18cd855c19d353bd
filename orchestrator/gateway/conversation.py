"""One client connection from its first request to its last."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from http import HTTPStatus

from orchestrator.gateway.arm import Arm
from orchestrator.gateway.bodies import Body, held_back
from orchestrator.gateway.connection import (
    BufferedConnection,
    ConnectionPool,
    PeerGoneError,
    UpstreamError,
    splice,
)
from orchestrator.gateway.detours import AGAIN, UNAVAILABLE
from orchestrator.gateway.documents import asking_readably, asks_for_document
from orchestrator.gateway.forwarding import SAFE_METHODS, BrokenOffError, Forwarding
from orchestrator.gateway.heads import (
    NO_BODY,
    BadMessageError,
    RequestHead,
    RequestTarget,
    absolute_target,
    authority_target,
    origin_target,
    parse_request,
)
from orchestrator.gateway.journal import GatewayJournal, Pending
from orchestrator.gateway.policy import Policy, Route
from orchestrator.gateway.recorded import RecordedDocuments, asked_recording, recorded_response
from orchestrator.gateway.taped import (
    MISS_STATUS,
    MOST_BODY_BYTES,
    Leads,
    TapedHost,
    miss_words,
    missed_by,
    registers_worker,
    taped_request,
    taped_response,
)


def refusal_page(policy: Policy, host: str, port: int) -> str:
    """Return the page for a host that has no route: which, why, and which sites there are."""
    links = "".join(
        f'<li><a href="{escape(route.origin)}/">{escape(route.origin)}/</a>'
        f" ({escape(route.site)})</li>"
        for route in policy.routes
    )
    return _page(
        "This host is not available",
        f"<p>{escape(policy.why_refused(host, port))}. The sites of this task are:</p>"
        f"<ul>{links}</ul>",
    )


def read_only_page(route: Route, method: str) -> str:
    return _page(
        "This site is read-only",
        f"<p>{escape(route.host)} is read-only in this task: "
        f"{escape(method)} was not sent. Pages can be read (GET, HEAD, OPTIONS). "
        "To send it again changes nothing.</p>",
    )


def unreachable_page(route: Route, why: str) -> str:
    return _page(
        "The site did not answer",
        f"<p>{escape(route.host)} (site {escape(route.site)}): {escape(why)}. "
        "This is a fault of the test bed, not of the page.</p>",
    )


def unrecorded_page(url: str) -> str:
    return _page(
        "No recorded page",
        f"<p>{escape(url)} was to be answered from a recording, and there is none (any more). "
        "Nothing was sent to the site.</p>",
    )


def unavailable_page() -> str:
    """Return the page of an arm that refuses documents now and then.

    Its words are in a shadow tree, as all that arms show: no check reads them, and a click there is
    none on the site.
    """
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{UNAVAILABLE}</title>'
        f'</head><body><site-notice><template shadowrootmode="open"><h1>{UNAVAILABLE}</h1>'
        "<p>The service is unavailable for a moment. "
        f'<a href="" onclick="location.reload();return false">{AGAIN}</a></p>'
        "</template></site-notice></body></html>\n"
    )


def malformed_page(reason: str) -> str:
    return _page("Bad request", f"<p>The request was not sent on: {escape(reason)}.</p>")


def page_response(status: int, page: str, *, method: str, closes: bool, fields: str = "") -> bytes:
    """Return a whole response with a page; without its body where the method is HEAD."""
    body = page.encode()
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
        "Content-Type: text/html; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\n"
        f"Cache-Control: no-store\r\n{fields}"
        + ("Connection: close\r\n" if closes else "")
        + "\r\n"
    )
    return head.encode() + (b"" if method == "HEAD" else body)


def _page(title: str, content: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{title}</title></head><body><h1>{title}</h1>{content}"
        "<p>This page comes from the gateway that this browser is bound to.</p></body></html>\n"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlines:
    """Seconds.

    Idle connections, tunnels and responses that have begun have none: they live as long as the
    browser context, which closes its gateway.

    Attributes:
        connect_s: to open a connection to an upstream, the name's look-up included.
        first_byte_s: from the request's last byte to the end of the response's head.
        head_s: for a client to finish a head it has begun.
        linger_s: for a client to read a refusal while it still sends what nobody will read.
    """

    connect_s: float = 5.0
    first_byte_s: float = 60.0
    head_s: float = 30.0
    linger_s: float = 2.0


class RequestPacer:
    """Lets `burst` starts through at once and no more than that in any `seconds`.

    It waits only when a start comes too early, and then as long as is left.
    """

    def __init__(self, seconds: float, burst: int = 1) -> None:
        self._seconds = seconds
        self._starts: deque[float] = deque(maxlen=burst)

    async def turn(self) -> None:
        """Wait for this start's turn; turns are given in the order asked for."""
        if not self._seconds:
            return
        now = asyncio.get_running_loop().time()
        full = len(self._starts) == self._starts.maxlen
        start = max(now, self._starts[0] + self._seconds) if full else now
        self._starts.append(start)
        if start > now:
            await asyncio.sleep(start - now)


_READING_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"
# RFC 8446, 5.1: the content type of the record that opens a TLS connection.
_TLS_HANDSHAKE = b"\x16"


@dataclass(frozen=True, slots=True)
class Exit:
    """The way out to one route: its connections, and how fast pages and tunnels may start."""

    connections: ConnectionPool
    pages: RequestPacer
    tunnels: RequestPacer


class Conversation:
    """Reads requests from one client connection and answers them one after the other."""

    def __init__(
        self,
        client: BufferedConnection,
        policy: Policy,
        journal: GatewayJournal,
        exits: Mapping[Route, Exit],
        deadlines: Deadlines,
        *,
        recorded: RecordedDocuments,
        leads: Leads,
        arm: Arm | None = None,
    ) -> None:
        self._recorded = recorded
        self._leads = leads
        self._client = client
        self._policy = policy
        self._journal = journal
        self._exits = exits
        self._deadlines = deadlines
        self._arm = arm
        # Set once a CONNECT led to a route with plain http in it, or with TLS that ends here.
        self._inside: Route | None = None
        self._secure = False

    async def run(self) -> None:
        """Answer requests until either side has had enough, then close."""
        try:
            while await self._next():
                pass
        except PeerGoneError:
            pass  # the client went away: nobody is left to answer
        finally:
            self._client.close()

    async def _next(self) -> bool:
        if not await self._client.arrival():
            return False
        method = "GET"
        try:
            async with asyncio.timeout(self._deadlines.head_s):
                request = parse_request(await self._client.head())
            method = request.method
            return await self._dispatch(request)
        except TimeoutError:
            return await self._malformed(BadMessageError("the head did not end in time", 408))
        except BadMessageError as bad:
            return await self._malformed(bad, method)

    async def _dispatch(self, request: RequestHead) -> bool:
        framing = request.framing()
        if request.method == "CONNECT":
            if self._inside is not None or framing != NO_BODY:
                raise BadMessageError("CONNECT inside a tunnel, or with a body")
            return await self._connect(request, authority_target(request))
        if self._inside is None:
            return await self._request(request, absolute_target(request))
        inside = self._inside
        target = origin_target(request, inside.host, inside.port, secure=self._secure)
        return await self._request(request, target)

    async def _request(self, request: RequestHead, target: RequestTarget) -> bool:
        route, pending = self._begin(request, target)
        try:
            if (key := asked_recording(request)) is not None:
                return await self._from_recording(request, target, key, pending)
            if route is None:
                return await self._refuse_host(request, target, pending)
            if route.taped is not None:
                return await self._from_tape(request, target, route, route.taped, pending)
            if route.read_only and request.method not in _READING_METHODS:
                pending.finish(403, refused=f"{route.host} is read-only: {request.method}")
                return await self._reply(403, read_only_page(route, request.method), request)
            if route.live and _asks_for_a_page(request):
                await self._exits[route].pages.turn()
            return await self._forward(request, target, route, pending)
        finally:
            pending.finish()

    async def _from_recording(
        self, request: RequestHead, target: RequestTarget, key: str, pending: Pending
    ) -> bool:
        """Answer with a recorded document, or say that there is none; no byte goes to the site."""
        document = self._recorded.take(request.method, target.url, key)
        if document is None:
            pending.finish(502, refused="no such recorded document, or it was asked for before")
            return await self._reply(502, unrecorded_page(target.url), request)
        keeps = request.keeps_alive and request.framing() == NO_BODY
        pending.mark_recorded()
        self._client.write(recorded_response(document, closes=not keeps))
        await self._client.drain()
        pending.finish(document.status)
        if not keeps:
            await self._linger()
        return keeps

    async def _from_tape(
        self,
        request: RequestHead,
        target: RequestTarget,
        route: Route,
        host: TapedHost,
        pending: Pending,
    ) -> bool:
        """Answer from a tape, or say that it has no answer; either way no byte leaves."""
        source = Body(self._client, request.framing())
        body = await held_back(source, MOST_BODY_BYTES)
        is_served = source.complete and not registers_worker(request) and not request.is_websocket
        asked = taped_request(request, target.url, body)
        answer = host.tape.answer(asked) if is_served else None
        keeps = request.keeps_alive and source.complete
        if answer is None:
            pending.missed = missed_by(request, target.url, host, self._leads)
            pending.finish(MISS_STATUS)
            page = _page("Not on the tape", miss_words(route.site, request.method, target.url))
            response = page_response(MISS_STATUS, page, method=request.method, closes=not keeps)
        else:
            self._leads.note(target.url, answer)
            pending.taped = answer.exactness
            pending.finish(answer.status)
            response = taped_response(answer, method=request.method, closes=not keeps)
        self._client.write(response)
        await self._client.drain()
        if not keeps:
            await self._linger()
        return keeps

    async def _forward(
        self, request: RequestHead, target: RequestTarget, route: Route, pending: Pending
    ) -> bool:
        if request.method not in SAFE_METHODS:
            pending.mark_write()
        if self._is_refused(request, target, route):
            pending.finish(503)
            return await self._reply(503, unavailable_page(), request, "Retry-After: 0\r\n")
        arm = await self._varied_by(request, target, route)
        connections = self._exits[route].connections
        forwarding = Forwarding(
            self._client,
            request if arm is None else asking_readably(request),
            target.path,
            connections,
            pending,
            self._deadlines.first_byte_s,
            episode_info=route.episode_info,
            arm=arm,
        )
        try:
            done = await forwarding.run()
        except UpstreamError as error:
            pending.finish(error.status, failed=error.reason)
            return await self._reply(error.status, unreachable_page(route, error.reason), request)
        except BrokenOffError as error:
            pending.finish(failed=error.reason)
            self._client.reset()
            return False
        except BadMessageError as bad:
            pending.finish(bad.status, refused=bad.reason)
            return await self._reply(bad.status, malformed_page(bad.reason), request)
        if done.tunnel is not None:
            pending.mark_tunnel()
            if not route.live:
                pending.mark_write()
        pending.finish()
        if done.tunnel is not None:
            await splice(self._client, done.tunnel)
        elif not done.keeps_client:
            await self._linger()
        return done.keeps_client

    def _is_refused(self, request: RequestHead, target: RequestTarget, route: Route) -> bool:
        """Whether the arm refuses a document, as a service does that is unavailable for a moment.

        The journal has the status alone: nothing failed, and no policy forbade it.
        """
        if self._arm is None or not self._arm.varies(route):
            return False
        is_read = request.method == "GET" and asks_for_document(request)
        return is_read and self._arm.refuses(route, target.path)

    async def _varied_by(
        self, request: RequestHead, target: RequestTarget, route: Route
    ) -> Arm | None:
        """Hold a request up where the arm does; return the arm where it is one of the response."""
        arm = self._arm
        if arm is None or not arm.varies(route):
            return None
        await arm.hold_up(route, request.method, target.path)
        if arm.meets_documents and arm.varies(route) and asks_for_document(request):
            return arm
        return None

    async def _connect(self, request: RequestHead, target: RequestTarget) -> bool:
        route, pending = self._begin(request, target)
        try:
            if route is None:
                return await self._refuse_host(request, target, pending)
            if route.taped is not None:
                return await self._into_tape(route, route.taped, pending)
            way = self._exits[route]
            if route.live:
                await way.tunnels.turn()
            try:
                connection = await way.connections.connect()
            except UpstreamError as error:
                pending.finish(error.status, failed=error.reason)
                page = unreachable_page(route, error.reason)
                return await self._reply(error.status, page, request)
            connection.on_end = self._client.close
            try:
                self._client.write(_ESTABLISHED)
                pending.mark_tunnel()
                pending.finish(200)
                return await self._through_tunnel(route, way, connection)
            except BaseException:
                connection.abort()
                raise
        finally:
            pending.finish()

    async def _into_tape(self, route: Route, host: TapedHost, pending: Pending) -> bool:
        """Be the taped host: read what comes through the tunnel, inside TLS where it has that."""
        pending.mark_tunnel()
        pending.finish(200)
        if host.tls is None:
            self._client.write(_ESTABLISHED)
        else:
            try:
                context = await asyncio.to_thread(host.tls)  # it may have to make a key first
            except ValueError as cause:
                raise BadMessageError(f"no certificate can name {route.host}") from cause
            await self._client.start_tls(context, self._deadlines.head_s, _ESTABLISHED)
            self._secure = True
        self._inside = route
        return True

    async def _through_tunnel(
        self, route: Route, way: Exit, connection: BufferedConnection
    ) -> bool:
        """Join TLS to a live host; read plain http like any other, WebSocket's start included.

        Nothing goes unread to a replica, so that what may write there is known.
        """
        first = await self._client.arrival()
        connection.on_end = None
        if first and first != _TLS_HANDSHAKE:
            way.connections.keep(connection)
            self._inside = route
            return True
        if not first:
            connection.close()
            return False
        if not route.live:
            raise BadMessageError(f"TLS to {route.host}, whose replica speaks plain http")
        await splice(self._client, connection)
        return False

    def _begin(self, request: RequestHead, target: RequestTarget) -> tuple[Route | None, Pending]:
        route = self._policy.lookup(target.host, target.port)
        pending = self._journal.begin(
            request.method,
            f"{target.host}:{target.port}" if request.method == "CONNECT" else target.url,
            site=route.site if route and not route.third_party else None,
            live=route.live if route else False,
        )
        return route, pending

    async def _refuse_host(
        self, request: RequestHead, target: RequestTarget, pending: Pending
    ) -> bool:
        pending.finish(403, refused=self._policy.why_refused(target.host, target.port))
        page = refusal_page(self._policy, target.host, target.port)
        return await self._reply(403, page, request)

    async def _malformed(self, bad: BadMessageError, method: str = "GET") -> bool:
        self._journal.begin("?", "", site=None, live=False).finish(bad.status, refused=bad.reason)
        page = malformed_page(bad.reason)
        self._client.write(page_response(bad.status, page, method=method, closes=True))
        await self._linger()
        return False

    async def _reply(self, status: int, page: str, request: RequestHead, fields: str = "") -> bool:
        keeps = request.keeps_alive and request.framing() == NO_BODY
        answer = page_response(status, page, method=request.method, closes=not keeps, fields=fields)
        self._client.write(answer)
        await self._client.drain()
        if not keeps:
            await self._linger()
        return keeps

    async def _linger(self) -> None:
        """End the response, then wait a moment for the client to read it and to leave.

        Closing at once while the client still sends would reset the connection, and the client
        would lose a response it has not read yet.
        """
        self._client.end_writing()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._deadlines.linger_s):
                while await self._client.read():
                    pass


def _asks_for_a_page(request: RequestHead) -> bool:
    """Tell whether this is a page load rather than a part of a page.

    Chromium sends Sec-Fetch-Dest to trustworthy origins only; over plain http Accept tells.
    """
    if wanted := request.values(b"sec-fetch-dest"):
        return wanted[0] in {b"document", b"iframe", b"frame"}
    return any(value.startswith(b"text/html") for value in request.values(b"accept"))
