"""`by: page`: what a CSS selector finds on a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal, Self

from pydantic import model_validator

from arena_core.worlds import World
from evaluators.episode_view import EpisodeView
from evaluators.fields import PerWorld, When
from evaluators.linting import LintContext, Place, Problem
from evaluators.locators.base import Found, LookingLocator, Need, Subject
from evaluators.matchers.base import Matcher

_OWN = "own"


class PageLocator(LookingLocator):
    """Yields what a CSS selector finds on a page.

    Attributes:
        at: `own` is the agent's current tab as it is; a logical URL is opened in a fresh tab with
            the episode's logins (only with `when: end`).
        selector: CSS; every match yields one value.
        attribute: yields this attribute (`value` is the live value); the visible text if omitted.
        role: the fresh tab is opened as this role of the page's site, where the task has several;
            as the first if omitted.
    """

    phases: ClassVar[frozenset[When]] = frozenset(When)
    subject: ClassVar[Subject] = Subject.STATE

    by: Literal["page"] = "page"
    at: str = _OWN
    selector: str | PerWorld[str]
    attribute: str | None = None
    role: str | None = None

    @model_validator(mode="after")
    def _own_page_has_its_role(self) -> Self:
        if self.role is not None and self._is_own:
            message = "`role` opens a page: name one with `at`; the agent's own tab has its role"
            raise ValueError(message)
        return self

    @property
    def needs(self) -> frozenset[Need]:
        """The agent's page as it is, or a page opened for the look."""
        return frozenset({Need.OWN_PAGE if self._is_own else Need.FRESH_PAGE})

    def phase_fault(self, when: When) -> str | None:
        """Say that a page opened for the look is none of a step's."""
        if when is When.STEP and not self._is_own:
            return "a key node reads the agent's own page: `at: own`"
        return super().phase_fault(when)

    def requirement_fault(self) -> str | None:
        """Say that the agent has no page before it starts."""
        if self._is_own:
            return "before the agent starts it has no page of its own: name one with `at`"
        return None

    async def look(self, episode: EpisodeView) -> Found:
        """Read the page."""
        selector = self.selector
        if isinstance(selector, PerWorld):
            selector = selector.of(episode.world)
        if self._is_own:
            return Found(await episode.own_page.read(selector, self.attribute))
        pages = episode.fresh_pages
        return Found(await pages.read(self.at, selector, self.attribute, self.role))

    def absence(self) -> str:
        """Say that no element fits."""
        return "nothing on the page fits the selector"

    def lint(self, matcher: Matcher, known: LintContext) -> Iterator[Problem]:  # noqa: ARG002 - any matcher will do
        """Yield selectors that are not CSS, roles the task does not have, pages nobody can open."""
        for at, selector in self._selectors():
            fault = known.selector_problem(selector)
            if fault:
                yield Problem(at, fault)
        if self._is_own:
            return
        yield from known.page_to_open(("locate", "at"), self.at)
        site = self.at.partition(":")[0]
        roles = known.roles_of(site)
        if self.role is not None and self.role not in roles:
            there = ", ".join(roles) or "none"
            message = f"the task has no role '{self.role}' on '{site}'; it has: {there}"
            yield Problem(("locate", "role"), message)

    @property
    def _is_own(self) -> bool:
        return self.at == _OWN

    def _selectors(self) -> Iterator[tuple[Place, str]]:
        at = ("locate", "selector")
        if isinstance(self.selector, PerWorld):
            yield from (((*at, world.value), self.selector.of(world)) for world in World)
        else:
            yield at, self.selector
