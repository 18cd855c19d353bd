"""`by: element`: the elements that the agent acted on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import ClassVar, Literal, Self, assert_never

from pydantic import Field, model_validator

from evaluators.evidence import ActedElement, ElementEvent, Located, SelectorFit, StepEvidence
from evaluators.fields import When
from evaluators.lint import LintContext, Problem, Severity, site_problems
from evaluators.locators.base import ReadingLocator, Subject
from evaluators.matchers.base import Matcher
from evaluators.values.logical_urls import is_page
from evaluators.values.text import normalise


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
        site: only events on this site's pages count.
        selector: only elements count that this CSS selector finds on the page at that moment.
        ancestors: or that are one of the so many nearest ancestors of one that it finds.
    """

    phases: ClassVar[frozenset[When]] = frozenset({When.STEP})
    subject: ClassVar[Subject] = Subject.PATH

    by: Literal["element"] = "element"
    event: ElementEvent
    read: ElementField = ElementField.NAME
    role: str | None = None
    named: str | None = None
    page: str | None = None
    site: str | None = None
    selector: str | None = Field(default=None, min_length=1)
    ancestors: int = Field(default=0, ge=0, le=20)

    @model_validator(mode="after")
    def _ancestors_of_what_a_selector_finds(self) -> Self:
        if self.ancestors and self.selector is None:
            raise ValueError("`ancestors` are those of the elements that a `selector` finds")
        return self

    @property
    def watches(self) -> frozenset[str]:
        """The selector, if there is one."""
        return frozenset() if self.selector is None else frozenset({self.selector})

    def at_step(self, check: str, step: StepEvidence) -> Located:
        """Return the asked field of the step's events that count."""
        counted = [event for event in step.acted if self._counts(event)]
        if self.selector is not None:
            fits = [_fit(event, self.selector) for event in counted]
            if None in fits:
                message = "the evidence does not say which elements fit its selector"
                return Located(check=check, error=message)
            counted = [
                event for event, fit in zip(counted, fits, strict=True) if self._is_near(fit)
            ]
        if self.event is ElementEvent.INPUT:
            counted = _last_inputs(counted)
        values = (_field(self.read, event) for event in counted)
        return Located(check=check, values=tuple(value for value in values if value is not None))

    def absence(self) -> str:
        """Say which event did not happen."""
        place = self.page or self.site
        where = f" on {place}" if place else ""
        name = f" named '{self.named}'" if self.named else ""
        fits = f" at '{self.selector}'" if self.selector else ""
        return f"no {self.event} of {self.role or 'an element'}{name}{fits}{where}"

    def lint(self, matcher: Matcher, known: LintContext) -> Iterator[Problem]:  # noqa: ARG002 - any matcher will do
        """Yield a role that no browser gives, and a page that no visit can equal."""
        doubt = known.role_problem(self.role) if self.role is not None else None
        if doubt:
            yield Problem(("locate", "role"), doubt, Severity.WARNING)
        if self.page is not None:
            yield from known.page_to_visit(("locate", "page"), self.page, known.worlds)
        if self.site is not None:
            yield from site_problems(known, self.site)
        fault = None if self.selector is None else known.selector_problem(self.selector)
        if fault:
            yield Problem(("locate", "selector"), fault)

    def _counts(self, event: ActedElement) -> bool:
        return (
            event.event is self.event
            and (event.trusted or event.confirmed)
            and (self.role is None or normalise(event.role) == normalise(self.role))
            and (self.named is None or normalise(event.name) == normalise(self.named))
            and (self.page is None or is_page(self.page, event.logical))
            and (self.site is None or (event.logical or "").partition(":")[0] == self.site)
        )

    def _is_near(self, fit: SelectorFit | None) -> bool:
        return fit is not None and fit.distance is not None and fit.distance <= self.ancestors


def _fit(event: ActedElement, selector: str) -> SelectorFit | None:
    return next((one for one in event.fits if one.selector == selector), None)


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
