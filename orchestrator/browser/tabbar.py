"""The tabs of a session: which are open, which is current, and the pages no tab stands for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from functools import partial
from typing import Final, TypeVar

from playwright.async_api import BrowserContext, Page
from playwright.async_api import Error as PlaywrightError

from arena_core.errors import PageSilentError
from orchestrator.browser.cdp_channel import BrowserWatchdog, PageGoneError
from orchestrator.browser.held_targets import HeldTargets, PageCrash
from orchestrator.browser.journal import SessionJournal
from orchestrator.browser.pointer import NotDoneError
from orchestrator.browser.tabs import OpenTab, answer_dialogs, leave_dialogs, open_tab
from orchestrator.browser.watcher import EventReport

Found = TypeVar("Found")

_FILE_CHOOSER: Final = "file chooser (not opened: use upload)"


class TabBar:
    """Opens, follows and closes the agent's tabs.

    A popup becomes the current tab; the tab before a closed one does. A page whose renderer crashed
    ends the session: what it held cannot be brought back. Where another program drives the pages,
    one that crashes by itself or hangs is that program's doing: the session goes on without it.

    Attributes:
        broke: called with what happened to such a page.
    """

    def __init__(
        self,
        contexts: Mapping[str, BrowserContext],
        journal: SessionJournal,
        watchdog: BrowserWatchdog,
        *,
        held: HeldTargets | None = None,
        selectors: tuple[str, ...] = (),
    ) -> None:
        self._contexts = contexts
        self._selectors = selectors
        self.broke: Callable[[str], None] = watchdog.lose
        self._held = held
        if held is not None:
            held.crashed = self._crashed
        self._is_shared = held is not None
        self._own: set[Page] = set()
        self._fresh: set[Page] = set()
        self._numbers: dict[Page, int] = {}
        self._opening = asyncio.Lock()
        self._journal = journal
        self._watchdog = watchdog
        self._tabs: list[OpenTab] = []
        self._current: OpenTab | None = None
        self._changed = asyncio.Event()
        self._given = 0
        self._last_login = ""
        self._adoptions: set[asyncio.Task[None]] = set()

    @property
    def tabs(self) -> tuple[OpenTab, ...]:
        """The open tabs in the order of their opening."""
        return tuple(self._tabs)

    @property
    def current(self) -> OpenTab:
        """The tab that actions go to."""
        if self._current is None:
            message = "no tab is open"
            raise PageGoneError(message)
        return self._current

    async def open(self, login: str | None = None) -> OpenTab:
        """Open a blank tab and make it current; its login is the current tab's if none is named."""
        if login is None:
            login = self._current.login if self._current else self._last_login
        return await self._adopt(await self._new_page(login), login)

    async def open_fresh(self, login: str = "") -> OpenTab:
        """Open a page that is no tab of the agent: nothing of it is noted."""
        page = await self._new_page(login)
        self._fresh.add(page)
        answer_dialogs(page, lambda _: None)
        return await open_tab(
            -1,
            page,
            visited=lambda *_: None,
            reported=lambda *_: None,
            failed=self._watchdog.lose,
            held=self._held,
        )

    def number_of(self, page: Page) -> int | None:
        """Return the number of a page's tab, closed or not; None for one that never was a tab."""
        return self._numbers.get(page)

    def is_fresh(self, page: Page) -> bool:
        """Whether a page was opened by `open_fresh`."""
        return page in self._fresh

    async def share(self) -> None:
        """Follow the pages that another program opens in the contexts, and close those before."""
        for login, context in self._contexts.items():
            for page in context.pages:
                if page not in self._own:
                    await page.close()
            context.on("page", partial(self._page_found, login))

    def follow_links(self) -> None:
        """Follow the pages that links open in tabs of their own, by a held key or middle button."""
        for login, context in self._contexts.items():
            context.on("page", partial(self._link_opened, login))

    async def adopted(self) -> None:
        """Return once every page that has opened is a tab, or gone."""
        await asyncio.gather(*self._adoptions, return_exceptions=True)

    def attend(self, target: str) -> None:
        """Take it that the other program acts in a page now; one that is not known yet is not."""
        for tab in self._tabs:
            if tab.frames.main_id == target:
                self._current = tab

    async def ask(
        self, tab: OpenTab, question: Callable[[], Awaitable[Found]], nothing: Found
    ) -> Found:
        """Ask a page; `nothing` where the program that drives it broke it.

        Raises:
            PageSilentError: it does not answer, and nobody but Arena drives it, or the browser is
                gone.
            PageGoneError: it closed.
        """
        if tab.is_broken:
            return nothing
        try:
            return await question()
        except PageSilentError as error:
            if self._is_shared:
                await self._watchdog.prove()
            if not self._is_shared or self._watchdog.is_lost:
                raise
            self._break(tab, f"the page of tab {tab.number} hangs: {error.message}")
        except PageGoneError:
            if not tab.is_broken:
                raise
        return nothing

    async def focus(self, number: int) -> None:
        """Make a tab current.

        Raises:
            NotDoneError: there is none with that index.
        """
        for tab in self._tabs:
            if tab.number == number:
                self._current = tab
                await tab.page.bring_to_front()
                return
        there = ", ".join(str(tab.number) for tab in self._tabs)
        message = f"there is no tab {number}; open are: {there}"
        raise NotDoneError(message)

    async def close_current(self) -> None:
        """Close the current tab.

        Raises:
            NotDoneError: it is the only one.
        """
        if len(self._tabs) == 1:
            message = "the only tab cannot be closed"
            raise NotDoneError(message)
        closing = self.current
        await closing.page.close()
        self._drop(closing)
        await self.current.page.bring_to_front()

    async def standing(self) -> OpenTab:
        """Return the current tab, once there is one: a page may just have closed the only one."""
        while self._current is None:
            self._changed.clear()
            await self._changed.wait()
        return self._current

    async def replaced(self, gone: OpenTab) -> None:
        """Return once a page that closed by itself is no longer current."""
        while await self.standing() is gone:
            self._changed.clear()
            await self._changed.wait()

    async def close(self) -> None:
        """End what is under way."""
        for task in tuple(self._adoptions):
            task.cancel()
        await asyncio.gather(*self._adoptions, return_exceptions=True)

    async def _adopt(self, page: Page, login: str, *, is_behind: bool = False) -> OpenTab:
        number, self._given = self._given, self._given + 1
        self._numbers[page] = number
        if not self._is_shared:
            answer_dialogs(page, self._journal.dialog)
        else:
            leave_dialogs(page, self._journal.dialog)
        tab = await open_tab(
            number,
            page,
            visited=self._visited,
            reported=self._reported,
            failed=self._watchdog.lose,
            login=login,
            held=self._held,
            selectors=self._selectors,
        )
        if page.is_closed():
            message = "the page closed as soon as it opened"
            raise PageGoneError(message)
        tab.choosers.refused = lambda: self._journal.dialog(_FILE_CHOOSER)
        if not self._is_shared:
            page.on("popup", lambda popup: self._popup_opened(tab, popup))
            page.on("crash", lambda _: self._watchdog.lose(f"the page of tab {number} crashed"))
        page.on("close", lambda _: self._page_closed(tab))
        self._tabs.append(tab)
        if not is_behind or self._current is None:
            self._current = tab
        self._changed.set()
        return tab

    async def _new_page(self, login: str) -> Page:
        async with self._opening:
            page = await self._contexts[login].new_page()
            self._own.add(page)
            return page

    def _crashed(self, crash: PageCrash) -> None:
        """Take note of a page that crashed where another program drives the pages."""
        for tab in self._tabs:
            if tab.frames.main_id == crash.target and not tab.is_broken:
                if crash.is_by_itself:
                    self._break(tab, f"the page of tab {tab.number} crashed ({crash})")
                else:
                    self._watchdog.lose(f"the page of tab {tab.number} was ended ({crash})")

    def _break(self, tab: OpenTab, why: str) -> None:
        tab.is_broken = True
        self.broke(why)

    def _popup_opened(self, opener: OpenTab, page: Page) -> None:
        self._own.add(page)
        self._spawn(self._adopt_popup(opener, page))

    def _link_opened(self, login: str, page: Page) -> None:
        self._spawn(self._adopt_link(login, page))

    async def _adopt_link(self, login: str, page: Page) -> None:
        """Adopt a page that has no opener as a tab behind the current one."""
        async with self._opening:  # one of Arena's own is known as such from then on
            if page in self._own:
                return
        with suppress(PageGoneError, PlaywrightError):
            if await page.opener() is None and page not in self._own:
                await self._adopt(page, login, is_behind=True)

    def _page_found(self, login: str, page: Page) -> None:
        self._spawn(self._adopt_found(login, page))

    async def _adopt_found(self, login: str, page: Page) -> None:
        """Follow a page that a page or the other program opened."""
        async with self._opening:  # one of Arena's own is known as such from then on
            if page in self._own:
                return
        opener = await page.opener()
        tab = next((tab for tab in self._tabs if tab.page == opener), None)
        if tab is not None:
            await self._adopt_popup(tab, page)
            return
        with suppress(PageGoneError, PlaywrightError):
            await self._adopt(page, login)

    async def _adopt_popup(self, opener: OpenTab, page: Page) -> None:
        try:
            await self._adopt(page, opener.login)
        except (PageGoneError, PlaywrightError):
            return  # it closed again by itself
        finally:
            opener.traffic.popup_adopted()

    def _spawn(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._adoptions.add(task)
        task.add_done_callback(self._adoptions.discard)

    def _page_closed(self, tab: OpenTab) -> None:
        self._drop(tab)
        tab.traffic.popup_adopted()
        if not self._tabs and not self._watchdog.is_lost:
            self._spawn(self._open_instead())

    async def _open_instead(self) -> None:
        """Give the agent a blank tab where a page closed the only one."""
        try:
            await self.open()
        except (PageGoneError, PlaywrightError):
            return  # the session itself is closing

    def _drop(self, tab: OpenTab) -> None:
        if tab not in self._tabs:
            return
        self._last_login = tab.login
        at = self._tabs.index(tab)
        self._tabs.remove(tab)
        if self._current is tab:
            self._current = self._tabs[max(0, at - 1)] if self._tabs else None
            self._changed.set()

    def _visited(
        self,
        tab: OpenTab,
        url: str,
        same_document: bool,  # noqa: FBT001
        status: int | None,
    ) -> None:
        self._journal.visit(tab.number, url, same_document=same_document, status=status)

    def _reported(self, tab: OpenTab, report: EventReport) -> None:
        self._journal.event(report, tab.url)
