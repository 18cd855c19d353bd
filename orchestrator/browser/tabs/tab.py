"""One open tab: its page, its wire, its frames and its traffic."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from playwright.async_api import Dialog, Page
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame as PlaywrightFrame

from arena_core.actions import Button
from orchestrator.browser.tabs.address_changes import AddressChange, AddressChanges, ForgedAnswers
from orchestrator.browser.tabs.cdp_channel import CdpChannel, PageGoneError, RefusedError, Reply
from orchestrator.browser.tabs.frames import ERROR_PAGE, FrameTable
from orchestrator.browser.tabs.new_targets import NewTargets, TargetSession
from orchestrator.browser.tabs.settle import Traffic
from orchestrator.browser.tabs.watcher import EventReport, KeyReport, install, listen
from orchestrator.browser.tabs.window_moves import WindowMove, WindowMoves

DIALOG_PATIENCE_S: Final = 10.0
_OPENS_S: Final = 3.0


@dataclass(frozen=True, slots=True)
class FileChooser:
    """A chooser that a page asked for; `backend` is the file field's node id in the browser."""

    backend: int
    is_multiple: bool


class FileChoosers:
    """Keeps the choosers of one page closed; `refused` is called for each that nobody awaited."""

    def __init__(self, channel: CdpChannel) -> None:
        self._channel = channel
        self._awaited: asyncio.Future[FileChooser] | None = None
        self.refused: Callable[[], None] = lambda: None
        channel.on("Page.fileChooserOpened", self._opened)

    async def start(self) -> None:
        """Take all choosers over from the browser; `Page` must be enabled."""
        await self._channel.send("Page.setInterceptFileChooserDialog", {"enabled": True})

    async def leave_to_browser(self) -> None:
        """Let the browser show its own, which a person at its window answers."""
        await self._channel.send("Page.setInterceptFileChooserDialog", {"enabled": False})

    @asynccontextmanager
    async def expected(self) -> AsyncIterator[asyncio.Future[FileChooser]]:
        """Let the block wait for the next chooser, which then counts as answered."""
        self._awaited = asyncio.get_running_loop().create_future()
        try:
            yield self._awaited
        finally:
            self._awaited.cancel()
            self._awaited = None

    def _opened(self, event: Reply) -> None:
        chooser = FileChooser(
            int(event.get("backendNodeId", 0)), event.get("mode") == "selectMultiple"
        )
        if self._awaited is not None and not self._awaited.done():
            self._awaited.set_result(chooser)
        else:
            self.refused()


async def next_chooser(opened: asyncio.Future[FileChooser]) -> FileChooser | None:
    """Return the chooser that opens; None if none does soon."""
    try:
        async with asyncio.timeout(_OPENS_S):
            return await opened
    except TimeoutError:
        return None


def leave_dialogs(page: Page, noted: Callable[[str], None]) -> None:
    """Leave a page's dialogs to the program that drives it; accept one that nobody answers.

    Playwright dismisses a dialog at once if nobody listens.
    """

    async def answer(dialog: Dialog) -> None:
        noted(f'{dialog.type} "{" ".join(dialog.message.split())[:200]}" (left to the agent)')
        await asyncio.sleep(DIALOG_PATIENCE_S)
        with suppress(PlaywrightError):  # somebody has answered it meanwhile
            await dialog.accept(dialog.default_value or None)

    page.on("dialog", answer)


def answer_dialogs(page: Page, noted: Callable[[str], None]) -> None:
    """Accept every dialog of a page at once, so that none hangs an episode.

    An alert is read, a confirmation agreed to, a prompt answered with its default, and leaving a
    page allowed: the agent asked for what led there. Each is noted as one line.
    """

    async def answer(dialog: Dialog) -> None:
        if dialog.type != "beforeunload":
            noted(f'{dialog.type} "{" ".join(dialog.message.split())[:200]}" (accepted)')
        try:
            await dialog.accept(dialog.default_value or None)
        except PlaywrightError:
            return  # the page closed, and its dialog with it

    page.on("dialog", answer)


