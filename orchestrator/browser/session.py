"""One episode's browser session: what the agent sees and does, and what is noted of it."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from arena_core.actions import Action
from arena_core.cookie import Cookie
from arena_core.errors import BrowserError
from evaluators.network import Recording
from orchestrator.browser.act import ActionExecutor, perform
from orchestrator.browser.cdp_channel import BrowserWatchdog, PageGoneError, RefusedError
from orchestrator.browser.context import (
    DEFAULT_VIEWPORT,
    cookie_of,
    id_of,
)
from orchestrator.browser.elements import ElementIds
from orchestrator.browser.held_targets import HeldTargets
from orchestrator.browser.journal import Activity, SessionJournal
from orchestrator.browser.navigate import goto
from orchestrator.browser.network import NetworkRecord, NetworkRecorder
from orchestrator.browser.observed_page import TabPage, title_of
from orchestrator.browser.page_reader import PageReader
from orchestrator.browser.pinned import PinnedDocument, pin
from orchestrator.browser.pointer import NotDoneError
from orchestrator.browser.settle import settle
from orchestrator.browser.tabbar import TabBar
from orchestrator.browser.tabs import OpenTab
from orchestrator.browser.tracing import Tracer
from orchestrator.browser.uploads import UploadFiles
from orchestrator.observation import AXTREE, Observation, Tab
from orchestrator.observation_forms import ObservationForm
from orchestrator.observations.axtree import AXTREE_FORM

_OPEN_S = 90.0
_ACT_S = 75.0
_READ_S = 30.0
_CLOSE_S = 10.0
_SCREENSHOT_QUALITY = 70


class Session(PageReader):
    """A context with its tabs, and those of further logins; every call has a deadline.

    Each method raises BrowserError when the browser or a page crashed, or does not answer.
    """

    def __init__(
        self,
        contexts: Mapping[str, BrowserContext],
        watchdog: BrowserWatchdog,
        journal: SessionJournal,
        files: UploadFiles,
        *,
        viewport: tuple[int, int] = DEFAULT_VIEWPORT,
        shows_unnamed: bool = False,
        held: HeldTargets | None = None,
        records: frozenset[Recording] = frozenset(),
        traces: bool = False,
        selectors: tuple[str, ...] = (),
    ) -> None:
        self._contexts = contexts
        self._viewport = viewport
        self._is_shared = held is not None
        self._shows_unnamed = shows_unnamed
        self._files = files
        self._watchdog = watchdog
        self._journal = journal
        self._ids = ElementIds()
        self._bar = TabBar(contexts, journal, watchdog, held=held, selectors=selectors)
        super().__init__(self._bar, watchdog)
        self._network: NetworkRecorder | None = None
        if records:
            self._network = NetworkRecorder(
                records, journal.logical, self._bar.number_of, self._bar.is_fresh
            )
            for context in contexts.values():
                self._network.follow(context)
        self._tracer = Tracer(contexts) if traces else None
        self._actions = 0
        self._hands = ActionExecutor(self._bar, self._ids, journal, files)
        self._acted_in: tuple[OpenTab, int] | None = None

    async def open(self, urls: Sequence[str], logins: Sequence[str] = ()) -> None:
        """Open the start pages, a tab each, and make the first current.

        Args:
            urls: of the pages.
            logins: in which context each is opened, see `SessionOptions.apart`; where given, one a
                page. The first is opened in the session's own.

        Raises:
            BrowserError: also where a start page cannot be reached.
        """
        async with self._watchdog.bounded("open the start pages", _OPEN_S):
            await self._trace("start pages")
            for at, url in enumerate(urls):
                login = logins[at] if logins else ""
                tab = self._bar.current if at == 0 else await self._bar.open(login)
                try:
                    await goto(tab, url)
                except NotDoneError as error:
                    message = f"a start page cannot be opened: {error}"
                    raise BrowserError(message) from error
            if len(urls) > 1:
                await self._bar.focus(self._bar.tabs[0].number)

    async def observe(
        self,
        step: int,
        last_error: str | None = None,
        forms: Mapping[str, ObservationForm] | None = None,
    ) -> Observation:
        """Read the current tab as an agent sees it; the page is not touched.

        Args:
            step: how many actions were done before.
            last_error: why the last action could not be done.
            forms: what is looked at, by name; the accessibility tree where omitted. Dialogs
                answered since the last drain stand at the head of its text.
        """
        wanted = {AXTREE: AXTREE_FORM} if forms is None else forms
        async with self._watchdog.bounded("observe the page", _READ_S):
            current = await self._bar.standing()
            page = TabPage(
                current,
                self._ids,
                self._journal.dialogs,
                viewport=self._viewport,
                shows_unnamed=self._shows_unnamed,
            )
            parts = await page.parts(wanted)
            tabs = [
                Tab(
                    index=tab.number,
                    title=await (page.title() if tab is current else title_of(tab)),
                    url=tab.url,
                    is_current=tab is current,
                    login=tab.login,
                )
                for tab in self._bar.tabs
            ]
        return Observation(
            step=step,
            url=current.url,
            title=await page.title(),
            tabs=tuple(tabs),
            parts=parts,
            last_error=last_error,
        )

    async def act(self, action: Action) -> str | None:
        """Do one action; returns when the page has taken it, before it settles.

        Returns:
            Why the action could not be done, in words for the agent; None where it was done.
        """
        async with self._watchdog.bounded(f"{action.kind}", _ACT_S):
            tab = await self._bar.standing()
            self._acted_in = (tab, tab.traffic.activity_count)
            self._actions += 1
            await self._trace(f"step {self._actions}: {action.kind}")
            try:
                return await perform(self._hands, action)
            except RefusedError:
                return "the page changed before the action was done: look again"
            except (PageGoneError, PlaywrightError):
                if not tab.page.is_closed():
                    raise
                await self._contexts[tab.login].cookies()  # fails where not only the page is gone
                return None

    async def settle(self, deadline_s: float) -> bool:
        """Wait until the current tab has settled; False where the deadline came first.

        A popup that the last action opened becomes current and is waited for as well.

        Raises:
            BrowserError: also where the machine's own network changed under a request of the page.
        """
        async with self._watchdog.bounded("settle", deadline_s + _READ_S):
            has_settled = True
            try:
                async with asyncio.timeout(deadline_s):
                    await self._settle_current()
            except TimeoutError:
                has_settled = False
            await self._refuse_disturbed()
            return has_settled and not self._bar.current.is_broken

    async def _refuse_disturbed(self) -> None:
        tab = await self._bar.standing()
        if tab.traffic.disturbed:
            tab.traffic.disturbed = False
            message = f"the network of this machine changed while {tab.url} was loading"
            raise BrowserError(message)

    async def _settle_current(self) -> None:
        settled: OpenTab | None = None
        while settled is not await self._bar.standing():
            tab = await self._bar.standing()
            if tab.is_broken:
                return
            since = -1
            if self._acted_in is not None and self._acted_in[0] is tab:
                since = self._acted_in[1]
            try:
                await settle(tab.frames, tab.traffic, since)
            except PageGoneError:
                if not tab.is_broken:
                    await self._bar.replaced(tab)
                continue
            settled = tab
            await self._bar.adopted()

    def attend(self, target: str) -> None:
        """Make the tab current in which an outside program acts, by its target's id."""
        self._bar.attend(target)

    def listen_to(
        self,
        noticed: Callable[[], None],
        is_scripting: Callable[[], bool],
        broke: Callable[[str], None],
    ) -> None:
        """Say what an outside program does: `noticed` is called with each trace of it.

        Args:
            noticed: called when something is noted that it may have done.
            is_scripting: whether an event that a script makes now is taken for its doing.
            broke: called with what became of a page that crashed by itself or hangs. Whatever such
                a page is asked from then on is answered with nothing.
        """
        self._journal.noticed = noticed
        self._journal.is_scripting = is_scripting
        self._bar.broke = broke

    async def bear_out(self) -> bool:
        """Ask the pages which events of scripts they bear out, and note it with these.

        Returns:
            Whether they bear out all there are: an event may take a moment to change its page.
        """
        if not self._journal.has_claims:
            return True
        async with self._watchdog.bounded("ask what became of a script's events", _READ_S):
            found: dict[str, bool] = {}
            nothing: dict[str, bool] = {}
            for tab in self._bar.tabs:
                found |= await self._bar.ask(tab, tab.borne_out, nothing)
            return self._journal.bear_out(found)

    async def pin(self) -> PinnedDocument:
        """Keep hold of the document in the current tab: what the page itself is asked later."""
        async with self._watchdog.bounded("find the page's document", _READ_S):
            return await pin(await self._bar.standing(), self._bar, self._watchdog)

    def drain(self) -> Activity:
        """Return what happened since the last drain, and forget it: a step is over."""
        if self._network is not None:
            self._network.next_step()
        return self._journal.drain()

    async def network(self) -> NetworkRecord | None:
        """Return what the session's pages asked for so far; None where it was not recorded."""
        if self._network is None:
            return None
        async with self._watchdog.bounded("read what was recorded of the network", _READ_S):
            return await self._network.record()

    async def traces(self) -> Mapping[str, bytes]:
        """End Playwright's traces and return them by file name; none the second time.

        Where the browser is gone there is none, or none of that context.
        """
        return {} if self._tracer is None else await self._tracer.stop()

    async def _trace(self, what: str) -> None:
        if self._tracer is not None:
            await self._tracer.begin(what)

    async def screenshot(self) -> bytes | None:
        """Return the current tab's viewport as WebP; None where an outside program broke it."""
        options = {"format": "webp", "quality": _SCREENSHOT_QUALITY, "optimizeForSpeed": True}
        async with self._watchdog.bounded("take a screenshot", _READ_S):
            tab = self._bar.current
            # Playwright's own call prepares the page first, and takes twice as long.
            take = partial(tab.channel.send, "Page.captureScreenshot", options)
            image = await self._bar.ask(tab, take, None)
            return base64.b64decode(image["data"]) if image else None

    def answers(self) -> tuple[tuple[str, int | None], ...]:
        """Return each open tab's URL and the HTTP status that its document came with."""
        return tuple((tab.url, tab.traffic.status) for tab in self._bar.tabs)

    def asked_of(self, host: str) -> frozenset[str]:
        """Return the paths, with queries, that open pages asked a host for.

        The browser's own errands are none of them.
        """
        asked = (tab.traffic.asked.get(host, ()) for tab in self._bar.tabs)
        return frozenset(path for paths in asked for path in paths)

    @property
    def login(self) -> str:
        """The current tab's login, see `SessionOptions.apart`."""
        return self._bar.current.login

    async def cookies(self, login: str = "") -> tuple[Cookie, ...]:
        """Return a context's cookies as they are now, of all sites."""
        async with self._watchdog.bounded("read the cookies", _READ_S):
            return tuple(cookie_of(found) for found in await self._contexts[login].cookies())

    @property
    def url(self) -> str:
        """The current tab's URL."""
        return self._bar.current.url

    @property
    def status(self) -> int | None:
        """The HTTP status of the current tab's document; None where it is not known."""
        return self._bar.current.status

    async def title(self) -> str:
        """Return the current tab's title."""
        async with self._watchdog.bounded("read the title", _READ_S):
            tab = self._bar.current
            return await self._bar.ask(tab, tab.title, "")

    async def start(self) -> frozenset[str]:
        """Open the first tab; return the browser's ids of the contexts."""
        tab = await self._bar.open()
        if self._is_shared:
            await self._bar.share()
        info = await tab.channel.send("Target.getTargetInfo")
        apart = [await id_of(context) for login, context in self._contexts.items() if login]
        if not self._is_shared:
            self._bar.follow_links()
        if self._tracer is not None:
            await self._tracer.start()
        return frozenset([str(info["targetInfo"]["browserContextId"]), *apart])

    def owns(self, frame: str) -> bool:
        """Whether a frame is one of its pages'."""
        return any(tab.frames.get(frame) for tab in self._bar.tabs)

    async def close(self) -> None:
        """Close its pages and contexts."""
        await self._bar.close()
        if self._network is not None:
            await self._network.close()
        self._files.close()
        with suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                for context in self._contexts.values():
                    await context.close()
