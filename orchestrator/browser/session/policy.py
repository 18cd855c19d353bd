"""Keeps live origins read-only, inside TLS: no request that may write is sent to them.

There is one enforcer for a browser, on its own CDP session, because only there a popup's first
request is seen before it is sent. It intercepts only these origins, and only the kinds of requests
that can have another method than GET, so no other traffic is slowed.
"""

from __future__ import annotations

import asyncio
import base64
import html
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, CDPSession, Request, Response
from playwright.async_api import Error as PlaywrightError

from orchestrator.browser.tabs.cdp_channel import Reply
from orchestrator.gateway.conversation import RequestPacer
from orchestrator.gateway.journal import GatewayJournal
from orchestrator.gateway.live_limits import LiveUse
from orchestrator.gateway.policy import Policy, Route

# What stands in a gateway's place where the browser reaches sites by itself. A browser elsewhere
# cannot use a proxy on this machine. Its session keeps the same policy then: the hosts that may be
# asked, which of them are read-only, and the pace. What it sees of requests is written into a
# journal like a gateway's, so that evidence and faults are the same.
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
        self._held_back = Counter[tuple[str, str]]()
        self._pacers = {route: RequestPacer(route.pace_s) for route in policy.routes}

    @property
    def hosts(self) -> frozenset[str]:
        return frozenset(route.host for route in self._policy.routes)

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

    def hold_back(self, method: str, url: str) -> None:
        """Take it that a request is answered by Arena, and never sent: its answer is no site's."""
        self._held_back[method, url] += 1

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
        if self._held_back[request.method, request.url]:
            self._held_back[request.method, request.url] -= 1
            return
        noted = self.journal.begin(request.method, request.url, site=route.site, live=route.live)
        if request.method in _WRITES:
            noted.mark_write()
        noted.finish(status, failed=failed)


def _port(url: str) -> int:
    parts = urlsplit(url)
    return parts.port or _PORTS.get(parts.scheme, 0)


SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
REFUSAL = "live sites are read-only in this task"
_KINDS = ("Document", "XHR", "Fetch", "Ping", "Other", "CSPViolationReport")
_PAGE = (
    "<!doctype html><title>Refused by Arena</title><h1>Refused by Arena</h1>"
    "<p>This request was not sent: {why}.</p>{more}"
)
_NOTED = "<p>It was noted as it was made. To send it again changes nothing.</p>"


@dataclass(frozen=True, slots=True)
class GuardedSession:
    """A session under the policy.

    Attributes:
        contexts: the browser's ids of its contexts.
        origins: read-only ones, such as `https://en.wikipedia.org`.
        owns: whether a frame is one of its own.
        refused: called with method and URL of each request that was not sent.
        traffic: the rest of the policy, where no gateway keeps it.
        live: what limits the requests to live hosts; None for nothing.
    """

    contexts: frozenset[str]
    origins: frozenset[str]
    owns: Callable[[str], bool]
    refused: Callable[[str, str], None]
    traffic: DirectTraffic | None = None
    live: LiveUse | None = None

    @property
    def sees_reading(self) -> bool:
        """Whether requests that only read are decided on too."""
        return self.traffic is not None or (self.live is not None and self.live.asks_first)


def origin_of(url: str) -> str:
    """Return scheme, host and port of a URL as browsers write an origin."""
    parts = urlsplit(url)
    default = {"http": 80, "https": 443}.get(parts.scheme)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    port = "" if parts.port in (None, default) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}"


