"""What a session notes between two drains: visits, acted elements, refusals, dialogs."""

from __future__ import annotations

from collections.abc import Callable
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


class SessionJournal:
    """Collects activity; `logical` maps a URL to its logical form."""

    def __init__(self, logical: Callable[[str], str | None]) -> None:
        self._logical = logical
        self._visits: list[UrlVisit] = []
        self._acted: list[ActedElement] = []
        self._refused: list[RequestNote] = []
        self._dialogs: list[str] = []

    def visit(self, tab: int, url: str, *, same_document: bool) -> None:
        """Note a URL that a tab committed to; blank pages are no visits."""
        if not url.startswith("about:"):
            visit = UrlVisit(
                tab=tab, url=url, logical=self._logical(url), same_document=same_document
            )
            self._visits.append(visit)

    def event(self, report: EventReport, page_url: str) -> None:
        """Note a trusted event; one inside a frame belongs to the page around it."""
        self.act(report.event, report, report.url or page_url)

    def act(self, event: ElementEvent, element: ElementReport, page_url: str) -> None:
        """Note that something was done to an element."""
        acted = element.acted(event, self._logical(page_url))
        if event is ElementEvent.INPUT and self._acted:
            last = self._acted[-1]
            if (last.event, last.path, last.logical) == (event, acted.path, acted.logical):
                self._acted.pop()
        self._acted.append(acted)

    def refuse(self, method: str, url: str, reason: str) -> None:
        """Note a request that was not sent."""
        site = (self._logical(url) or "").partition(":")[0] or None
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
            acted=tuple(self._acted),
            refused=tuple(self._refused),
            dialogs=tuple(self._dialogs),
        )
        for notes in (self._visits, self._acted, self._refused, self._dialogs):
            notes.clear()
        return activity
