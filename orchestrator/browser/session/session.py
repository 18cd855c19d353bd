"""One episode's browser session: what the agent sees and does, and what is noted of it."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial

from playwright.async_api import Browser as PlaywrightBrowser
from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from arena_core.actions import Action
from arena_core.cookie import Cookie
from arena_core.errors import BrowserError, StateError
from orchestrator.browser.actions.executor import ActionExecutor
from orchestrator.browser.actions.fields import UploadFiles
from orchestrator.browser.actions.navigation import goto
from orchestrator.browser.observation import AXTREE, Observation, Tab
from orchestrator.browser.observations.axtree import AXTREE_FORM
from orchestrator.browser.observations.forms import ObservationForm
from orchestrator.browser.page.tab_view import TabView, title_of
from orchestrator.browser.session.context import (
    SessionOptions,
    Tracer,
    context_id,
    cookie_of,
    open_contexts,
)
from orchestrator.browser.session.film import film
from orchestrator.browser.session.live_traffic import LiveTraffic
from orchestrator.browser.session.network import NetworkRecord, NetworkRecorder
from orchestrator.browser.session.page_ids import PageIds, PageReading, lines_of
from orchestrator.browser.session.page_reader import DocumentHandle, PageReader
from orchestrator.browser.session.page_restore import restore
from orchestrator.browser.session.page_state import BrowserState, capture
from orchestrator.browser.session.policy import (
    REFUSAL,
    DirectTraffic,
    GuardedSession,
    LiveGuard,
    origin_of,
)
from orchestrator.browser.session.script_answers import AnsweredScripts
from orchestrator.browser.tabs.cdp_channel import BrowserWatchdog, PageGoneError, RefusedError
from orchestrator.browser.tabs.elements import ElementIds, NotDoneError
from orchestrator.browser.tabs.journal import Acting, Activity, Keyed, SessionJournal
from orchestrator.browser.tabs.new_targets import NewTargets
from orchestrator.browser.tabs.settle import settle
from orchestrator.browser.tabs.tab import OpenTab
from orchestrator.browser.tabs.tabbar import TabBar

_OPEN_S = 90.0
_ACT_S = 75.0
_READ_S = 30.0
_CLOSE_S = 10.0
_SCREENSHOT_QUALITY = 70


class Session(PageReader):
    """A context with its tabs, and those of further logins; every call has a deadline.

    Each method raises BrowserError if the browser or a page crashed or does not answer.
    """

    def __init__(
        self,
        contexts: Mapping[str, BrowserContext],
        watchdog: BrowserWatchdog,
        journal: SessionJournal,
        options: SessionOptions,
        new_targets: NewTargets | None = None,
    ) -> None:
        self._contexts = contexts
        self._options = options
        self._is_shared = new_targets is not None
        self._files = UploadFiles(options.files)
        self._watchdog = watchdog
        self._journal = journal
        self._ids = ElementIds()
        self._reading = PageReading(options.viewport, options.shows_unnamed)
        self._bar = TabBar(
            contexts, journal, watchdog, new_targets, options.selectors, arm=options.arm
        )
        super().__init__(self._bar, watchdog, options.other_window)
        self._network: NetworkRecorder | None = None
        if options.records:
            pages = self._bar.number_of, self._bar.is_fresh
            self._network = NetworkRecorder(
                options.records, journal.logical, *pages, hides_cookies=options.hides_cookies
            )
            for context in contexts.values():
                self._network.follow(context)
        self._tracer = Tracer(contexts) if options.traces else None
        self._executor = ActionExecutor(self._bar, self._ids, journal, self._files)
        self._acted_in: tuple[OpenTab, int] | None = None
        self._answering: list[AnsweredScripts] = []

    async def open(self, urls: Sequence[str], logins: Sequence[str] = ()) -> None:
        """Open the start pages, a tab each, and make the first current.

        `logins` name the context of each page, see `SessionOptions.apart`; the first is the
        session's own.
        """
        async with self._watchdog.bounded("open the start pages", _OPEN_S):
            await self._trace("start pages")
            for at, url in enumerate(urls):
                login = logins[at] if logins else ""
                tab = self._bar.current if at == 0 else await self._bar.open(login)
                try:
                    await goto(tab, url)
                except NotDoneError as error:
                    raise BrowserError(f"a start page cannot be opened: {error}") from error
            if len(urls) > 1:
                await self._bar.focus(self._bar.tabs[0].number)

    async def capture(self) -> BrowserState:
        """Read tabs, pages and storage as they are now, without touching the pages."""
        async with self._watchdog.bounded("capture the pages", _OPEN_S):
            return await capture(self._bar, self._contexts, self._ids, self._reading)

    async def restore(self, *, with_fields: bool = True) -> None:
        """Open the tabs of `SessionOptions.state`, their documents answered by the gateway.

        Only the pages' own scripts and parts ask sites for anything. The visits stand in the
        drained activity, as after `open`.

        Args:
            with_fields: also put back fields, ticks, options, details, focus and scroll, and open
                each page at the fragment that it had gone to. Otherwise scripts that ask what
                they asked before get the same answers, from no site, until `end_answers`.
        """
        state = self._options.state
        if state is None:
            raise StateError("this session was opened without a state: it cannot restore one")
        async with self._watchdog.bounded("restore the pages", _OPEN_S):
            await self._trace("restored pages")
            self._ids.next = max(self._ids.next, state.ids.element)
            self._answering = await restore(self._bar, state, with_fields=with_fields)
            if with_fields:  # what was put back is done in a page that had settled
                self._acted_in = (self._bar.current, self._bar.current.traffic.settled)

    async def end_answers(self) -> None:
        """Let the sites answer all that scripts ask for, after `restore(with_fields=False)`."""
        async with self._watchdog.bounded("end the recorded answers", _OPEN_S):
            for one in self._answering:
                await one.end()
            self._answering = []

    async def adopt_ids(self, seen: Observation | None = None) -> bool:
        """Give the elements of restored pages the ids that they had in the session they come from.

        A page takes them over if its accessibility tree equals the source's line by line. Return
        whether all did. Each tab is held against `SessionOptions.state`; with `seen`, the current
        one alone against what the other session saw of it.
        """
        async with self._watchdog.bounded("find the pages' elements", _OPEN_S):
            if seen is not None:
                ids = PageIds(
                    lines=lines_of(seen.nodes), line_ids=tuple(node.id for node in seen.nodes)
                )
                tab = await self._bar.wait_for_current()
                return await self._reading.adopt(tab, self._ids, ids)
            tabs = self._options.state.tabs if self._options.state else ()
            kept = {tab.number: tab.ids for tab in tabs}
            found = [
                await self._reading.adopt(tab, self._ids, kept[tab.number])
                for tab in self._bar.tabs
                if tab.number in kept
            ]
            return all(found)

    async def observe(
        self,
        step: int,
        last_error: str | None = None,
        forms: Mapping[str, ObservationForm] | None = None,
    ) -> Observation:
        """Read the current tab as an agent sees it, without touching the page.

        `forms` are what is looked at, by name; the accessibility tree if omitted. Dialogs answered
        since the last drain stand at the head of its text.
        """
        wanted = {AXTREE: AXTREE_FORM} if forms is None else forms
        async with self._watchdog.bounded("observe the page", _READ_S):
            current = await self._bar.wait_for_current()
            page = TabView(
                current,
                self._ids,
                self._journal.dialogs,
                viewport=self._options.viewport,
                shows_unnamed=self._options.shows_unnamed,
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
        """Do one action; return once the page has taken it, before it settles.

        The result says for the agent why the action could not be done; None if it was done.
        """
        async with self._watchdog.bounded(f"do the action '{action.kind}'", _ACT_S):
            tab = await self._bar.wait_for_current()
            self._acted_in = (tab, tab.traffic.activity_count)
            self._bar.actions += 1
            await self._trace(f"step {self._bar.actions}: {action.kind}")
            try:
                await self._executor.do(action)
            except NotDoneError as error:
                return str(error)
            except RefusedError:
                return "the page changed before the action was done: look again"
            except (PageGoneError, PlaywrightError):
                if not tab.page.is_closed():
                    raise
                await self._contexts[tab.login].cookies()  # fails if more than the page is gone
            return None

    async def settle(self, deadline_s: float) -> bool:
        """Wait until the current tab has settled; False if the deadline came first.

        A popup that the last action opened becomes current and is waited for as well.
        """
        async with self._watchdog.bounded("settle", deadline_s + _READ_S):
            has_settled = True
            try:
                async with asyncio.timeout(deadline_s):
                    await self._settle_current()
            except TimeoutError:
                has_settled = False
            await self._journal.judge_visits()
            await self._refuse_disturbed()
            return has_settled and not self._bar.current.is_broken

    async def _refuse_disturbed(self) -> None:
        if (tab := await self._bar.wait_for_current()).traffic.disturbed:
            tab.traffic.disturbed = False
            raise BrowserError(f"the network of this machine changed while {tab.url} was loading")

    async def _settle_current(self) -> None:
        settled: OpenTab | None = None
        while settled is not await self._bar.wait_for_current():
            tab = await self._bar.wait_for_current()
            if tab.is_broken:
                return
            since = -1
            if self._acted_in is not None and self._acted_in[0] is tab:
                since = max(self._acted_in[1], tab.traffic.settled)
            try:
                await settle(tab.frames, tab.traffic, since)
            except PageGoneError:
                if not tab.is_broken:
                    await self._bar.wait_until_replaced(tab)
                continue
            settled = tab
            await self._bar.wait_for_adoptions()

    def attend(self, target: str) -> None:
        """Make the tab current in which an external program acts, by its target's id."""
        self._bar.attend(target)

    def distrust_answers(self) -> None:
        """From now on, an external program may answer requests in place of sites."""
        self._bar.distrust_answers()

    def listen_to(
        self,
        noticed: Callable[[], None],
        is_scripting: Callable[[], bool],
        broke: Callable[[str], None],
        acting: Acting | None = None,
        keyed: Keyed | None = None,
    ) -> None:
        """Follow an external program, or a person.

        Args:
            noticed: called when something is noted that it may have done.
            is_scripting: whether an event that a script makes now is taken for its doing.
            broke: called with what happened to a page that crashed or hangs, which is not asked
                any more.
            acting: of a person: called before each of their events is noted; its tab is current.
            keyed: called with keys that no event tells of.
        """
        self._bar.follows_hand = acting is not None
        self._journal.acting = acting or (lambda *_: None)
        self._journal.keyed = keyed or (lambda *_: None)
        self._journal.noticed, self._journal.is_scripting = noticed, is_scripting
        self._bar.broke = broke

    async def show_choosers(self) -> None:
        """Let a person at the window choose files: the browser opens its own choosers."""
        async with self._watchdog.bounded("let file choosers open", _READ_S):
            await self._bar.show_choosers()

    async def lost(self) -> None:
        await self._watchdog.gone.wait()

    async def bear_out(self) -> bool:
        """Ask pages to confirm events and visits of scripts, note the answers; whether all do."""
        async with self._watchdog.bounded("check a script's events", _READ_S):
            all_visits_count = await self._journal.judge_visits()
            if not self._journal.has_claims:
                return all_visits_count
            found: dict[str, bool] = {}
            nothing: dict[str, bool] = {}
            for tab in self._bar.tabs:
                found |= await self._bar.ask(tab, tab.borne_out, nothing)
            return self._journal.bear_out(found) and all_visits_count

    async def pin(self) -> DocumentHandle:
        """Return a handle of the document in the current tab, to ask the page itself later."""
        async with self._watchdog.bounded("find the page's document", _READ_S):
            tab = await self._bar.wait_for_current()
            # Without a context the expression is evaluated in the page's own world.
            reply = await tab.channel.send("Runtime.evaluate", {"expression": "document"})
            handle = reply["result"]["objectId"]
            return DocumentHandle(tab, self._bar, handle, self._watchdog)

    def drain(self) -> Activity:
        """Return what happened since the last drain, and forget it: a step is over."""
        if self._network is not None:
            self._network.next_step()
        return self._journal.drain()

    async def network(self) -> NetworkRecord | None:
        """Return what the session's pages requested so far; None if it was not recorded."""
        if self._network is None:
            return None
        async with self._watchdog.bounded("read the recorded requests", _READ_S):
            return await self._network.record()

    async def traces(self) -> Mapping[str, bytes]:
        """Stop Playwright's traces and return them by file name; nothing the second time.

        If the browser is gone there is none, or none of that context.
        """
        return {} if self._tracer is None else await self._tracer.stop()

    async def _trace(self, what: str) -> None:
        if self._tracer is not None:
            await self._tracer.begin(what)

    async def screenshot(self) -> bytes | None:
        """Return the current tab's viewport as WebP; None if an external program broke it."""
        options = {"format": "webp", "quality": _SCREENSHOT_QUALITY, "optimizeForSpeed": True}
        async with self._watchdog.bounded("take a screenshot", _READ_S):
            tab = self._bar.current
            # Playwright's own call prepares the page first, and takes twice as long.
            take = partial(tab.channel.send, "Page.captureScreenshot", options)
            image = await self._bar.ask(tab, take, None)
            return base64.b64decode(image["data"]) if image else None

    def film(self) -> AsyncGenerator[str, None]:
        """Yield the current tab's newest picture as it changes, as JPEG in base64."""
        return film(lambda: self._bar.current)

    def answers(self) -> tuple[tuple[str, int | None], ...]:
        """Return each open tab's URL and the HTTP status of its document."""
        return tuple((tab.url, tab.traffic.status) for tab in self._bar.tabs)

    def asked_of(self, host: str) -> frozenset[str]:
        """Return the paths, with queries, that open pages, not the browser, asked of a host."""
        return frozenset(path for tab in self._bar.tabs for path in tab.traffic.asked.get(host, ()))

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
        return self._bar.current.url

    @property
    def is_forged(self) -> bool:
        """Whether a script of an external program set the current tab's address."""
        return self._journal.is_forged(self._bar.current.number)

    @property
    def status(self) -> int | None:
        """The HTTP status of the current tab's document; None if it is not known."""
        return self._bar.current.status

    @property
    def retry_after(self) -> str | None:
        """When the site of the current tab wants to be asked again, as its header says it."""
        return self._bar.current.retry_after

    async def title(self) -> str:
        async with self._watchdog.bounded("read the title", _READ_S):
            tab = self._bar.current
            return await self._bar.ask(tab, tab.title, "")

    async def start(self) -> frozenset[str]:
        """Open the first tab; return the browser's ids of the contexts."""
        if self._options.state is None:
            tab = await self._bar.open()
        else:
            first = self._options.state.tabs[0]
            tab = await self._bar.open(first.login, first.number)
        if self._is_shared:
            await self._bar.share()
        info = await tab.channel.send("Target.getTargetInfo")
        others = [login for login in self._contexts if login != tab.login]
        apart = [await context_id(self._contexts[login]) for login in others]
        if not self._is_shared:
            self._bar.follow_links()
        if self._tracer is not None:
            await self._tracer.start()
        return frozenset([str(info["targetInfo"]["browserContextId"]), *apart])

    def stopped(self, method: str, url: str) -> None:
        """Note that a request was not sent, because it may write to a read-only site."""
        self._journal.refuse(method, url, REFUSAL)
        self._options.live.stopped(method, url)
        if self._network is not None:
            self._network.stopped(method, url, REFUSAL)

    def owns(self, frame: str) -> bool:
        return any(tab.frames.get(frame) for tab in self._bar.tabs)

    async def close(self) -> None:
        await self._bar.close()
        if self._network is not None:
            await self._network.close()
        self._files.close()
        with suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                for context in self._contexts.values():
                    await context.close()