_WITH_RETRY: Final = {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}
_LONGEST_RETRY: Final = 100  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class TabVisit:
    """A document or history entry that a tab went to.

    Attributes:
        change: if judged, says who made it.
        move: what the window itself did, such as back or reload; None where a page led there.
    """

    url: str
    same_document: bool
    status: int | None = None
    change: AddressChange | None = None
    move: WindowMove | None = None


Visited = Callable[["OpenTab", TabVisit], None]
_STATUS: Final = "performance.getEntriesByType('navigation')[0]?.responseStatus ?? 0"
Reported = Callable[["OpenTab", EventReport | KeyReport], None]


class OpenTab:
    """A page under watch.

    Attributes:
        number: the tab's index; never given to another tab of the episode.
        login: its context, see `SessionOptions.apart`; empty for the session's own.
        held_keys, held_buttons: what the agent holds down in it.
        pointer: where the agent's mouse is in the viewport; None until it was moved.
        leave_questions: how often a document asked whether it may be left (`beforeunload`).
        actions_before: how many actions the session had started when its document came.
        is_broken: an external program made it crash or hang: it shows nothing.
        visited: called with each document and history entry of the main frame.
    """

    def __init__(
        self,
        number: int,
        page: Page,
        channel: CdpChannel,
        visited: Visited,
        login: str = "",
        *,
        forged_answers: ForgedAnswers | None = None,
        selectors: tuple[str, ...] = (),
    ) -> None:
        self.number = number
        self.login = login
        self.page = page
        self.channel = channel
        self.visited = visited
        self.held_keys: set[str] = set()
        self.held_buttons: set[Button] = set()
        self.pointer: tuple[float, float] | None = None
        self.is_broken = False
        self.actions_before = 0
        self.leave_questions = 0
        channel.on("Page.javascriptDialogOpening", self._asked)
        self.choosers = FileChoosers(channel)
        self.traffic = Traffic(channel)
        self.frames = FrameTable(
            channel, self._went, hears_scripts=forged_answers is not None, selectors=selectors
        )
        self._address_changes = (
            None
            if forged_answers is None
            else AddressChanges(channel, forged_answers, self.frames.is_world)
        )

        self._window_moves = (
            None
            if forged_answers is None
            else WindowMoves(channel, self._is_main, self.frames.is_world)
        )

    def _is_main(self, frame: str) -> bool:
        return frame == self.frames.main_id

    def _went(self, url: str, same_document: bool) -> None:  # noqa: FBT001  FrameTable's call
        change: AddressChange | None = None
        if self._address_changes is not None:
            change = (
                self._address_changes.moved(url)
                if same_document
                else self._address_changes.opened(url)
            )
        move = None
        if self._window_moves is not None:
            move = self._window_moves.led_to(url, within=same_document)
        visit = TabVisit(
            url=url, same_document=same_document, status=self.status, change=change, move=move
        )
        self.visited(self, visit)

    def _asked(self, event: Reply) -> None:
        self.leave_questions += event["type"] == "beforeunload"

    @property
    def url(self) -> str:
        """The URL of its document; the requested one if that could not be reached."""
        return self.frames.main.url

    @property
    def status(self) -> int | None:
        """The HTTP status of its document; None if it is not known."""
        return self.traffic.statuses.get(self.frames.main.loader)

    @property
    def retry_after(self) -> str | None:
        """When its site wants to be asked again, in the words of the header; None elsewhere."""
        response = self.traffic.responses.get(self.frames.main.loader)
        if response is None or response.status not in _WITH_RETRY:
            return None
        said = (value for name, value in response.headers if name.lower() == "retry-after")
        return next((value[:_LONGEST_RETRY] for value in said), None)

    async def read_status(self) -> None:
        """Ask the document for its status, if it came before there was a wire to its tab."""
        document = self.frames.main.loader
        if self.status is None and self.url.startswith("http"):
            with suppress(RefusedError):
                found = int((await self.frames.evaluate(self.frames.main, _STATUS)).get("value", 0))
                if found:
                    self.traffic.statuses[document] = found

    async def borne_out(self) -> dict[str, bool]:
        """Return which events of scripts its documents confirm, by their claims."""
        found: dict[str, bool] = {}
        for frame in self.frames.all():
            with suppress(RefusedError, PageGoneError):
                reply = await self.frames.evaluate(frame, "arena.borneOut()")
                found.update({str(name): bool(holds) for name, holds in reply.get("value", ())})
        return found

    async def title(self) -> str:
        reply = await self.frames.evaluate(self.frames.main, "document.title")
        return str(reply.get("value", ""))


