"""Reads pages for checks: the agent's own page as it is, others in tabs beside it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

from playwright.async_api import Error as PlaywrightError

from arena_core.errors import BrowserError
from evaluators.episode_view import PageLook, PageSeen
from orchestrator.browser.actions.navigation import goto
from orchestrator.browser.page.page_query import look, prepare
from orchestrator.browser.tabs.cdp_channel import (
    BrowserWatchdog,
    PageGoneError,
    RefusedError,
    Reply,
)
from orchestrator.browser.tabs.elements import NotDoneError
from orchestrator.browser.tabs.settle import settle
from orchestrator.browser.tabs.tab import OpenTab
from orchestrator.browser.tabs.tabbar import TabBar


class Fetched(NamedTuple):
    """An answer to a GET, redirects followed."""

    status: int
    body: str


class ResponseWatch:
    """Remembers the response that a tab's document came from."""

    def __init__(self, tab: OpenTab) -> None:
        self._tab = tab
        self._response: Reply | None = None
        self._complete: set[str] = set()
        self._arrived = asyncio.Event()
        tab.channel.on("Network.responseReceived", self._received)
        tab.channel.on("Network.loadingFinished", self._finished)
        tab.channel.on("Network.loadingFailed", self._finished)

    async def body(self) -> Fetched:
        """Return status and body of the tab's document; the caller sets the deadline."""
        if self._response is None:
            raise RefusedError("no response came")
        while self._response["requestId"] not in self._complete:
            self._arrived.clear()
            await self._arrived.wait()
        reply = await self._tab.channel.send(
            "Network.getResponseBody", {"requestId": self._response["requestId"]}
        )
        return Fetched(int(self._response["response"]["status"]), str(reply["body"]))

    def _received(self, event: Reply) -> None:
        if event["type"] == "Document" and event["frameId"] == self._tab.frames.main_id:
            self._response = event

    def _finished(self, event: Reply) -> None:
        self._complete.add(event["requestId"])
        self._arrived.set()


_LOOK_S: Final = 90.0
_FRESH_SETTLE_S: Final = 10.0


class PageReader:
    """Reads pages of one session; every call has a deadline.

    `window` is the size of pages that are opened for it; None for the size of the agent's.
    """

    def __init__(
        self, bar: TabBar, watchdog: BrowserWatchdog, window: tuple[int, int] | None = None
    ) -> None:
        self._bar = bar
        self._watchdog = watchdog
        self._window = window

    async def look_own(self, what: PageLook) -> PageSeen:
        """Read the agent's own page as it is now; nothing if an external program broke it.

        What an arm does to the page is taken back meanwhile.
        """
        tab = self._bar.current
        async with self._watchdog.bounded("read the agent's page", _LOOK_S):
            nothing = PageSeen(values=())
            return await self._bar.ask(tab, partial(self._looked, tab, what), nothing)

    async def _looked(self, tab: OpenTab, what: PageLook) -> PageSeen:
        await self._bar.arm.rest(tab)
        try:
            if what.prep:
                await prepare(tab, what.prep)
                await self._rested(tab)
            return await look(tab, what)
        finally:
            await self._bar.arm.resume(tab)

    async def look_fresh(
        self, url: str, what: PageLook, *, login: str = "", may_be_gone: bool = False
    ) -> PageSeen | None:
        """Read a page in a fresh tab, in the context of a login.

        The agent's tabs do not notice, and nothing of it counts as a visit. Return None only if
        `may_be_gone` and the URL leads nowhere, as one that the agent chose may.
        """
        async with self._watchdog.bounded(f"read {url} in a fresh tab", _LOOK_S):
            try:
                async with self._fresh(url, login) as (tab, _):
                    await self._rested(tab)
                    if what.prep:
                        await prepare(tab, what.prep)
                        await self._rested(tab)
                    return replace(await look(tab, what), status=tab.traffic.status)
            except NotDoneError as error:
                if may_be_gone:
                    return None
                raise _unopened(error) from error

    async def read_own(self, selector: str, attribute: str | None = None) -> tuple[str, ...]:
        """Read what a CSS selector yields on the agent's own page, as `look_own`."""
        return (await self.look_own(PageLook(selector=selector, attribute=attribute))).values

    async def read_fresh(self, url: str, selector: str, *, login: str = "") -> tuple[str, ...]:
        """Read what a CSS selector yields in a fresh tab, as `look_fresh`."""
        seen = await self.look_fresh(url, PageLook(selector=selector), login=login)
        return () if seen is None else seen.values

    async def fetch_text(self, url: str) -> Fetched:
        """GET a URL with the context's cookies, by the browser and through the gateway."""
        async with self._watchdog.bounded(f"fetch {url}", _LOOK_S):
            try:
                async with self._fresh(url) as (_, response):
                    return await response.body()
            except NotDoneError as error:
                raise _unopened(error) from error

    @asynccontextmanager
    async def _fresh(
        self, url: str, login: str = ""
    ) -> AsyncIterator[tuple[OpenTab, ResponseWatch]]:
        """Open a page beside the agent's; NotDoneError if it cannot be reached."""
        tab = await self._bar.open_fresh(login)
        try:
            if self._window is not None:
                width, height = self._window
                await tab.page.set_viewport_size({"width": width, "height": height})
            response = ResponseWatch(tab)
            await goto(tab, url)
            yield tab, response
        finally:
            with suppress(PlaywrightError):
                await tab.page.close()

    async def _rested(self, tab: OpenTab) -> None:
        """Return once a tab has settled; one that never does is read as it is."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_FRESH_SETTLE_S):
                await settle(tab.frames, tab.traffic, -1)


def _unopened(error: NotDoneError) -> BrowserError:
    return BrowserError(f"a page to read cannot be opened: {error}")


_CALL_S = 30.0


class DocumentHandle:
    """One document of a tab, whatever becomes of the tab, and the way into its own world.

    Agents have no way here: only the orchestrator calls functions in a page's own world, where its
    variables are.
    """

    def __init__(self, tab: OpenTab, bar: TabBar, handle: str, watchdog: BrowserWatchdog) -> None:
        self._tab = tab
        self._bar = bar
        self._handle = handle
        self._watchdog = watchdog

    async def call(self, function: str, *arguments: object) -> Reply | None:
        """Call a JavaScript function among the page's own variables; a promise is awaited.

        Arguments and result go by JSON. Return None if the document is gone (left, reloaded,
        closed) or broken by an external program.
        """
        async with self._watchdog.bounded("ask the page", _CALL_S):
            return await self._bar.ask(
                self._tab, partial(self._called, function, arguments), nothing=None
            )

    async def _called(self, function: str, arguments: tuple[object, ...]) -> Reply | None:
        try:
            reply = await self._tab.frames.call(self._handle, function, *arguments)
        except PageGoneError:
            return None
        except RefusedError:
            if await self._is_gone():
                return None
            raise
        value: Reply = reply["value"]
        return value

    async def _is_gone(self) -> bool:
        try:
            await self._tab.frames.call(self._handle, "function () { return true; }")
        except (PageGoneError, RefusedError):
            return True
        return False
