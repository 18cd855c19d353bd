"""Who changed an address within a document: the page, a person's input, or an agent's script.

`history.pushState` sets an address without a request to the site. The watcher sees each change as
it happens, and the browser's call stack says which scripts led to it, also through timers and
promises. A page's own script came by a request, or stands in the document as it was served; a
client's script came from no file, whatever it calls itself.
"""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from html import unescape
from typing import Any, Final
from urllib.parse import urldefrag, urlsplit

from arena_core.errors import PageSilentError
from orchestrator.browser.tabs.cdp_channel import CdpChannel, PageGoneError, RefusedError, Reply

MOVED: Final = "arenaMoved"  # the first argument of the watcher's record
ASYNC_DEPTH: Final = 32  # how many timers and promises a call stack reaches back through
_MOST_CALLS: Final = 200  # the browser keeps no more, so what lies below is unknown
_ANSWER_S: Final = 5.0
_FIRST_ERROR: Final = 400
_FETCHED: Final = frozenset({"Document", "Fetch", "XHR"})
_CACHES: Final = ("fromDiskCache", "fromPrefetchCache", "fromServiceWorker")


@dataclass(slots=True)
class ForgedAnswers:
    """Which addresses the client of a browser answered itself, in place of the site.

    Attributes:
        may_be: the client answers requests: what came over no connection is its own.
    """

    may_be: bool = False
    _urls: set[str] = field(default_factory=set)

    def note(self, url: str, response: Mapping[str, Any], *, is_cached: bool) -> None:
        if response.get("connectionId") or is_cached or any(map(response.get, _CACHES)):
            self._urls.discard(_page(url))
        elif self.may_be:
            self._urls.add(_page(url))

    def __contains__(self, url: str) -> bool:
        return _page(url) in self._urls


class AddressChange:
    """A visit within a document.

    Attributes:
        trusted: no script of the agent's made it; False until that is known.
    """

    def __init__(
        self, judging: Awaitable[bool] | None, is_borne_out: Callable[[], bool], *, trusted: bool
    ) -> None:
        self.trusted = trusted
        self._is_borne_out = is_borne_out
        self._judging = None if judging is None else asyncio.ensure_future(judging)

    async def counts(self) -> bool:
        """Whether the page itself caused it, or a request confirms it."""
        if self._judging is not None:
            self.trusted = await asyncio.shield(self._judging)
        return self.trusted or self._is_borne_out()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Report:
    """What the watcher saw of a change while it happened."""

    url: str
    kind: str
    by_user: bool
    is_fragment: bool
    stack: Reply


