"""When a page has settled: no request is in flight, and its DOM is quiet."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from orchestrator.browser.tabs.cdp_channel import CdpChannel, RefusedError, Reply
from orchestrator.browser.tabs.frames import FrameTable

STILL_MS = 40  # how long nothing must happen if the action started nothing
BUSY_MS = 120  # the same if it did: a page often continues after its answers arrive
LONG_LIVED_S = 5.0  # an older request streams or polls: waiting for it would be in vain
POPUP_S = 5.0
NETWORK_CHANGED = "net::ERR_NETWORK_CHANGED"  # a container and its bridge came or went

# Requests that stay open, or that no page waits for; `Other` are icons and prefetches.
_UNCOUNTED = frozenset(
    {"EventSource", "WebSocket", "Media", "Ping", "CSPViolationReport", "Other", "Prefetch"}
)

SCRIPTED = frozenset({"XHR", "Fetch"})  # what scripts ask for

_MOST_RESPONSES = 16
_MOST_SCRIPTED = 64  # of a document; what its scripts ask for after them is not kept


@dataclass(slots=True)
class _Request:
    started: float
    loader: str
    what: str


@dataclass(frozen=True, slots=True)
class DocumentResponse:
    """The head of a response that a document of the main frame was made of."""

    request_id: str
    url: str
    status: int
    headers: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class ScriptResponse:
    """A request of a document's script, and the head of its response once there is one.

    Attributes:
        sent: the request's body; empty without one.
        charset: of the response's text.
    """

    request_id: str
    loader: str
    method: str
    url: str
    sent: str
    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    charset: str = "utf-8"


class Traffic:
    """What one page is waiting for, by the events of its wire.

    Attributes:
        activity_count: counts everything that may go on to change the page.
        settled: the count when the page last settled; -1 if it never did.
        statuses: the HTTP statuses of the main frame's documents, by loader; `status` is the last.
        responses: what the latest documents of the main frame were made of, by loader.
        scripted: what the scripts of the latest documents were answered, in order, by loader.
        asked: the paths with queries that the page itself requested, by host.
        disturbed: whether the machine's own network changed under a request: Chromium then breaks
            off whatever is in flight, so what the page shows is not the site's doing.
    """

    def __init__(self, channel: CdpChannel) -> None:
        self.activity_count = 0
        self.settled = -1
        self.status: int | None = None
        self.statuses: dict[str, int] = {}
        self.responses: dict[str, DocumentResponse] = {}
        self.scripted: dict[str, list[ScriptResponse]] = {}
        self.asked: defaultdict[str, set[str]] = defaultdict(set)
        self._scripts: dict[str, ScriptResponse] = {}
        self.disturbed = False
        self._inflight: dict[str, _Request] = {}
        self._lasting: dict[str, str] = {}
        self._downloads: dict[str, str] = {}
        self._dialogs = 0
        self._parsing: str | None = None
        self._main: str | None = None
        self._popups: list[float] = []
        self._changed = asyncio.Event()
        channel.on("Network.requestWillBeSent", self._sent)
        channel.on("Network.responseReceived", self._answered)
        channel.on("Network.loadingFinished", self._done)
        channel.on("Network.loadingFailed", self._failed)
        channel.on("Page.frameRequestedNavigation", self._count_activity)
        channel.on("Page.frameStartedNavigating", self._navigating)
        channel.on("Page.frameStartedLoading", self._loading)
        channel.on("Page.frameStoppedLoading", self._stopped)
        channel.on("Page.frameNavigated", self._committed)
        channel.on("Page.domContentEventFired", self._parsed)
        channel.on("Page.windowOpen", self._window_opened)
        channel.on("Network.webSocketCreated", self._socket_opened)
        channel.on("Network.webSocketClosed", self._done)
        channel.on("Page.downloadWillBegin", self._download_began)
        channel.on("Page.downloadProgress", self._download_went_on)
        channel.on("Page.javascriptDialogOpening", self._dialog_opened)
        channel.on("Page.javascriptDialogClosed", self._dialog_closed)

    def follow(self, main_frame: str) -> None:
        self._main = main_frame

    def popup_adopted(self) -> None:
        """Note that a tab this page opened is known now."""
        if self._popups:
            self._popups.pop(0)
        self._touch()

    async def idle(self) -> None:
        """Return once nothing is in flight that may end."""
        while (until := self._busy_until()) is not None:
            self._changed.clear()
            wait_s = max(0.0, until - asyncio.get_running_loop().time())
            try:
                async with asyncio.timeout(wait_s):
                    await self._changed.wait()
            except TimeoutError:
                continue

    def under_way(self) -> str | None:
        """Say what has begun in the page and not ended, however long ago; None if nothing has."""
        if self._dialogs:
            return "a native dialog is open"
        requests = (one.what for one in self._inflight.values())
        for what in (*self._downloads.values(), *self._lasting.values(), *requests):
            return what
        if self._parsing is not None:
            return "it is still loading"
        return "a page that it opened has not come yet" if self._popups else None

    def _busy_until(self) -> float | None:
        """Return when to look again at the latest; None if nothing is in flight."""
        now = asyncio.get_running_loop().time()
        self._popups = [at for at in self._popups if at + POPUP_S > now]
        ends = [at + POPUP_S for at in self._popups]
        ends += [
            request.started + LONG_LIVED_S
            for request in self._inflight.values()
            if request.started + LONG_LIVED_S > now
        ]
        if self._parsing is not None:
            ends.append(now + LONG_LIVED_S)
        return min(ends, default=None)

    def _touch(self) -> None:
        self.activity_count += 1
        self._changed.set()

    def _sent(self, event: Reply) -> None:
        url = urlsplit(event["request"]["url"])
        self.asked[url.hostname or ""].add(f"{url.path}?{url.query}" if url.query else url.path)
        if event.get("type") == "EventSource":
            self._lasting[event["requestId"]] = f"an event stream is open: {url.geturl()}"
        if event.get("type") in _UNCOUNTED or event["request"]["url"].startswith("data:"):
            return
        if event.get("type") in SCRIPTED:
            self._script_asked(event)
        now = asyncio.get_running_loop().time()
        self._inflight[event["requestId"]] = _Request(
            now, event.get("loaderId", ""), f"a request is in flight: {_named(event['request'])}"
        )
        self._touch()

    def _answered(self, event: Reply) -> None:
        if event.get("type") == "Document" and event.get("frameId") == self._main:
            self.status = event["response"]["status"]
            self.statuses[event["loaderId"]] = event["response"]["status"]
            self._keep(event)
        elif asked := self._scripts.pop(event["requestId"], None):
            response = event["response"]
            asked.status, asked.headers = response["status"], tuple(response["headers"].items())
            asked.charset = response.get("charset") or "utf-8"
            kept = self.scripted.setdefault(asked.loader, [])
            kept += [asked] if len(kept) < _MOST_SCRIPTED else []

    def _script_asked(self, event: Reply) -> None:
        """Note a request; one that was sent elsewhere has no answer of its own."""
        self._scripts.pop(event["requestId"], None)
        request = event["request"]
        is_whole = "postData" in request or not request.get("hasPostData")
        if is_whole and "redirectResponse" not in event:
            self._scripts[event["requestId"]] = ScriptResponse(
                event["requestId"],
                event.get("loaderId", ""),
                request["method"],
                request["url"],
                request.get("postData", ""),
            )

    def _keep(self, event: Reply) -> None:
        response = event["response"]
        self.responses[event["loaderId"]] = DocumentResponse(
            event["requestId"],
            response["url"],
            response["status"],
            tuple(response["headers"].items()),
        )
        if len(self.responses) > _MOST_RESPONSES:
            del self.responses[next(iter(self.responses))]
        self.scripted = {
            loader: kept for loader, kept in self.scripted.items() if loader in self.responses
        }

    def _done(self, event: Reply) -> None:
        self._lasting.pop(event["requestId"], None)
        if self._inflight.pop(event["requestId"], None) is not None:
            self._touch()

    def _failed(self, event: Reply) -> None:
        self._scripts.pop(event["requestId"], None)
        if event.get("errorText") == NETWORK_CHANGED:
            self.disturbed = True
        self._done(event)

    def _count_activity(self, _event: Reply) -> None:
        self._touch()

    def _navigating(self, event: Reply) -> None:
        if event["frameId"] == self._main and "samedocument" not in event["navigationType"].lower():
            self._parsing = event["frameId"]
        self._touch()

    def _loading(self, event: Reply) -> None:
        if event["frameId"] == self._main:
            self._parsing = event["frameId"]
        self._touch()

    def _stopped(self, event: Reply) -> None:
        if event["frameId"] == self._main:
            self._parsed(event)

    def _parsed(self, _event: Reply) -> None:
        # An end, not a beginning: nothing new is under way, so it is not counted.
        self._parsing = None
        self._changed.set()

    def _committed(self, event: Reply) -> None:
        frame = event["frame"]
        if "parentId" not in frame:
            self._main = frame["id"]
            self._drop_other_loaders({frame["loaderId"], ""})
            self._lasting.clear()
        self._touch()

    def _drop_other_loaders(self, keep: Iterable[str]) -> None:
        kept = set(keep)
        self._inflight = {i: r for i, r in self._inflight.items() if r.loader in kept}

    def _socket_opened(self, event: Reply) -> None:
        self._lasting[event["requestId"]] = f"a WebSocket is open: {event['url']}"

    def _download_began(self, event: Reply) -> None:
        self._downloads[event["guid"]] = f"a download is under way: {event['url']}"

    def _download_went_on(self, event: Reply) -> None:
        if event["state"] != "inProgress":
            self._downloads.pop(event["guid"], None)

    def _dialog_opened(self, _event: Reply) -> None:
        self._dialogs += 1

    def _dialog_closed(self, _event: Reply) -> None:
        self._dialogs = max(0, self._dialogs - 1)

    def _window_opened(self, _event: Reply) -> None:
        self._popups.append(asyncio.get_running_loop().time())
        self._touch()


def _named(request: Reply) -> str:
    return f"{request['method']} {request['url'].partition('?')[0]}"


async def settle(frames: FrameTable, traffic: Traffic, since: int) -> None:
    """Return once the page has settled; the caller sets the deadline.

    `since` is `traffic.activity_count` before the action. Mutations inside frames and shadow roots
    are not watched; their requests are.
    """
    while True:
        await traffic.idle()
        mark = traffic.activity_count
        still = STILL_MS if mark == since else BUSY_MS
        try:
            await frames.evaluate(frames.main, f"arena.quiet({still}, {BUSY_MS})", within_s=600.0)
        except RefusedError:
            # The document went away: the next one has to be quiet.
            if traffic.activity_count == mark:
                await asyncio.sleep(0)
            since = -1
            continue
        if traffic.activity_count == mark:
            traffic.settled = mark
            return
        since = -1