class LiveGuard:
    """Refuses writes to read-only origins for all sessions of one browser."""

    def __init__(self, session: CDPSession) -> None:
        self._session = session
        self._watched: list[GuardedSession] = []
        self._tasks: set[asyncio.Task[None]] = set()
        session.on("Fetch.requestPaused", self._paused)

    async def add(self, watched: GuardedSession) -> None:
        self._watched.append(watched)
        await self._intercept()

    async def remove(self, watched: GuardedSession) -> None:
        self._watched.remove(watched)
        await self._intercept()

    async def ping(self) -> None:
        """Raise Playwright's Error if the browser is gone."""
        await self._session.send("Browser.getVersion")

    async def close(self) -> None:
        for task in tuple(self._tasks):
            task.cancel()

    async def _intercept(self) -> None:
        origins = sorted(set[str]().union(*(watched.origins for watched in self._watched)))
        if any(watched.sees_reading for watched in self._watched):
            await self._session.send("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})
            return
        if not origins:
            await self._session.send("Fetch.disable")
            return
        patterns = [
            {"urlPattern": f"{origin}/*", "resourceType": kind}
            for origin in origins
            for kind in _KINDS
        ]
        await self._session.send("Fetch.enable", {"patterns": patterns})

    def _paused(self, event: Reply) -> None:
        task = asyncio.get_running_loop().create_task(self._decide(event))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _decide(self, event: Reply) -> None:
        try:
            why = await self._why_refused(event)
            if why is None:
                await self._session.send("Fetch.continueRequest", self._continued(event))
                return
            page = _PAGE.format(why=html.escape(why), more=_NOTED if why == REFUSAL else "")
            body = base64.b64encode(page.encode()).decode()
            headers = [{"name": "content-type", "value": "text/html; charset=utf-8"}]
            await self._session.send(
                "Fetch.fulfillRequest",
                {
                    "requestId": event["requestId"],
                    "responseCode": 403,
                    "responseHeaders": headers,
                    "body": body,
                },
            )
        except PlaywrightError:
            return  # the request's page closed: nothing was sent

    async def _why_refused(self, event: Reply) -> str | None:
        """Say why a request may not be sent; None where it may, after its turn."""
        method, url = event["request"]["method"], event["request"]["url"]
        owner = await self._owner(event["frameId"], method)
        if owner is not None and owner.traffic is not None:
            why = owner.traffic.why_refused(method, url)
            if why is not None:
                return why
            if event["resourceType"] == "Document":
                await owner.traffic.turn(url)
        if method in SAFE_METHODS:
            return await self._why_too_much(owner, method, url)
        if owner is None:
            return None if await self._is_anothers(event["frameId"]) else REFUSAL
        if origin_of(url) not in owner.origins:
            return await self._why_too_much(owner, method, url)
        owner.refused(method, url)
        if owner.traffic is not None:
            owner.traffic.hold_back(method, url)
        return REFUSAL

    async def _why_too_much(
        self, owner: GuardedSession | None, method: str, url: str
    ) -> str | None:
        """Say why a request is more than its host may be asked; None where it is not."""
        live = self._live_of(owner, url)
        if live is None:
            return None
        why = await live.admit(method, url)
        if why is not None and owner is not None and owner.traffic is not None:
            owner.traffic.hold_back(method, url)
        return why

    def _live_of(self, owner: GuardedSession | None, url: str) -> LiveUse | None:
        """Return what limits a URL's host; a worker's request has no owner, and is limited too."""
        asking = self._watched if owner is None else [owner]
        found = (one.live for one in asking if one.live is not None)
        return next((live for live in found if live.is_asked_first(url)), None)

    def _continued(self, event: Reply) -> dict[str, object]:
        """Return how a request goes on: as it is, but for what its site is told of who comes."""
        going: dict[str, object] = {"requestId": event["requestId"]}
        url, headers = event["request"]["url"], event["request"]["headers"]
        live = self._live_of(None, url)
        named = {name: value for name, value in headers.items() if name.lower() != "user-agent"}
        own = next((value for name, value in headers.items() if name.lower() == "user-agent"), "")
        told = None if live is None else live.user_agent(url, own)
        if told is not None:
            named["User-Agent"] = told
            going["headers"] = [{"name": name, "value": value} for name, value in named.items()]
        return going

    async def _owner(self, frame: str, method: str) -> GuardedSession | None:
        """Return the session of a frame; None for one of no session that is known here.

        Where a gateway keeps the rest of the policy, requests that only read need none.
        """
        if method in SAFE_METHODS and not any(one.sees_reading for one in self._watched):
            return None
        found = next((w for w in self._watched if w.owns(frame)), None)
        return found or await self._owner_by_context(frame)

    async def _owner_by_context(self, frame: str) -> GuardedSession | None:
        """Find the session of a page so new that no session knows it."""
        context = await self._context_of(frame)
        return next((w for w in self._watched if context in w.contexts), None)

    async def _is_anothers(self, frame: str) -> bool:
        """Whether it is a page of somebody else's, in a browser that Arena did not start."""
        if not any(watched.traffic for watched in self._watched):
            return False
        context = await self._context_of(frame)
        return context is not None and all(context not in w.contexts for w in self._watched)

    async def _context_of(self, frame: str) -> str | None:
        try:
            reply = await self._session.send("Target.getTargetInfo", {"targetId": frame})
        except PlaywrightError:
            return None
        found: str | None = reply["targetInfo"].get("browserContextId")
        return found
