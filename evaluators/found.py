"""What a check's locator found in the evidence; nothing here looks at a page or a site."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from arena_core.actions import Stop
from evaluators.checks import (
    Check,
    ElementEvent,
    ElementField,
    LocateAnswer,
    LocateApi,
    LocateDb,
    LocateDelta,
    LocateElement,
    LocatePage,
    LocateUrl,
    LocateWob,
    UrlPart,
)
from evaluators.evidence import ActedElement, Evidence, Located, StepEvidence
from evaluators.logical_urls import LogicalUrl, parse_logical_url
from evaluators.text import normalise


def found_at_step(check: Check, step: StepEvidence) -> Located:
    """Return what a key node's locator found at one step.

    URLs are those that tabs committed to in the step: a page that was open before is no visit. A
    `stop` changes no page, so it needs no record of its own.
    """
    match check.locate:
        case LocateUrl() as locate:
            return Located(
                check=check.name, values=_parts(locate, (visit.logical for visit in step.visits))
            )
        case LocateElement() as locate:
            return Located(check=check.name, values=_acted(locate, step.acted))
        case LocatePage():
            if isinstance(step.action, Stop):
                return _recorded(check, step.located) or Located(check=check.name)
            return _recorded(check, step.located) or _unlooked(check, f"step {step.index}")
        case LocateAnswer() | LocateDb() | LocateApi() | LocateDelta() | LocateWob():
            return _unlooked(check, "a single step")
        case _:
            assert_never(check.locate)


def found_at_end(check: Check, evidence: Evidence) -> Located:
    """Return what an end check's locator found when the episode was over."""
    match check.locate:
        case LocateUrl() as locate:
            last = evidence.steps[-1].logical if evidence.steps else None
            return Located(check=check.name, values=_parts(locate, (last,)))
        case LocateAnswer():
            answer = () if evidence.answer is None else (evidence.answer,)
            return Located(check=check.name, values=answer)
        case LocatePage() | LocateDb() | LocateApi() | LocateDelta() | LocateWob():
            return _recorded(check, evidence.located) or _unlooked(check, "the end")
        case LocateElement():
            return _unlooked(check, "the end")
        case _:
            assert_never(check.locate)


def found_before(check: Check, evidence: Evidence) -> Located:
    """Return what a `requires` check found before the agent started."""
    return _recorded(check, evidence.required) or _unlooked(check, "the start")


def _recorded(check: Check, records: Iterable[Located]) -> Located | None:
    return next((record for record in records if record.check == check.name), None)


def _unlooked(check: Check, when: str) -> Located:
    return Located(check=check.name, error=f"the evidence holds no record of it at {when}")


def _parts(locate: LocateUrl, logicals: Iterable[str | None]) -> tuple[str, ...]:
    """Return the asked part of every logical URL that has it."""
    addresses = (parse_logical_url(logical) for logical in logicals if logical is not None)
    return tuple(value for address in addresses for value in _part(locate, address))


def _part(locate: LocateUrl, address: LogicalUrl) -> tuple[str, ...]:
    if locate.page is not None and not _is_page(locate.page, address):
        return ()
    match locate.part:
        case UrlPart.LOGICAL:
            return (address.page,)
        case UrlPart.FULL:
            return (address.full,)
        case UrlPart.FRAGMENT:
            return () if address.fragment is None else (address.fragment,)
        case UrlPart.QUERY:
            return tuple(value for name, value in address.query if name == locate.key)
        case _:
            assert_never(locate.part)


def _acted(locate: LocateElement, events: Sequence[ActedElement]) -> tuple[str, ...]:
    """Return the asked field of the events that count."""
    counted = [event for event in events if _counts(locate, event)]
    if locate.event is ElementEvent.INPUT:
        counted = _last_inputs(counted)
    values = (_field(locate.read, event) for event in counted)
    return tuple(value for value in values if value is not None)


def _counts(locate: LocateElement, event: ActedElement) -> bool:
    return (
        event.event is locate.event
        and (locate.role is None or normalise(event.role) == normalise(locate.role))
        and (locate.named is None or normalise(event.name) == normalise(locate.named))
        and (locate.page is None or _is_page(locate.page, event.logical))
    )


def _last_inputs(events: Sequence[ActedElement]) -> list[ActedElement]:
    """Keep the last event of each element: while 12 is typed, the field holds 1 for a moment."""
    return list({(event.logical, event.path): event for event in events}.values())


def _field(read: ElementField, event: ActedElement) -> str | None:
    match read:
        case ElementField.NAME:
            return event.name
        case ElementField.TEXT:
            return event.text
        case ElementField.VALUE:
            return event.value
        case ElementField.PATH:
            return event.path
        case ElementField.ROLE:
            return event.role
        case _:
            assert_never(read)


def _is_page(wanted: str, page: LogicalUrl | str | None) -> bool:
    """Say whether a page is the one a check names; query and fragment make no difference."""
    if page is None:
        return False
    address = parse_logical_url(page) if isinstance(page, str) else page
    return normalise(parse_logical_url(wanted).page) == normalise(address.page)