class AddressChanges:
    """Judges the address changes of one page that a client drives.

    Args:
        channel: the page's wire; `Debugger`, `Network`, `Page` and `Runtime` are enabled on it.
        forged_answers: those that the client gave in place of sites.
        is_arenas: whether a JavaScript context is the watcher's.
    """

    def __init__(
        self, channel: CdpChannel, forged_answers: ForgedAnswers, is_arenas: Callable[[int], bool]
    ) -> None:
        self._channel = channel
        self._made_up = forged_answers
        self._is_arenas = is_arenas
        self._reports: list[_Report] = []
        self._names: dict[str, str] = {}
        self._own: dict[str, bool] = {}
        self._asked_scripts: set[str] = set()
        self._gets: set[str] = set()
        self._cached: set[str] = set()
        self._answered: set[str] = set()
        self._addresses: set[str] = set()
        self._counted: set[str] = set()
        self._document = ""
        self._at = ""
        self._last = AddressChange(None, lambda: False, trusted=True)
        channel.on("Runtime.consoleAPICalled", self._logged)
        channel.on("Runtime.executionContextsCleared", self._cleared)
        channel.on("Debugger.scriptParsed", self._parsed)
        channel.on("Network.requestWillBeSent", self._sent)
        channel.on("Network.requestServedFromCache", self._served_from_cache)
        channel.on("Network.responseReceived", self._received)
        channel.on("Page.frameNavigated", self._committed)

    def opened(self, url: str) -> AddressChange:
        """Return what is known of a document that the page went to."""
        self._at, self._last = (
            url,
            AddressChange(None, lambda: False, trusted=url not in self._made_up),
        )
        if self._last.trusted:
            self._counted.add(url)
        return self._last

    def moved(self, url: str) -> AddressChange:
        """Begin to judge a change, right after it happened."""
        report = next((one for one in self._reports if one.url == url), None)
        self._reports.clear()
        was, before = self._at, self._last
        self._at = url
        self._addresses.add(_page(url))
        answered = self._answered
        self._last = AddressChange(
            self._judged(url, report, was, before),
            lambda: _page(url) != _page(was) and _page(url) in answered,
            trusted=False,
        )
        return self._last

    async def _judged(
        self, url: str, report: _Report | None, was: str, before: AddressChange
    ) -> bool:
        """Whether the page itself caused an address.

        One with the path of the address before it is worth no more than that.
        """
        if _path(url) == _path(was) and not await before.counts():
            return False
        is_own = url == was or (report is not None and await self._is_own_move(report))
        if is_own:
            self._counted.add(url)
        return is_own

    async def _is_own_move(self, report: _Report) -> bool:
        if report.kind == "traverse":
            return report.url in self._counted
        if report.by_user:
            return report.is_fragment
        try:
            scripts = await self._scripts_of(report.stack)
            return bool(scripts) and all([await self._is_own(script) for script in scripts])
        except (RefusedError, PageGoneError, PageSilentError):
            return False  # the page is gone, and its proof with it

    async def _scripts_of(self, stack: Reply) -> frozenset[str]:
        """Return every script of a call stack but the watcher's; none if it is cut off."""
        found: set[str] = set()
        below: Reply | None = {**stack, "callFrames": stack["callFrames"][1:]}
        for _ in range(ASYNC_DEPTH):
            if below is None:
                return frozenset(found)
            if len(below["callFrames"]) >= _MOST_CALLS - 1:
                break
            found |= {str(call["scriptId"]) for call in below["callFrames"]}
            elsewhere = below.get("parentId")
            below = below.get("parent")
            if below is None and elsewhere is not None:
                call = {"stackTraceId": elsewhere}
                below = (await self._ask("Debugger.getStackTrace", call))["stackTrace"]
        return frozenset()

    async def _is_own(self, script: str) -> bool:
        if script not in self._own:
            self._own[script] = await self._came_from_the_site(self._names.get(script, ""), script)
        return self._own[script]

    async def _came_from_the_site(self, name: str, script: str) -> bool:
        """Whether a script is the page's own: one of its files, or a text in its document.

        `name` is where Chromium's own loader says that it came from; no comment in it can.
        """
        if not name.startswith(("http://", "https://")) or name in self._made_up:
            return False
        if _page(name) not in self._addresses:
            return _page(name) in self._asked_scripts
        source = (await self._ask("Debugger.getScriptSource", {"scriptId": script}))["scriptSource"]
        served = await self._ask("Network.getResponseBody", {"requestId": self._document})
        text = served["body"]
        if served["base64Encoded"]:
            text = b64decode(text).decode(errors="replace")
        text = text.replace("\r\n", "\n")
        return source in text or source in unescape(text)

    async def _ask(self, method: str, params: Mapping[str, object]) -> Reply:
        return await self._channel.send(method, params, within_s=_ANSWER_S)

    def _logged(self, event: Reply) -> None:
        if not self._is_arenas(event["executionContextId"]) or len(event["args"]) < 2:  # noqa: PLR2004
            return
        mark, said = event["args"][:2]
        if mark.get("value") == MOVED:
            report = _Report(stack=event["stackTrace"], **json.loads(said["value"]))
            self._reports.append(report)

    def _parsed(self, event: Reply) -> None:
        self._names[event["scriptId"]] = event.get("embedderName", "")

    def _cleared(self, _event: Reply) -> None:
        self._names.clear()
        self._own.clear()

    def _sent(self, event: Reply) -> None:
        url = event["request"]["url"]
        if event.get("type") == "Script":
            self._asked_scripts.add(_page(url))
        if event["request"]["method"] == "GET":
            self._gets.add(event["requestId"])

    def _served_from_cache(self, event: Reply) -> None:
        self._cached.add(event["requestId"])

    def _received(self, event: Reply) -> None:
        response, name = event["response"], event["requestId"]
        url = response["url"]
        self._made_up.note(url, response, is_cached=name in self._cached)
        is_answered = response["status"] < _FIRST_ERROR and url not in self._made_up
        if is_answered and name in self._gets and event.get("type") in _FETCHED:
            self._answered.add(_page(url))

    def _committed(self, event: Reply) -> None:
        frame = event["frame"]
        if "parentId" not in frame:
            self._document = frame["loaderId"]
            self._addresses = {_page(frame["url"])}
            self._answered = set()
            self._gets.clear()
            self._cached.clear()
            self._reports.clear()


def _page(url: str) -> str:
    return urldefrag(url).url


def _path(url: str) -> str:
    return urlsplit(url)._replace(query="", fragment="").geturl()
