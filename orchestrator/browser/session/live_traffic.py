"""Counts what live hosts get from a session, as the browser reports it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from playwright.async_api import BrowserContext, Request, Response
from playwright.async_api import Error as PlaywrightError

from orchestrator.gateway.live_limits import LiveUse

_LAST_S: Final = 2.0
_REDIRECTS: Final = range(300, 400)
# What neither a page nor an agent brings about. That a request was given up is not among it, nor
# that there is no way out of this machine, nor that the gateway refused a tunnel: it knows why.
_BROKEN: Final = re.compile(
    r"net::(?P<why>ERR_(?:NAME_|CONNECTION_|ADDRESS_|TIMED_OUT|EMPTY_RESPONSE|SSL_|CERT_|DNS_|HTTP2_"
    r"|INVALID_HTTP_RESPONSE|CONTENT_LENGTH_MISMATCH|INCOMPLETE_CHUNKED_ENCODING"
    r"|TOO_MANY_REDIRECTS)\w*)"
)


class LiveTraffic:
    """Follows the requests of contexts, those of pages that checks open among them."""

    def __init__(self, use: LiveUse, contexts: Iterable[BrowserContext]) -> None:
        self._use = use
        self._answered = set[Request]()
        self._reading = set[asyncio.Task[None]]()
        for context in contexts if use.counts else ():  # elsewhere nobody pays for the events
            context.on("response", self._was_answered)
            context.on("requestfinished", self._has_ended)
            context.on("requestfailed", self._has_failed)

    def _has_failed(self, request: Request) -> None:
        broken = _BROKEN.search(request.failure or "")
        if broken is not None and _is_page(request):
            self._use.broke(request.url, broken["why"])
        if broken is not None and request not in self._answered:
            self._use.ended(request.method, request.url, None)
        self._has_ended(request)

    async def end(self) -> None:
        """Wait a moment for the sizes of what has ended."""
        if self._reading:
            await asyncio.wait(self._reading, timeout=_LAST_S)
        for task in tuple(self._reading):
            task.cancel()

    def _was_answered(self, response: Response) -> None:
        if self._use.ended(response.request.method, response.url, response.status):
            self._answered.add(response.request)
            if response.status not in _REDIRECTS and _is_page(response.request):
                self._use.loaded(response.url)

    def _has_ended(self, request: Request) -> None:
        if request not in self._answered:
            return
        self._answered.discard(request)
        task = asyncio.get_running_loop().create_task(self._read(request))
        self._reading.add(task)
        task.add_done_callback(self._reading.discard)

    async def _read(self, request: Request) -> None:
        with suppress(PlaywrightError):
            sizes = await request.sizes()
            size = sizes["responseHeadersSize"] + sizes["responseBodySize"]
            self._use.received(request.url, max(size, 0))


def _is_page(request: Request) -> bool:
    """Whether it is for the document of a tab."""
    try:
        return request.is_navigation_request() and request.frame.parent_frame is None
    except PlaywrightError:
        return request.is_navigation_request()  # of a tab that is just being opened
