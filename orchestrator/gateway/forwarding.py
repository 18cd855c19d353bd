"""One request to a site and its response, streamed both ways."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from orchestrator.gateway.arm import Arm
from orchestrator.gateway.bodies import Body, chunk, held_back, relay
from orchestrator.gateway.connection import (
    BufferedConnection,
    ConnectionPool,
    PeerGoneError,
    UpstreamError,
)
from orchestrator.gateway.documents import MOST_BYTES, is_document
from orchestrator.gateway.heads import (
    NO_BODY,
    BadMessageError,
    BodyKind,
    Framing,
    RequestHead,
    ResponseHead,
    parse_response,
    request_head,
    response_head,
    switching_head,
)
from orchestrator.gateway.journal import Pending

# RFC 9110, 9.2.1: what these ask for changes nothing, so asking twice is safe.
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
_SWITCHING = 101

Received = TypeVar("Received")

# Sends a request's body; its result is what is wrong with it.
_Upload: TypeAlias = "asyncio.Task[BadMessageError | None]"


class BrokenOffError(Exception):
    """A response ended in the middle, after its head had been sent to the client."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _StaleError(Exception):
    """A kept connection turned out to be closed already: the request can go on another one."""


@dataclass(frozen=True, slots=True)
class Forwarded:
    """What is left to do after a response: keep the client, close it, or join it to `tunnel`."""

    keeps_client: bool
    tunnel: BufferedConnection | None = None


