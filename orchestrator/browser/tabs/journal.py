"""What a session notes between two drains: visits, acted elements, refusals, dialogs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from evaluators.evidence import ActedElement, ElementEvent, RequestNote, UrlVisit
from orchestrator.browser.tabs.address_changes import AddressChange
from orchestrator.browser.tabs.tab import TabVisit
from orchestrator.browser.tabs.watcher import ElementReport, EventReport, KeyReport
from orchestrator.browser.tabs.window_moves import WindowMove


@dataclass(frozen=True, slots=True)
class NotedSoFar:
    """How much had been noted since the last drain, of each kind."""

    visits: int = 0
    acted: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """What happened since the last drain, each kind in its order.

    Attributes:
        visits: URLs that tabs committed to; of redirects only the last.
        acted: trusted events on elements; successive inputs into one element count as the last.
        refused: requests that were not sent.
        dialogs: answered by the session, a line each.
    """

    visits: tuple[UrlVisit, ...] = ()
    acted: tuple[ActedElement, ...] = ()
    refused: tuple[RequestNote, ...] = ()
    dialogs: tuple[str, ...] = ()

    def between(self, start: NotedSoFar, end: NotedSoFar | None) -> Activity:
        """Return what was noted from one moment to another; None for the end."""
        return Activity(
            visits=self.visits[start.visits : None if end is None else end.visits],
            acted=self.acted[start.acted : None if end is None else end.acted],
            refused=self.refused[start.refused : None if end is None else end.refused],
        )


@dataclass(slots=True)
class _NotedVisit:
    """A visit, and who made it if that is judged."""

    visit: UrlVisit
    change: AddressChange | None = None

    async def judge(self) -> bool:
        """Note who made it; return whether it counts."""
        if self.change is not None:
            counts = await self.change.counts()
            known = {
                "trusted": self.change.trusted,
                "confirmed": counts and not self.change.trusted,
            }
            self.visit = self.visit.model_copy(update=known)
        return self.visit.counts


@dataclass(slots=True)
class _NotedEvent:
    """An event, the claim that asks the page to confirm it, and where it happened."""

    element: ActedElement
    claim: str | None = None
    page: str | None = None
    shown: _NotedVisit | None = None


Keyed = Callable[[KeyReport, NotedSoFar], None]
Acting = Callable[[EventReport | WindowMove, NotedSoFar], None]


class SessionJournal:
    """Collects activity.

    Attributes:
        logical: maps a URL to its logical form.
        noticed: called when something is noted that an agent may have done.
        is_scripting: whether an event that a script made is taken for the agent's doing.
        acting: called with each event that the browser made, and what its own window did, before
            it is noted, and with what had been noted by then.
        keyed: called with keys, which are not noted.
    """

    def __init__(self, logical: Callable[[str], str | None]) -> None:
        self.logical = logical
        self.noticed: Callable[[], None] = lambda: None
        self.is_scripting: Callable[[], bool] = lambda: False
        self.acting: Acting = lambda *_: None
        self.keyed: Keyed = lambda *_: None
        self._visits: list[_NotedVisit] = []
        self._shown: dict[int, _NotedVisit] = {}
        self._acted: list[_NotedEvent] = []
        self._refused: list[RequestNote] = []
        self._dialogs: list[str] = []

    def visit(self, tab: int, visit: TabVisit) -> None:
        """Note a URL that a tab committed to, except blank pages.

        One with a `change` does not count before it is judged.
        """
        if not visit.url.startswith("about:"):
            if visit.move is not None:
                self.acting(visit.move, self._so_far())
            noted = UrlVisit(
                tab=tab,
                url=visit.url,
                logical=self.logical(visit.url),
                same_document=visit.same_document,
                status=visit.status,
                trusted=visit.change is None,
            )
            self._shown[tab] = _NotedVisit(noted, visit.change)
            self._visits.append(self._shown[tab])
            self.noticed()

    def event(self, report: EventReport, page_url: str, tab: int | None = None) -> None:
        """Note an event of a tab; one inside a frame belongs to the page around it."""
        is_trusted = report.claim is None
        if is_trusted:
            self.acting(report, self._so_far())
        if is_trusted or self.is_scripting():
            logical = self.logical(report.url or page_url)
            acted = report.acted(report.event, logical, trusted=is_trusted)
            shown = None if tab is None else self._shown.get(tab)
            self._note(_NotedEvent(acted, report.claim, logical, shown))

    def key(self, report: KeyReport) -> None:
        self.keyed(report, self._so_far())

    def _so_far(self) -> NotedSoFar:
        return NotedSoFar(len(self._visits), len(self._acted), len(self._refused))

    def act(self, event: ElementEvent, element: ElementReport, page_url: str) -> None:
        self._note(_NotedEvent(element.acted(event, self.logical(page_url))))

    async def judge_visits(self) -> bool:
        """Note who made each visit since the last drain; return whether they all count.

        What was done under an address that does not count belongs to no known page.
        """
        all_count = all([await noted.judge() for noted in self._visits])
        for noted in self._acted:
            if noted.shown is not None:
                page = noted.page if noted.shown.visit.counts else None
                noted.element = noted.element.model_copy(update={"logical": page})
        return all_count

    @property
    def has_claims(self) -> bool:
        return any(noted.claim for noted in self._acted)

    def bear_out(self, found: Mapping[str, bool]) -> bool:
        """Note which events of scripts the pages confirm, by their claims; return whether all.

        A page that was left since is not asked: the event may be what led away from it.
        """
        for noted in self._acted:
            if noted.claim is not None:
                confirmed = found.get(noted.claim, True)
                noted.element = noted.element.model_copy(update={"confirmed": confirmed})
        return all(found.get(noted.claim, True) for noted in self._acted if noted.claim is not None)

    def _note(self, noted: _NotedEvent) -> None:
        acted = noted.element
        if acted.event is ElementEvent.INPUT and self._acted:
            last = self._acted[-1].element
            if (last.event, last.path, last.logical) == (acted.event, acted.path, acted.logical):
                self._acted.pop()
        self._acted.append(noted)
        self.noticed()

    def refuse(self, method: str, url: str, reason: str) -> None:
        site = (self.logical(url) or "").partition(":")[0] or None
        note = RequestNote(method=method, url=url, site=site, may_write=True, refused=reason)
        self._refused.append(note)

    def dialog(self, line: str) -> None:
        self._dialogs.append(line)

    @property
    def dialogs(self) -> tuple[str, ...]:
        return tuple(self._dialogs)

    def is_forged(self, tab: int) -> bool:
        """Whether a tab's address is a script's doing, as far as is known."""
        shown = self._shown.get(tab)
        return shown is not None and not shown.visit.counts

    def drain(self) -> Activity:
        """Return everything noted since the last drain, and forget it."""
        activity = Activity(
            visits=tuple(noted.visit for noted in self._visits),
            acted=tuple(noted.element for noted in self._acted),
            refused=tuple(self._refused),
            dialogs=tuple(self._dialogs),
        )
        for notes in (self._visits, self._acted, self._refused, self._dialogs):
            notes.clear()
        return activity