@asynccontextmanager
async def open_session(
    browser: PlaywrightBrowser,
    guard: LiveGuard,
    watchdog: BrowserWatchdog,
    options: SessionOptions,
    shared: tuple[BrowserContext, NewTargets] | None = None,
    *,
    traffic: DirectTraffic | None = None,
) -> AsyncIterator[Session]:
    """Open a context with one blank tab, and those of further logins, until the block ends.

    `shared` is the context that is used instead of a new one, because another program acts in it,
    with what holds its new pages until the watcher is in them. `traffic` is the policy that this
    session keeps in a gateway's place.
    """
    async with watchdog.bounded("open a browser context", _OPEN_S):
        contexts = await open_contexts(browser, options, shared[0] if shared else None)
    if traffic is not None:
        for context in contexts.values():
            traffic.follow(context)
    journal = SessionJournal(options.logical)
    counted = LiveTraffic(options.live, contexts.values())
    session = Session(contexts, watchdog, journal, options, shared[1] if shared else None)
    try:
        async with watchdog.bounded("open a browser context", _OPEN_S):
            watched = GuardedSession(
                contexts=await session.start(),
                origins=frozenset(origin_of(url) for url in options.live_origins),
                owns=session.owns,
                refused=session.stopped,
                traffic=traffic,
                live=options.live,
            )
            await guard.add(watched)
        try:
            yield session
        finally:
            with suppress(PlaywrightError, TimeoutError):
                async with asyncio.timeout(_CLOSE_S):
                    await guard.remove(watched)
    finally:
        await counted.end()
        await session.close()