@dataclass(frozen=True, slots=True)
class Forwarding:
    """A request on its way.

    `path` is its target in origin form; `episode_info` is what its site learns of the episode;
    `arm` alters its response where that is a document.
    """

    client: BufferedConnection
    request: RequestHead
    path: str
    connections: ConnectionPool
    pending: Pending
    first_byte_s: float
    episode_info: str | None = None
    arm: Arm | None = None

    async def run(self) -> Forwarded:
        """Send the request and stream its response back.

        A request that may be repeated may travel on a kept connection; where the upstream has just
        closed that one, it is sent once more. Any other gets a connection of its own.
        """
        request = self.request
        if request.method in SAFE_METHODS and request.framing() == NO_BODY:
            kept = self.connections.take()
            if kept is not None:
                with contextlib.suppress(_StaleError):
                    return await self._on(kept, is_kept=True)
        return await self._on(await self.connections.connect(), is_kept=False)

    async def _on(self, connection: BufferedConnection, *, is_kept: bool) -> Forwarded:
        body = Body(self.client, self.request.framing())
        self.client.on_end = connection.abort
        if self.client.has_ended:
            connection.abort()
        try:
            async with self._sending(body, connection) as upload:
                response, framing = await self._final_head(connection, upload, is_kept=is_kept)
                return await self._answer(response, framing, body, connection)
        except BaseException:
            connection.abort()
            raise
        finally:
            self.client.on_end = None

    @contextlib.asynccontextmanager
    async def _sending(
        self, body: Body, connection: BufferedConnection
    ) -> AsyncIterator[_Upload | None]:
        """Send the request, a body beside the response; stop when the response is through."""
        head = request_head(self.request, self.path, episode_info=self.episode_info)
        if body.complete:
            # Where the upstream is gone already, whoever reads the response finds out.
            with contextlib.suppress(PeerGoneError):
                connection.write(head)
            yield None
            return
        upload = asyncio.create_task(self._upload(head, body, connection))
        try:
            yield upload
        finally:
            upload.cancel()
            await asyncio.wait({upload})

    async def _upload(
        self, head: bytes, body: Body, connection: BufferedConnection
    ) -> BadMessageError | None:
        """Send head and body; return what is wrong with the body."""
        try:
            chunked = self.request.framing().kind is BodyKind.CHUNKED
            await relay(body, connection, head=head, chunked=chunked)
        except PeerGoneError:
            return None  # the response, or its absence, tells which side went
        except BadMessageError as bad:
            connection.abort()
            return bad
        return None

    async def _final_head(
        self, connection: BufferedConnection, upload: _Upload | None, *, is_kept: bool
    ) -> tuple[ResponseHead, Framing]:
        """Return the response's head, read whole; pass interim ones (100, 103) on before it."""
        while True:
            head = await self._next_head(connection, upload, is_kept=is_kept)
            try:
                response = parse_response(head)
                framing = response.framing(self.request.method)
            except BadMessageError as bad:
                raise _unreadable(bad) from None
            if not response.is_interim or response.status == _SWITCHING:
                return response, framing
            if self.request.minor:
                self.client.write(response_head(response, chunked=False, closes=False))

    async def _next_head(
        self, connection: BufferedConnection, upload: _Upload | None, *, is_kept: bool
    ) -> bytes:
        try:
            async with _deadline(self.first_byte_s, upload):
                return await connection.head()
        except TimeoutError:
            message = f"no response from {self.connections.address} within {self.first_byte_s:g} s"
            raise UpstreamError(message, 504) from None
        except BadMessageError as bad:
            raise _unreadable(bad) from None
        except PeerGoneError:
            if upload is not None and upload.done() and (wrong := upload.result()) is not None:
                raise wrong from None
            if self.client.has_ended:
                raise
            if is_kept and not connection.has_data:
                raise _StaleError from None
            message = f"{self.connections.address} closed the connection without a response"
            raise UpstreamError(message) from None

    async def _answer(
        self,
        response: ResponseHead,
        framing: Framing,
        body: Body,
        connection: BufferedConnection,
    ) -> Forwarded:
        request = self.request
        if response.status == _SWITCHING:
            return self._switch(response, connection)
        chunked = framing.kind is BodyKind.CHUNKED and request.minor == 1
        delimited = framing.kind in {BodyKind.NONE, BodyKind.LENGTH} or chunked
        self.pending.status = response.status
        source, held = Body(connection, framing), b""
        has_body = framing.kind is not BodyKind.NONE
        if self.arm is not None and has_body and is_document(response):
            held = await self._received(held_back(source, MOST_BYTES))
            altered = self.arm.altered(response, held) if source.complete else None
            if altered is not None:
                response, held, delimited, chunked = altered.head, altered.body, True, False
        keeps_client = request.keeps_alive and delimited and body.complete
        head = response_head(response, chunked=chunked, closes=not keeps_client)
        if held:
            head += chunk(held) + chunk(b"") * source.complete if chunked else held
        await self._received(relay(source, self.client, head=head, chunked=chunked))
        if response.keeps_alive and framing.kind is not BodyKind.UNTIL_CLOSE and body.complete:
            self.connections.keep(connection)
        else:
            connection.close()
        return Forwarded(keeps_client)

    def _switch(self, response: ResponseHead, connection: BufferedConnection) -> Forwarded:
        if not self.request.is_websocket:
            raise UpstreamError(f"{self.connections.address} switched protocols unasked")
        self.client.write(switching_head(response))
        self.pending.status = response.status
        return Forwarded(keeps_client=False, tunnel=connection)

    async def _received(self, receiving: Awaitable[Received]) -> Received:
        """Await what reads a response's body; BrokenOffError where that ends before its end."""
        try:
            return await receiving
        except BadMessageError as bad:
            raise BrokenOffError(str(_unreadable(bad))) from None
        except PeerGoneError:
            if self.client.has_ended:
                raise
            message = f"{self.connections.address} broke off in the middle of the response"
            raise BrokenOffError(message) from None


def _unreadable(bad: BadMessageError) -> UpstreamError:
    return UpstreamError(f"the response is not HTTP/1.1: {bad.reason}")


@contextlib.asynccontextmanager
async def _deadline(seconds: float, upload: _Upload | None) -> AsyncIterator[None]:
    """Give the block `seconds`, counted from the end of an upload where there is one."""
    if upload is None or upload.done():
        async with asyncio.timeout(seconds):
            yield
        return
    async with asyncio.timeout(None) as limit:
        loop = asyncio.get_running_loop()
        is_waiting = True

        def begin(_: _Upload) -> None:
            if is_waiting:  # a call that the loop has queued already cannot be taken back
                limit.reschedule(loop.time() + seconds)

        upload.add_done_callback(begin)
        try:
            yield
        finally:
            is_waiting = False
            upload.remove_done_callback(begin)