async def open_tab(
    number: int,
    page: Page,
    *,
    visited: Visited,
    reported: Reported,
    failed: Callable[[str], None],
    login: str = "",
    new_targets: NewTargets | None = None,
    selectors: tuple[str, ...] = (),
) -> OpenTab:
    """Bring a page under watch.

    `visited` gets each document and history entry of the main frame, `reported` each report of the
    watcher, and `failed` what makes the page useless. `new_targets` had the watcher in the page
    before it ran.
    """
    early: list[str] = [page.url]
    seen: list[TabVisit] = []

    def note_early(frame: PlaywrightFrame) -> None:
        if frame == page.main_frame:
            early.append(frame.url)

    # A popup runs before there is a wire to it: until then Playwright, which held it from its first
    # document on, says where it went.
    page.on("framenavigated", note_early)
    try:
        wire = None if new_targets is None else await new_targets.of(page)
        channel = CdpChannel(wire or await page.context.new_cdp_session(page), failed)
        tab = OpenTab(
            number,
            page,
            channel,
            lambda _, visit: seen.append(visit),
            login,
            forged_answers=None if new_targets is None else new_targets.forged_answers,
            selectors=selectors,
        )
        await _enable(tab, reported, wire, selectors)
        await tab.read_status()
    except (PlaywrightError, RefusedError) as error:
        raise PageGoneError(str(error)) from error
    finally:
        page.remove_listener("framenavigated", note_early)
    tab.visited = visited
    for visit in _in_order(early, seen, {tab.url: tab.status}):
        visited(tab, visit)
    return tab


def _in_order(
    early: Sequence[str], seen: Sequence[TabVisit], statuses: Mapping[str, int | None]
) -> Iterator[TabVisit]:
    """Yield what Playwright saw before there was a wire, then what the wire adds."""
    known = dict(statuses) | {visit.url: visit.status for visit in seen if visit.status}
    # The wire knows more about visits that are judged.
    judged = {visit.url for visit in seen if visit.change is not None}
    first = [url for url in dict.fromkeys(early) if url not in judged]
    for url in first:
        if url and not url.startswith(("about:", ERROR_PAGE)):
            yield TabVisit(url=url, same_document=False, status=known.get(url))
    yield from (visit for visit in seen if visit.url not in first)


async def _enable(
    tab: OpenTab, reported: Reported, target: TargetSession | None, selectors: tuple[str, ...]
) -> None:
    early: list[EventReport | KeyReport] = []
    is_known = False

    def report(one: EventReport | KeyReport) -> None:
        if is_known:
            reported(tab, one)
        else:
            early.append(one)  # its page is known once the frames are read

    listen(tab.channel, report)
    if target is None:
        for method in ("Page.enable", "Runtime.enable", "Network.enable"):
            await tab.channel.send(method)
        await install(tab.channel, selectors)
    else:
        target.release()
    await tab.choosers.start()
    await tab.frames.start()
    tab.traffic.follow(tab.frames.main_id)
    is_known = True
    for one in early:
        reported(tab, one)
