"""The tabs of a session: which are open, and which is current."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Final, TypeVar

from playwright.async_api import BrowserContext, Page
from playwright.async_api import Error as PlaywrightError

from arena_core.errors import PageSilentError
from orchestrator.browser.tabs.arm_scripts import NO_ARM, ArmScripts
from orchestrator.browser.tabs.cdp_channel import BrowserWatchdog, PageGoneError
from orchestrator.browser.tabs.elements import NotDoneError
from orchestrator.browser.tabs.journal import SessionJournal
from orchestrator.browser.tabs.new_targets import NewTargets, PageCrash
from orchestrator.browser.tabs.tab import OpenTab, TabVisit, answer_dialogs, leave_dialogs, open_tab
from orchestrator.browser.tabs.watcher import EventReport, KeyReport

Found = TypeVar("Found")

_FILE_CHOOSER: Final = "file chooser (not opened: use upload)"


class TabBar:
    """Opens, follows and closes the agent's tabs.

    A popup becomes the current tab; the tab before a closed one does. A page whose renderer crashed
    ends the session: its state cannot be restored. Where another program drives the pages, one that
    crashes by itself or hangs is that program's doing: `broke` is called, and the session goes on
    without it.

    Attributes:
        follows_hand: a person drives the pages: the tab in which they act is current, and closing
            the last one ends the session.
    """

    def __init__(
        self,
        contexts: Mapping[str, BrowserContext],
        journal: SessionJournal,
        watchdog: BrowserWatchdog,
        new_targets: NewTargets | None,
        selectors: tuple[str, ...],
        *,
        arm: ArmScripts = NO_ARM,
    ) -> None:
        self._contexts = contexts
        self._selectors = selectors
        self.arm = arm
        self.broke: Callable[[str], None] = watchdog.lose
        self._new_targets = new_targets
        if new_targets is not None:
            new_targets.crashed = self._crashed
        self._is_shared = new_targets is not None
        self._is_attended = False
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
        self.actions = 0
        self._last_login = ""
        self.follows_hand = False
        self._adoptions: set[asyncio.Task[None]] = set()
        self._shows_choosers = False

    @property
    def tabs(self) -> tuple[OpenTab, ...]:
        """The open tabs in the order of their opening."""
        return tuple(self._tabs)

    @property
    def current(self) -> OpenTab:
        if self._current is None:
            raise PageGoneError("no tab is open")
        return self._current

    async def open(self, login: str | None = None, number: int | None = None) -> OpenTab:
        """Open a blank tab and make it current; its login is by default the current tab's.

        `number` is that of a tab of another session which it takes the place of.
        """
        if login is None:
            login = self._current.login if self._current else self._last_login
        return await self._adopt(await self._new_page(login), login, number=number)

    async def open_fresh(self, login: str = "") -> OpenTab:
        """Open a page that is not a tab of the agent: nothing of it is noted."""
        page = await self._new_page(login)
        self._fresh.add(page)
        answer_dialogs(page, lambda _: None)
        return await open_tab(
            -1,
            page,
            visited=lambda *_: None,
            reported=lambda *_: None,
            failed=self._watchdog.lose,
            new_targets=self._new_targets,
        )

    def number_of(self, page: Page) -> int | None:
        """Return the number of a page's tab, closed or not; None if it never was a tab."""
        return self._numbers.get(page)

    def is_fresh(self, page: Page) -> bool:
        return page in self._fresh

    async def share(self) -> None:
        """Close the pages there are, and follow those that another program opens."""
        for login, context in self._contexts.items():
            for page in context.pages:
                if page not in self._own:
                    await page.close()
            self._follow(context, login, self._adopt_found)

    def follow_links(self) -> None:
        """Follow the pages that links open in tabs of their own, by a held key or middle button."""
        for login, context in self._contexts.items():
            self._follow(context, login, self._adopt_link)

    def _follow(
        self,
        context: BrowserContext,
        login: str,
        adopt: Callable[[str, Page], Coroutine[object, object, None]],
    ) -> None:
        context.on("page", lambda page: self._spawn(adopt(login, page)))

    async def wait_for_adoptions(self) -> None:
        """Return once every page that has opened is a tab, or gone."""
        await asyncio.gather(*self._adoptions, return_exceptions=True)

    def distrust_answers(self) -> None:
        if self._new_targets is not None:
            self._new_targets.forged_answers.may_be = True

    def attend(self, target: str) -> None:
        """Make the tab current in which the other program acts, if it is known."""
        self._is_attended = True
        for tab in self._tabs:
            if tab.frames.main_id == target:
                self._current = tab

    async def ask(
        self, tab: OpenTab, question: Callable[[], Awaitable[Found]], nothing: Found
    ) -> Found:
        """Ask a page; return `nothing` if the program that drives it broke it."""
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
        for tab in self._tabs:
            if tab.number == number:
                self._current = tab
                await tab.page.bring_to_front()
                return
        there = ", ".join(str(tab.number) for tab in self._tabs)
        raise NotDoneError(f"there is no tab {number}; open are: {there}")

    async def close_current(self) -> None:
        if len(self._tabs) == 1:
            raise NotDoneError("the only tab cannot be closed")
        closing = self.current
        await closing.page.close()
        self._drop(closing)
        await self.current.page.bring_to_front()

    async def wait_for_current(self) -> OpenTab:
        """Return the current tab, once there is one: a page may just have closed the only one."""
        while self._current is None:
            self._changed.clear()
            await self._changed.wait()
        return self._current

    async def wait_until_replaced(self, gone: OpenTab) -> None:
        """Return once a page that closed by itself is no longer current."""
        while await self.wait_for_current() is gone:
            self._changed.clear()
            await self._changed.wait()

    async def show_choosers(self) -> None:
        """Let a person at the window choose files, in these tabs and those to come."""
        self._shows_choosers = True
        for tab in self._tabs:
            await tab.choosers.leave_to_browser()

    async def close(self) -> None:
        for task in tuple(self._adoptions):
            task.cancel()
        await asyncio.gather(*self._adoptions, return_exceptions=True)

    @property
    def next_number(self) -> int:
        return self._given

    def number_from(self, number: int) -> None:
        """Give no smaller number than this to the tabs to come."""
        self._given = max(self._given, number)

    async def _adopt(
        self, page: Page, login: str, *, is_behind: bool = False, number: int | None = None
    ) -> OpenTab:
        if number is None:
            number = self._given
        self.number_from(number + 1)
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
            new_targets=self._new_targets,
            selectors=self._selectors,
        )
        await self.arm.install(tab)
        if page.is_closed():
            raise PageGoneError("the page closed as soon as it opened")
        tab.actions_before = self.actions
        tab.choosers.refused = lambda: self._journal.dialog(_FILE_CHOOSER)
        if self._shows_choosers:
            await tab.choosers.leave_to_browser()
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
        """Note a page that crashed where another program drives the pages."""
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

    async def _adopt_link(self, login: str, page: Page) -> None:
        """Adopt a page without an opener as a tab behind the current one."""
        async with self._opening:  # by then a page of Arena's own is known
            if page in self._own:
                return
        with suppress(PageGoneError, PlaywrightError):
            if await page.opener() is None and page not in self._own:
                await self._adopt(page, login, is_behind=True)

    async def _adopt_found(self, login: str, page: Page) -> None:
        """Follow a page that a page or the other program opened."""
        async with self._opening:  # by then a page of Arena's own is known
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
        if self._tabs or self._watchdog.is_lost:
            return
        if self.follows_hand:
            self._watchdog.lose("the person closed the window")
        else:
            self._spawn(self._open_instead())

    async def _open_instead(self) -> None:
        """Give the agent a blank tab when a page closed the only one."""
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

    def _visited(self, tab: OpenTab, visit: TabVisit) -> None:
        if not visit.same_document:
            tab.actions_before = self.actions
        if self.follows_hand and visit.move is not None and tab in self._tabs:
            self._current = tab
        self._journal.visit(tab.number, visit)

    def _reported(self, tab: OpenTab, report: EventReport | KeyReport) -> None:
        is_hand = self.follows_hand or (self._is_shared and not self._is_attended)
        if isinstance(report, KeyReport):
            self._journal.key(report)
            return
        if is_hand and report.claim is None and tab in self._tabs:
            self._current = tab  # a person says in no other way where they are
        self._journal.event(report, tab.url, tab.number)
