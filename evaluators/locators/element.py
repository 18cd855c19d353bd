"""`by: element`: the elements that the agent acted on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import ClassVar, Literal, assert_never

from evaluators.evidence import ActedElement, ElementEvent, Located, StepEvidence
from evaluators.fields import When
from evaluators.linting import LintContext, Problem, Severity
from evaluators.locators.base import ReadingLocator, Subject
from evaluators.logical_urls import is_page
from evaluators.matchers.base import Matcher
from evaluators.text import normalise


class ElementField(StrEnum):
    """What of an element acted on is read."""

    NAME = "name"
    TEXT = "text"
    VALUE = "value"
    PATH = "path"
    ROLE = "role"


class ElementLocator(ReadingLocator):
    """Yields a field of the elements acted on, as the page watcher saw them.

    Attributes:
        event: which kind of event counts.
        read: which field is yielded.
        role: only elements of this accessible role count.
        named: only elements with this accessible name count (compared exactly, case folded).
        page: only events on this logical URL (`site:/path`) count.
    """

    phases: ClassVar[frozenset[When]] = frozenset({When.STEP})
    subject: ClassVar[Subject] = Subject.PATH

    by: Literal["element"] = "element"
    event: ElementEvent
    read: ElementField = ElementField.NAME
    role: str | None = None
    named: str | None = None
    page: str | None = None

    def at_step(self, check: str, step: StepEvidence) -> Located:
        """Return the asked field of the step's events that count."""
        counted = [event for event in step.acted if self._counts(event)]
        if self.event is ElementEvent.INPUT:
            counted = _last_inputs(counted)
        values = (_field(self.read, event) for event in counted)
        return Located(check=check, values=tuple(value for value in values if value is not None))

    def absence(self) -> str:
        """Say which event did not happen."""
        where = f" on {self.page}" if self.page else ""
        name = f" named '{self.named}'" if self.named else ""
        return f"no {self.event} of {self.role or 'an element'}{name}{where}"

    def lint(self, matcher: Matcher, known: LintContext) -> Iterator[Problem]:  # noqa: ARG002 - any matcher will do
        """Yield a role that no browser gives, and a page that no visit can equal."""
        doubt = known.role_problem(self.role) if self.role is not None else None
        if doubt:
            yield Problem(("locate", "role"), doubt, Severity.WARNING)
        if self.page is not None:
            yield from known.page_to_visit(("locate", "page"), self.page, known.worlds)

    def _counts(self, event: ActedElement) -> bool:
        return (
            event.event is self.event
            and (event.trusted or event.confirmed)
            and (self.role is None or normalise(event.role) == normalise(self.role))
            and (self.named is None or normalise(event.name) == normalise(self.named))
            and (self.page is None or is_page(self.page, event.logical))
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
