"""What stands in a gateway's place where the browser reaches sites by itself.

A browser elsewhere cannot use a proxy on this machine. Its session keeps the same policy then: the
hosts that may be asked, which of them are read-only, and the pace. What it sees of requests is
written into a journal like a gateway's, so that evidence and faults are the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, Request, Response

from orchestrator.gateway import GatewayJournal
from orchestrator.gateway.conversation import RequestPacer
from orchestrator.gateway.policy import Policy, Route

_PORTS: Final[Mapping[str, int]] = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_WRITES: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
# What a page, a policy or a navigation cannot bring about: the way to the site is broken.
_BROKEN: Final = re.compile(
    r"net::(?P<why>ERR_(?:NAME_|CONNECTION_|ADDRESS_|TIMED_OUT|INTERNET_|NETWORK_|PROXY_|TUNNEL_"
    r"|SOCKS_|EMPTY_RESPONSE|SSL_|CERT_|DNS_)\w*)"
)


class DirectTraffic:
    """The policy and the journal of one episode whose browser reaches sites by itself.

    Attributes:
        journal: what was asked for, refused, or could not be reached.
        url: stands for it among the options of its session; no proxy is there.
    """

    def __init__(self, policy: Policy, url: str) -> None:
        self.journal = GatewayJournal()
        self.url = url
        self._policy = policy
        self._pacers = {route: RequestPacer(route.pace_s) for route in policy.routes}

    def follow(self, context: BrowserContext) -> None:
        """Write down what the pages of a context ask for."""
        context.on("response", self._answered)
        context.on("requestfailed", self._failed)

    def why_refused(self, method: str, url: str) -> str | None:
        """Say why a request may not be sent, and write it down; None where it may."""
        parts = urlsplit(url)
        if parts.scheme not in _PORTS or self._route(url) is not None:
            return None
        why = self._policy.why_refused(parts.hostname or "", _port(url))
        self.journal.begin(method, url, site=None, live=False).finish(refused=why)
        return why

    async def turn(self, url: str) -> None:
        """Wait until a page of a live host may be loaded."""
        route = self._route(url)
        if route is not None:
            await self._pacers[route].turn()

    def _route(self, url: str) -> Route | None:
        return self._policy.lookup(urlsplit(url).hostname or "", _port(url))

    def _answered(self, response: Response) -> None:
        self._note(response.request, status=response.status)

    def _failed(self, request: Request) -> None:
        broken = _BROKEN.search(request.failure or "")
        if broken is not None:
            self._note(request, failed=broken["why"])

    def _note(
        self, request: Request, *, status: int | None = None, failed: str | None = None
    ) -> None:
        route = self._route(request.url)
        if route is None:
            return
        noted = self.journal.begin(request.method, request.url, site=route.site, live=route.live)
        if request.method in _WRITES:
            noted.mark_write()
        noted.finish(status, failed=failed)


def _port(url: str) -> int:
    parts = urlsplit(url)
    return parts.port or _PORTS.get(parts.scheme, 0)
