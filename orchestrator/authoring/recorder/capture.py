"""Follows a person in the episode's browser and writes down each step when its page has settled."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final
from urllib.parse import urldefrag, urlsplit

from arena_core.actions import Action, Hover, Press, Scroll
from arena_core.errors import ArenaError, BrowserError
from evaluators.changes import IgnoredChanges, change_as_text
from evaluators.checks import Check
from evaluators.evidence import ActedElement, Located, StepEvidence
from orchestrator.authoring.recorder import proposals
from orchestrator.authoring.recorder.elements import FORMS, PageElements
from orchestrator.authoring.recorder.reading import (
    FILES,
    SCROLL,
    KeptFiles,
    PressedKey,
    actions_of,
    goes_on,
    in_one,
    keys_of,
    merged,
    types_on,
    visit_of,
)
from orchestrator.authoring.recorder.recording import (
    DoneAction,
    RecordedStep,
    Recording,
    RecordingFolder,
    RecordingHead,
    picture_name,
)
from orchestrator.browser.observation import Observation
from orchestrator.browser.tabs.journal import Activity, NotedSoFar
from orchestrator.browser.tabs.watcher import KeyReport
from orchestrator.episode.environment import EpisodeEnvironment, SharedSession
from orchestrator.episode.episode import Episode
from orchestrator.episode.steps import SETTLE_DEADLINE_S, StepPlayer
from orchestrator.gateway.journal import Exchange
from tasks.reference import FocusTabAt, OnElement, PressKeys, ScrollPage

_EVERYTHING: Final = IgnoredChanges()
_ANSWERS_S: Final = 60.0
_LOOKS_AFTER_S: Final = 1.0
_FILES_S: Final = 10.0
_BLANK: Final = "about:blank"
_MOST_ASKED: Final = 12
_MOST_SCROLLS: Final = 50
_A_FILE: Final = re.compile(r"\.(css|gif|ico|jpe?g|m?js|map|png|svg|ttf|webp|woff2?)$")


@dataclass(slots=True)
class PersonCapture:
    """Writes down what a person does.

    Attributes:
        stopped: set it to end the recording; it is set by itself when the window was closed.
        began: when the first page was there.
        is_gone: the window was closed: no page can be asked any more.
        is_closed: the sites are gone as well.
        unread: by site, why it is not known what was changed there.
        seen: the page as it was seen last, for whoever acts by `act`.
    """

    episode: Episode
    environment: EpisodeEnvironment
    folder: RecordingFolder
    stopped: asyncio.Event = field(default_factory=asyncio.Event)
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    is_gone: bool = False
    is_closed: bool = False
    unread: dict[str, str] = field(default_factory=dict)
    _said: list[DoneAction] = field(default_factory=list)
    _keys: list[PressedKey] = field(default_factory=list)
    _acts: bool = False  # in the person's place: what it presses is said
    _hides: bool = False  # a password was typed on this page, which may show it
    _noticed: asyncio.Event = field(default_factory=asyncio.Event)
    _kept: asyncio.Event = field(default_factory=asyncio.Event)
    seen: Observation | None = None
    _page: PageElements = field(default_factory=PageElements)
    _before: PageElements = field(default_factory=PageElements)
    _mark: int = 0
    _pages: dict[int, PageElements] = field(default_factory=dict)  # by tab
    _files: list[KeptFiles] = field(default_factory=list)  # the latest first
    _unread: int = 0  # times that files were chosen and are still being read
    _read: asyncio.Event = field(default_factory=asyncio.Event)
    _scrolled: PressedKey | None = None  # since the last step
    _ahead: float = 0.0  # how far the page is scrolled beyond what was written down, in actions

    @property
    def recording(self) -> Recording:
        return self.folder.recording

    @property
    def page(self) -> PageElements:
        """The page as it was seen last."""
        return self._page

    @property
    def may_look(self) -> bool:
        """Whether the running sites can be asked: the person has stopped, and they are there."""
        return self.stopped.is_set() and not self.is_closed

    async def begin(self, head: RecordingHead) -> None:
        """Open the start pages and write them down."""
        await self.episode.reset()
        if self.episode.is_over:
            fault = self.episode.evidence().fault
            why = "the world is not as it should be" if fault is None else fault.because
            raise BrowserError(f"the start page could not be opened: {why}")
        player, session = self.episode.shared_browser()
        session.listen_to(self._on_notice, lambda: False, self._on_break, keyed=self._on_key)
        await session.show_choosers()
        self._mark = player.resources.journal.mark()
        started = self.began.isoformat(timespec="seconds")
        idle = await self._changes(self.environment.replicas)
        self.folder.begin(head.model_copy(update={"started_at": started, "idle": idle}))
        opening = player.record.steps[0]
        await self._look(session, 0)
        self.folder.keep(
            RecordedStep(evidence=opening, heading=self._page.heading),
            player.record.pictures.get(opening.screenshot or ""),
        )

    async def follow(self) -> None:
        """Write steps down until the recording is stopped or the window is closed."""
        player, session = self.episode.shared_browser()
        while not self.stopped.is_set():
            await self._wait()
            if not self._noticed.is_set():
                break
            self._noticed.clear()
            try:
                await self._write(player, session)
            except BrowserError:
                self._lost(player, session)
        if not self.is_gone:  # what was done last may not have been heard of yet
            with suppress(BrowserError):
                async with asyncio.timeout(_ANSWERS_S):
                    await self._write(player, session)

    async def read_changes(self) -> None:
        """Read once more what was changed: a site may have written after the last step."""
        last = self.recording.steps[-1]
        found = await self._changes(self.environment.replicas)
        self.folder.keep(last.model_copy(update={"changes": {**last.changes, **found}}), None)

    async def act(self, action: Action) -> str | None:
        """Do an action in the person's place; why it could not be done, None where it was."""
        _, session = self.episode.shared_browser()
        self._acts = True
        try:
            error = await session.act(action)
        finally:
            self._acts = False
        if error is None and isinstance(action, Hover | Press | Scroll):
            self._said.append(_unseen(action, self.seen, self._page))
            self._noticed.set()
        return error

    async def wait_for_step(self, before: object) -> None:
        """Return once the recording is another one than it was, or nobody follows any more."""
        while self.folder.recording is before and not self.stopped.is_set():
            self._kept.clear()
            await self._kept.wait()

    def asked(self) -> tuple[Check, ...]:
        """Return checks that show what pages asked their sites for beside documents and files."""
        player, _ = self.episode.shared_browser()
        steps = self.recording.steps
        visited = {urldefrag(one.url).url for step in steps for one in step.evidence.visits}
        found: dict[str, None] = {}
        for one in player.resources.journal.since(0):
            is_data = one.method == "GET" and one.status == HTTPStatus.OK
            is_data &= one.site in self.environment.replicas and one.url not in visited
            logical = self.environment.registry.logical(one.url) if is_data else None
            if logical is not None and not _A_FILE.search(urlsplit(one.url).path):
                found[logical] = None
        return tuple(proposals.asks(one) for one in found)[-_MOST_ASKED:]

    async def look(self, check: Check) -> Located | None:
        """Return what an end check finds now; None where nobody can look any more."""
        player, _ = self.episode.shared_browser()
        try:
            async with asyncio.timeout(_ANSWERS_S):
                found = await player.locators.at_end((check,))
        except (ArenaError, TimeoutError):
            return None
        return found[0] if found and found[0].error is None else None

    def _on_notice(self) -> None:
        self._noticed.set()

    def _on_key(self, report: KeyReport, so_far: NotedSoFar) -> None:
        if report.key == FILES:
            self._keep_files(report)
        elif report.key == SCROLL:
            self._ahead += report.steps
            self._scrolled = PressedKey(report, so_far.acted)
            self._noticed.set()
        elif not self._acts:
            self._keys.append(PressedKey(report, so_far.acted))
            self._noticed.set()

    def _keep_files(self, report: KeyReport) -> None:
        """Keep the files that a field holds: all of them, or it is said that they are not kept."""
        _, session = self.episode.shared_browser()
        logical = self.environment.registry.logical(report.url or session.url)
        self._unread = max(0, self._unread + (1 if report.files is None else -1))
        self._read.set()
        files = report.files or ()
        kept = [
            one.name
            for one in files
            if one.content is not None and self.folder.keep_file(one.name, one.content)
        ]
        names = tuple(kept) if len(kept) == len(files) else ()
        self._files.insert(0, KeptFiles(report.path, logical, names))

    async def _all_read(self) -> None:
        """Return when the files that were chosen are there; a page that was left sends none."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_FILES_S):
                while self._unread:
                    self._read.clear()
                    await self._read.wait()
        self._unread = 0

    def _on_break(self, why: str) -> None:  # noqa: ARG002  what it says stands nowhere
        self.is_gone = True
        self.stopped.set()

    async def _wait(self) -> None:
        waits = [asyncio.create_task(one.wait()) for one in (self._noticed, self.stopped)]
        closed = asyncio.create_task(self._until_gone())
        try:
            await asyncio.wait([*waits, closed], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in (*waits, closed):
                one.cancel()

    async def _until_gone(self) -> None:
        """Return when the person has closed the window: then no page answers any more."""
        _, session = self.episode.shared_browser()
        while True:
            await asyncio.sleep(_LOOKS_AFTER_S)
            try:
                await session.title()
            except BrowserError:
                self.is_gone = True
            if self.is_gone or session.url == _BLANK:  # the only tab was closed
                self.stopped.set()
                return

    async def _write(self, player: StepPlayer, session: SharedSession) -> None:
        settled = await session.settle(SETTLE_DEADLINE_S)
        await self._all_read()
        before, was_seen = self._page, self.seen
        steps = self.recording.steps
        number = len(steps)
        activity = session.drain()
        said, self._said = tuple(self._said), []
        keys = keys_of(activity.acted, self._keys)
        self._keys = []
        scrolled, self._scrolled = self._scrolled, None
        has_happened = _has_happened(activity) or bool(said or keys)
        if not has_happened and scrolled is None:
            return
        self._hides = _hides(activity, before=self._hides)
        pages = dict(self._pages)
        picture = None if self._hides else await session.screenshot()
        await self._look(session, number)
        if scrolled is not None and self._scroll_matters(activity, before):
            keys = tuple(sorted((*keys, self._as_actions(scrolled)), key=lambda one: one.at))
        elif not has_happened:
            return
        if activity.visits:
            self._ahead = 0.0
        title = await session.title()
        exchanges = player.resources.journal.since(self._mark)
        self._mark = player.resources.journal.mark()
        evidence = StepEvidence(
            index=number,
            action=None,
            url=session.url,
            logical=self._page.logical,
            title=title,
            visits=activity.visits,
            acted=activity.acted,
            requests=len(exchanges),
            notes=player.notes(activity, exchanges),
            settled=settled,
            screenshot=None if picture is None else picture_name(number),
            login=session.login or None,
            status=session.status,
        )
        switch = None if not activity.acted else _switched(was_seen, self.seen)
        if switch is not None:
            before = pages.get(switch, PageElements())
            focus = DoneAction(action=FocusTabAt(do="focus_tab", index=switch))
            said = (focus, *self._actions(activity.acted, before, keys))
        elif keys:
            said = self._actions(activity.acted, before, keys)
        elif activity.acted:
            said = ()
        step = RecordedStep(evidence=evidence, actions=said)
        await self._keep(step, activity, before, picture, exchanges)

    async def _keep(
        self,
        step: RecordedStep,
        activity: Activity,
        before: PageElements,
        picture: bytes | None,
        exchanges: tuple[Exchange, ...],
    ) -> None:
        """Write a step; more letters in the same field belong to the one before."""
        evidence, actions = step.evidence, step.actions
        last = self.recording.steps[-1]
        if types_on(last, actions) or (not actions and goes_on(last, activity)):
            actions = in_one(last.actions, actions) if actions else ()
            evidence = merged(last.evidence, evidence)
            name = None if picture is None else picture_name(evidence.index)
            evidence = evidence.model_copy(update={"screenshot": name})
            before = self._before
        self._before = before
        acted = [one for one in evidence.acted if one.trusted]
        written = {one.site for one in exchanges if one.may_write and one.site is not None}
        sites = {site for site in written if site in self.environment.replicas}
        step = RecordedStep(
            evidence=evidence,
            actions=actions
            or (self._actions(acted, before) if acted else visit_of(evidence.visits)),
            changes=await self._changes(dict.fromkeys(sites)),
            heading=self._page.heading,
        )
        self.folder.keep(step, picture)
        self._kept.set()

    def _actions(
        self, acted: Sequence[ActedElement], page: PageElements, keys: Sequence[PressedKey] = ()
    ) -> tuple[DoneAction, ...]:
        last = self.recording.steps[-1].actions
        return actions_of(acted, page, keys, self._files, last[-1] if last else None)

    def _as_actions(self, scrolled: PressedKey) -> PressedKey:
        """Return what scrolls at least as far as the person has; an action is a whole screen."""
        actions = min(_MOST_SCROLLS, math.ceil(abs(self._ahead))) or 1
        actions = actions if self._ahead > 0 else -actions
        self._ahead -= actions
        return replace(scrolled, scrolls=actions)

    def _scroll_matters(self, activity: Activity, before: PageElements) -> bool:
        """Whether the page shows what it did not hold before, by nothing but being scrolled."""
        if activity.acted:
            return not before.shows(activity.acted[0])
        return not activity.visits and self._page.has_more_than(before)

    def _lost(self, player: StepPlayer, session: SharedSession) -> None:
        """Keep what was noted before the window was closed."""
        self.is_gone = True
        self.stopped.set()
        activity = session.drain()
        if not _has_happened(activity):
            return
        steps = self.recording.steps
        last = steps[-1].evidence
        evidence = last.model_copy(
            update={
                "index": len(steps),
                "visits": activity.visits,
                "acted": activity.acted,
                "requests": len(player.resources.journal.since(self._mark)),
                "notes": (),
                "screenshot": None,
                "settled": False,
            }
        )
        actions = self._actions(activity.acted, self._page) or visit_of(activity.visits)
        self.folder.keep(RecordedStep(evidence=evidence, actions=actions), None)

    async def _look(self, session: SharedSession, number: int) -> None:
        """See the page as it is now: what is done next is done to it."""
        seen = await session.observe(number, None, FORMS)
        self.seen = seen
        logical = self.environment.registry.logical(seen.url)
        self._page = PageElements.of(seen, logical)
        self._pages = {tab.index: self._pages.get(tab.index, PageElements()) for tab in seen.tabs}
        self._pages[_current(seen)] = self._page

    async def _changes(self, sites: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for site in sites:
            if not self.environment.registry.site(site).stateful:
                continue
            try:
                changes = await self.environment.database.changes(site, _EVERYTHING)
            except ArenaError as error:
                self.unread[site] = error.message
            else:
                self.unread.pop(site, None)
                found[site] = tuple(map(change_as_text, changes))
        return found


def _unseen(
    action: Hover | Press | Scroll, seen: Observation | None, page: PageElements
) -> DoneAction:
    """Return an action that no event of the watcher's tells of."""
    if isinstance(action, Scroll):
        if action.element is None and action.direction in {"up", "down"}:
            return DoneAction(action=ScrollPage(do="scroll", direction=action.direction.value))
        return DoneAction(why_not="a reference scrolls the page alone, up or down")
    if isinstance(action, Press):
        return DoneAction(action=PressKeys(do="press", keys=action.keys))
    nodes = () if seen is None else seen.nodes
    node = next((one for one in nodes if one.id == action.element), None)
    if node is None:
        return DoneAction(why_not="it was done to an element that is gone")
    target = page.target_of(node)
    hover = OnElement(do="hover", role=target.role, name=target.name, nth=target.nth)
    return DoneAction(action=hover)


def _current(seen: Observation) -> int:
    return next((tab.index for tab in seen.tabs if tab.is_current), 0)


def _switched(before: Observation | None, now: Observation | None) -> int | None:
    """Return the tab that the person went over to; None where a page did it, or nobody.

    A tab that was just opened, or is left because another was closed, is current by itself.
    """
    if before is None or now is None:
        return None
    here, known = _current(now), {tab.index for tab in before.tabs}
    is_left = _current(before) in {tab.index for tab in now.tabs}
    return here if here != _current(before) and here in known and is_left else None


def _hides(activity: Activity, *, before: bool) -> bool:
    """Whether a page may show a password that was typed there: no picture of it is kept."""
    typed = any(one.tag == "input" and one.value is None for one in activity.acted)
    has_left = any(not one.same_document for one in activity.visits)
    return (before or typed) and not has_left


def _has_happened(activity: Activity) -> bool:
    return bool(activity.visits) or any(one.trusted for one in activity.acted)
