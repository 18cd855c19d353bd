"""What a session notes between two drains: visits, acted elements, refusals, dialogs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from evaluators.evidence import ActedElement, ElementEvent, RequestNote, UrlVisit
from orchestrator.browser.watcher import ElementReport, EventReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """What happened since the drain before, each kind in its order.

    Attributes:
        visits: URLs that tabs committed to; of redirects the last one only.
        acted: trusted events on elements. Successive inputs into one element count as the last.
        refused: requests that were not sent.
        dialogs: dialogs that the session answered, a line each.
    """

    visits: tuple[UrlVisit, ...] = ()
    acted: tuple[ActedElement, ...] = ()
    refused: tuple[RequestNote, ...] = ()
    dialogs: tuple[str, ...] = ()


@dataclass(slots=True)
class _Noted:
    """An event, and by what claim the page is asked whether it bears it out."""

    element: ActedElement
    claim: str | None = None


class SessionJournal:
    """Collects activity.

    Attributes:
        logical: maps a URL to its logical form.
        noticed: called when something is noted that an agent may have done.
        is_scripting: whether an event that a script made is taken for the agent's doing.
    """

    def __init__(self, logical: Callable[[str], str | None]) -> None:
        self.logical = logical
        self.noticed: Callable[[], None] = lambda: None
        self.is_scripting: Callable[[], bool] = lambda: False
        self._visits: list[UrlVisit] = []
        self._acted: list[_Noted] = []
        self._refused: list[RequestNote] = []
        self._dialogs: list[str] = []

    def visit(self, tab: int, url: str, *, same_document: bool, status: int | None = None) -> None:
        """Note a URL that a tab committed to; blank pages are no visits."""
        if not url.startswith("about:"):
            visit = UrlVisit(
                tab=tab,
                url=url,
                logical=self.logical(url),
                same_document=same_document,
                status=status,
            )
            self._visits.append(visit)
            self.noticed()

    def event(self, report: EventReport, page_url: str) -> None:
        """Note an event; one inside a frame belongs to the page around it."""
        if report.claim is None:
            self.act(report.event, report, report.url or page_url)
        elif self.is_scripting():
            logical = self.logical(report.url or page_url)
            self._note(report.acted(report.event, logical, trusted=False), report.claim)

    def act(self, event: ElementEvent, element: ElementReport, page_url: str) -> None:
        """Note that something was done to an element."""
        self._note(element.acted(event, self.logical(page_url)), None)

    @property
    def has_claims(self) -> bool:
        """Whether events of scripts are noted."""
        return any(noted.claim for noted in self._acted)

    def bear_out(self, found: Mapping[str, bool]) -> bool:
        """Write down which events of scripts the pages bear out, by their claims.

        A page that was left since is asked no more: the event may be what led away from it.

        Returns:
            Whether they bear out all.
        """
        for noted in self._acted:
            if noted.claim is not None:
                confirmed = found.get(noted.claim, True)
                noted.element = noted.element.model_copy(update={"confirmed": confirmed})
        return all(found.get(noted.claim, True) for noted in self._acted if noted.claim is not None)

    def _note(self, acted: ActedElement, claim: str | None) -> None:
        if acted.event is ElementEvent.INPUT and self._acted:
            last = self._acted[-1].element
            if (last.event, last.path, last.logical) == (acted.event, acted.path, acted.logical):
                self._acted.pop()
        self._acted.append(_Noted(acted, claim))
        self.noticed()

    def refuse(self, method: str, url: str, reason: str) -> None:
        """Note a request that was not sent."""
        site = (self.logical(url) or "").partition(":")[0] or None
        note = RequestNote(method=method, url=url, site=site, may_write=True, refused=reason)
        self._refused.append(note)

    def dialog(self, line: str) -> None:
        """Note a dialog."""
        self._dialogs.append(line)

    @property
    def dialogs(self) -> tuple[str, ...]:
        """The dialogs since the last drain."""
        return tuple(self._dialogs)

    def drain(self) -> Activity:
        """Return everything noted since the last drain, and forget it."""
        activity = Activity(
            visits=tuple(self._visits),
            acted=tuple(noted.element for noted in self._acted),
            refused=tuple(self._refused),
            dialogs=tuple(self._dialogs),
        )
        for notes in (self._visits, self._acted, self._refused, self._dialogs):
            notes.clear()
        return activity
