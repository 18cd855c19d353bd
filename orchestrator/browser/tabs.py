"""One open tab: its page, its wire, its frames and its traffic."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from playwright.async_api import Dialog, Page
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame as PlaywrightFrame

from arena_core.actions import Button
from orchestrator.browser.cdp_channel import CdpChannel, PageGoneError, RefusedError, Reply
from orchestrator.browser.choosers import FileChoosers
from orchestrator.browser.frames import ERROR_PAGE, FrameTable
from orchestrator.browser.held_targets import HeldSession, HeldTargets
from orchestrator.browser.settle import Traffic
from orchestrator.browser.watcher import EventReport, install, listen

DIALOG_PATIENCE_S: Final = 10.0

Visited = Callable[["OpenTab", str, bool, int | None], None]
_STATUS: Final = "performance.getEntriesByType('navigation')[0]?.responseStatus ?? 0"
Reported = Callable[["OpenTab", EventReport], None]


class OpenTab:
    """A page under watch.

    Attributes:
        number: the tab's index; never given to another tab of the episode.
        page: Playwright's page.
        login: of which context it is, see `SessionOptions.apart`; empty for the session's own.
        held_keys, held_buttons: what the agent keeps down in it.
        leave_questions: how often a document asked whether it may be left (`beforeunload`).
        is_broken: it crashed, or answers nothing, by an outside program's doing: it shows nothing.
        visited: called with each document and history entry of the main frame, and its status.
    """

    def __init__(
        self,
        number: int,
        page: Page,
        channel: CdpChannel,
        visited: Visited,
        login: str = "",
        *,
        hears_scripts: bool = False,
        selectors: tuple[str, ...] = (),
    ) -> None:
        self.number = number
        self.login = login
        self.page = page
        self.channel = channel
        self.visited = visited
        self.held_keys: set[str] = set()
        self.held_buttons: set[Button] = set()
        self.is_broken = False
        self.leave_questions = 0
        channel.on("Page.javascriptDialogOpening", self._asked)
        self.choosers = FileChoosers(channel)
        self.traffic = Traffic(channel)
        self.hears_scripts = hears_scripts
        self.frames = FrameTable(
            channel,
            lambda url, same: self.visited(self, url, same, self.status),
            hears_scripts=hears_scripts,
            selectors=selectors,
        )

    def _asked(self, event: Reply) -> None:
        self.leave_questions += event["type"] == "beforeunload"

    @property
    def url(self) -> str:
        """The URL its document has now; the one asked for where that could not be reached."""
        return self.frames.main.url

    @property
    def status(self) -> int | None:
        """The HTTP status that its document came with; None where it is not known."""
        return self.traffic.statuses.get(self.frames.main.loader)

    async def read_status(self) -> None:
        """Ask the document for its status, where it came before there was a wire to its tab."""
        document = self.frames.main.loader
        if self.status is None and self.url.startswith("http"):
            with suppress(RefusedError):
                found = int((await self.frames.evaluate(self.frames.main, _STATUS)).get("value", 0))
                if found:
                    self.traffic.statuses[document] = found

    async def borne_out(self) -> dict[str, bool]:
        """Return which events of scripts its documents bear out, by their claims' names."""
        found: dict[str, bool] = {}
        for frame in self.frames.all():
            with suppress(RefusedError, PageGoneError):
                reply = await self.frames.evaluate(frame, "arena.borneOut()")
                found.update({str(name): bool(holds) for name, holds in reply.get("value", ())})
        return found

    async def title(self) -> str:
        """Return the document's title."""
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
    held: HeldTargets | None = None,
    selectors: tuple[str, ...] = (),
) -> OpenTab:
    """Bring a page under watch.

    Args:
        number: the tab's index.
        page: Playwright's page.
        visited: called with each document and history entry of the main frame.
        reported: called with each report of the watcher.
        failed: called with what makes the page of no use.
        login: of which context it is.
        held: where the watcher is in the page already, since before it ran.
        selectors: the watcher says of each element acted on how it fits these.

    Raises:
        PageGoneError: it closed meanwhile.
    """
    early: list[str] = [page.url]
    seen: list[tuple[str, bool, int | None]] = []

    def note_early(frame: PlaywrightFrame) -> None:
        if frame == page.main_frame:
            early.append(frame.url)

    # A popup runs before there is a wire to it: until then Playwright, which held it from its first
    # document on, says where it went.
    page.on("framenavigated", note_early)
    try:
        wire = None if held is None else await held.of(page)
        channel = CdpChannel(wire or await page.context.new_cdp_session(page), failed)
        tab = OpenTab(
            number,
            page,
            channel,
            lambda _, url, same, status: seen.append((url, same, status)),
            login,
            hears_scripts=held is not None,
            selectors=selectors,
        )
        await _enable(tab, reported, wire, selectors)
        await tab.read_status()
    except (PlaywrightError, RefusedError) as error:
        raise PageGoneError(str(error)) from error
    finally:
        page.remove_listener("framenavigated", note_early)
    tab.visited = visited
    statuses = {tab.url: tab.status} | {url: status for url, _, status in seen if status}
    for url in dict.fromkeys(early):
        if url and not url.startswith(("about:", ERROR_PAGE)):
            visited(tab, url, False, statuses.get(url))  # noqa: FBT003
    for url, same, status in seen:
        if url not in early:
            visited(tab, url, same, status)
    return tab


async def _enable(
    tab: OpenTab, reported: Reported, held: HeldSession | None, selectors: tuple[str, ...]
) -> None:
    early: list[EventReport] = []
    is_known = False

    def report(one: EventReport) -> None:
        if is_known:
            reported(tab, one)
        else:
            early.append(one)  # which page it is of is known once its frames are read

    listen(tab.channel, report)
    if held is None:
        for method in ("Page.enable", "Runtime.enable", "Network.enable"):
            await tab.channel.send(method)
        await install(tab.channel, selectors)
    else:
        held.release()
    await tab.choosers.start()
    await tab.frames.start()
    tab.traffic.follow(tab.frames.main_id)
    is_known = True
    for one in early:
        reported(tab, one)


def leave_dialogs(page: Page, noted: Callable[[str], None]) -> None:
    """Leave a page's dialogs to the program that drives it; accept one that nobody answers.

    Playwright dismisses a dialog at once where nobody listens.
    """

    async def answer(dialog: Dialog) -> None:
        noted(f'{dialog.type} "{" ".join(dialog.message.split())[:200]}" (left to the agent)')
        await asyncio.sleep(DIALOG_PATIENCE_S)
        with suppress(PlaywrightError):  # it was answered: the call is about no dialog any more
            await dialog.accept(dialog.default_value or None)

    page.on("dialog", answer)


def answer_dialogs(page: Page, noted: Callable[[str], None]) -> None:
    """Accept every dialog of a page at once, so that none hangs an episode.

    An alert is read, a confirmation agreed to, a prompt answered with what it proposes, and leaving
    a page is allowed: the agent asked for what led there. Each is noted as one line.
    """

    async def answer(dialog: Dialog) -> None:
        if dialog.type != "beforeunload":
            noted(f'{dialog.type} "{" ".join(dialog.message.split())[:200]}" (accepted)')
        try:
            await dialog.accept(dialog.default_value or None)
        except PlaywrightError:
            return  # the page closed, and its dialog with it

    page.on("dialog", answer)
