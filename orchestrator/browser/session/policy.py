"""Keeps live origins read-only, inside TLS: no request that may write is sent to them.

There is one enforcer for a browser, on its own CDP session, because only there a popup's first
request is seen before it is sent. It intercepts only these origins, and only the kinds of requests
that can have another method than GET, so no other traffic is slowed.
"""

from __future__ import annotations

import asyncio
import base64
import html
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from orchestrator.browser.session.direct import DirectTraffic
from orchestrator.browser.tabs.cdp_channel import Reply

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
REFUSAL = "live sites are read-only in this task"
_KINDS = ("Document", "XHR", "Fetch", "Ping", "Other", "CSPViolationReport")
_PAGE = (
    "<!doctype html><title>Refused by Arena</title><h1>Refused by Arena</h1>"
    "<p>This request was not sent: {why}.</p>"
)


@dataclass(frozen=True, slots=True)
class GuardedSession:
    """A session under the policy.

    Attributes:
        contexts: the browser's ids of its contexts.
        origins: read-only ones, such as `https://en.wikipedia.org`.
        owns: whether a frame is one of its own.
        refused: called with method and URL of each request that was not sent.
        traffic: the rest of the policy, where no gateway keeps it.
    """

    contexts: frozenset[str]
    origins: frozenset[str]
    owns: Callable[[str], bool]
    refused: Callable[[str, str], None]
    traffic: DirectTraffic | None = None


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
        if any(watched.traffic for watched in self._watched):
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
                await self._session.send("Fetch.continueRequest", {"requestId": event["requestId"]})
                return
            body = base64.b64encode(_PAGE.format(why=html.escape(why)).encode()).decode()
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
            return None
        if owner is None:
            return None if await self._is_anothers(event["frameId"]) else REFUSAL
        if origin_of(url) not in owner.origins:
            return None
        owner.refused(method, url)
        return REFUSAL

    async def _owner(self, frame: str, method: str) -> GuardedSession | None:
        """Return the session of a frame; None for one of no session that is known here.

        Where a gateway keeps the rest of the policy, requests that only read need none.
        """
        if method in SAFE_METHODS and not any(watched.traffic for watched in self._watched):
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
