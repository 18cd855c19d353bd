"""Keeps what the contexts of a browser got, bodies included, as the browser itself hands it out.

TLS to live sites is never intercepted: what the network carried is what it would carry without a
recording. A body that the browser has dropped before it could be asked for is lost, and counted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, Request, Response
from playwright.async_api import Error as PlaywrightError

from orchestrator.browser.session.request_secrets import RequestSecrets
from orchestrator.gateway.tapes.exchange import Headers, TapedExchange, kept_headers
from orchestrator.gateway.tapes.records import is_http

MOST_BYTES: Final = 512 * 1024 * 1024
_LAST_S: Final = 10.0
_DATE: Final = "%Y-%m-%dT%H:%M:%SZ"
# Of the bytes as the network carried them; the browser hands out what it decoded.
_OF_BYTES: Final = frozenset({"content-encoding", "content-length", "transfer-encoding"})
_REDIRECTS: Final = range(300, 400)
_NO_BODY: Final = frozenset({204, 205})
_NOT_MODIFIED: Final = 304


class TapeRecorder:
    """Follows contexts, of one session after another.

    Attributes:
        exchanges: what was recorded, each as it ended.
        lost: answers that were broken off, or whose bodies the browser had dropped.
        passed_over: requests that robots.txt forbids.
        secret: requests that carried a password or the like.

    Args:
        host: whose answers are recorded; nothing else is looked at.
        is_allowed: whether robots.txt lets a URL be recorded.
    """

    def __init__(self, host: str, is_allowed: Callable[[str], bool]) -> None:
        self.exchanges: list[TapedExchange] = []
        self.lost = 0
        self.passed_over = 0
        self.secret = 0
        self._host = host
        self._is_allowed = is_allowed
        self._secrets = RequestSecrets()
        self._under_way: set[Request] = set()
        self._reading: set[asyncio.Task[None]] = set()
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._bytes = 0

    def follow(self, context: BrowserContext) -> None:
        context.on("request", self._has_begun)
        context.on("requestfinished", self._has_ended)
        context.on("requestfailed", self._has_failed)

    async def drained(self) -> None:
        """Wait a moment for what pages still ask for, and for the bodies that are being read."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_S):
                await self._quiet.wait()
        self._under_way.clear()  # a stream, or what its page was closed over

    def _has_begun(self, request: Request) -> None:
        if self._is_own(request):
            self._under_way.add(request)
            self._quiet.clear()

    def _is_own(self, request: Request) -> bool:
        return is_http(request.url) and urlsplit(request.url).hostname == self._host

    def _has_failed(self, request: Request) -> None:
        """Count what was broken off, as when its page is left: a replay may ask for it."""
        if request in self._under_way:
            self.lost += 1
        self._has_gone(request)

    def _has_gone(self, request: Request) -> None:
        self._under_way.discard(request)
        self._rest()

    def _has_ended(self, request: Request) -> None:
        if self._is_own(request):
            task = asyncio.get_running_loop().create_task(self._read(request))
            self._reading.add(task)
            task.add_done_callback(self._was_read)
        self._has_gone(request)

    def _was_read(self, task: asyncio.Task[None]) -> None:
        self._reading.discard(task)
        self._rest()

    def _rest(self) -> None:
        if not self._under_way and not self._reading:
            self._quiet.set()

    async def _read(self, request: Request) -> None:
        if not self._is_allowed(request.url):
            self.passed_over += 1
            return
        if self._has_secret(request):
            self.secret += 1
            return
        try:
            response = await request.response()
            if response is None or response.status == _NOT_MODIFIED:
                return
            body = await _body(response)
            sent, headers = await _sent(request), await _answered(response)
        except PlaywrightError:
            self.lost += 1  # the page was left, and the browser dropped it
            return
        self._bytes += len(body)
        if self._bytes > MOST_BYTES:
            self.lost += 1
            return
        self.exchanges.append(
            TapedExchange(
                method=request.method,
                url=request.url.partition("#")[0],
                status=response.status,
                headers=headers,
                body=body,
                sent=sent,
                sent_body=request.post_data_buffer or b"",
                date=datetime.now(UTC).strftime(_DATE),
            )
        )

    def _has_secret(self, request: Request) -> bool:
        body = (request.post_data_buffer or b"").decode("utf-8", "replace")
        kind = request.headers.get("content-type", "")
        clean = self._secrets.body(body, kind) if body else body
        return clean != body or self._secrets.url(request.url) != request.url


async def _body(response: Response) -> bytes:
    if response.status in _REDIRECTS or response.status in _NO_BODY:
        return b""
    return await response.body()


async def _sent(request: Request) -> Headers:
    return _http1([(one["name"], one["value"]) for one in await request.headers_array()])


async def _answered(response: Response) -> Headers:
    named = [(one["name"], one["value"]) for one in await response.headers_array()]
    return _http1([one for one in named if one[0].lower() not in _OF_BYTES])


def _http1(headers: list[tuple[str, str]]) -> Headers:
    return kept_headers(one for one in headers if not one[0].startswith(":"))
