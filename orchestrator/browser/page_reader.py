"""Reads pages for whoever checks them: the agent's own as it is, others opened beside it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Final

from playwright.async_api import Error as PlaywrightError

from arena_core.errors import BrowserError
from evaluators.page_look import PageLook, PageSeen
from orchestrator.browser import locate
from orchestrator.browser.cdp_channel import BrowserWatchdog
from orchestrator.browser.navigate import goto
from orchestrator.browser.page_look import look, prepare
from orchestrator.browser.pointer import NotDoneError
from orchestrator.browser.settle import settle
from orchestrator.browser.tabbar import TabBar
from orchestrator.browser.tabs import OpenTab

_LOOK_S: Final = 90.0
_FRESH_SETTLE_S: Final = 10.0


class PageReader:
    """Reads pages of one session; every call has a deadline."""

    def __init__(self, bar: TabBar, watchdog: BrowserWatchdog) -> None:
        self._bar = bar
        self._watchdog = watchdog

    async def look_own(self, what: PageLook) -> PageSeen:
        """Read the agent's own page as it is now; nothing where an outside program broke it.

        Raises:
            TaskError: the selector is not CSS, a script does not end, or finds too much.
        """
        tab = self._bar.current
        async with self._watchdog.bounded("read the agent's page", _LOOK_S):
            nothing = PageSeen(values=())
            return await self._bar.ask(tab, partial(self._looked, tab, what), nothing)

    async def _looked(self, tab: OpenTab, what: PageLook) -> PageSeen:
        if what.prep:
            await prepare(tab, what.prep)
            await self._rested(tab)
        return await look(tab, what)

    async def look_fresh(
        self, url: str, what: PageLook, *, login: str = "", may_be_gone: bool = False
    ) -> PageSeen | None:
        """Read a page opened for that, with the episode's logins.

        The agent's tabs do not notice, and nothing of it counts as a visit.

        Args:
            url: of the page.
            what: is read there.
            login: in the context of which it is opened, see `SessionOptions.apart`.
            may_be_gone: the agent chose the URL, so that it may lead nowhere.

        Returns:
            None where it leads nowhere and may.

        Raises:
            TaskError: as `look_own`.
            BrowserError: also where the page cannot be reached and must.
        """
        async with self._watchdog.bounded(f"read {url} in a fresh tab", _LOOK_S):
            try:
                async with self._fresh(url, login) as (tab, _):
                    await self._rested(tab)
                    if what.prep:
                        await prepare(tab, what.prep)
                        await self._rested(tab)
                    return await look(tab, what)
            except NotDoneError as error:
                if may_be_gone:
                    return None
                raise _unopened(error) from error

    async def read_own(self, selector: str, attribute: str | None = None) -> tuple[str, ...]:
        """Read what a CSS selector yields on the agent's own page, as `look_own`."""
        return (await self.look_own(PageLook(selector=selector, attribute=attribute))).values

    async def read_fresh(
        self, url: str, selector: str, attribute: str | None = None, *, login: str = ""
    ) -> tuple[str, ...]:
        """Read what a CSS selector yields on a page opened for that, as `look_fresh`."""
        what = PageLook(selector=selector, attribute=attribute)
        seen = await self.look_fresh(url, what, login=login)
        return () if seen is None else seen.values

    async def fetch_text(self, url: str) -> locate.Fetched:
        """GET a URL with the context's cookies, by the browser and through the gateway.

        Raises:
            BrowserError: also where it cannot be reached.
        """
        async with self._watchdog.bounded(f"fetch {url}", _LOOK_S):
            try:
                async with self._fresh(url) as (_, response):
                    return await response.body()
            except NotDoneError as error:
                raise _unopened(error) from error

    @asynccontextmanager
    async def _fresh(
        self, url: str, login: str = ""
    ) -> AsyncIterator[tuple[OpenTab, locate.ResponseWatch]]:
        """Open a page beside the agent's; NotDoneError where it cannot be reached."""
        tab = await self._bar.open_fresh(login)
        try:
            response = locate.ResponseWatch(tab)
            await goto(tab, url)
            yield tab, response
        finally:
            with suppress(PlaywrightError):
                await tab.page.close()

    async def _rested(self, tab: OpenTab) -> None:
        """Return once a tab has settled; one that never rests is read as it is."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_FRESH_SETTLE_S):
                await settle(tab.frames, tab.traffic, -1)


def _unopened(error: NotDoneError) -> BrowserError:
    return BrowserError(f"a page to read cannot be opened: {error}")
