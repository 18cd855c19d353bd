"""What an episode offers to the locators that look while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol

from pydantic import JsonValue

from arena_core.worlds import World
from evaluators.changes import Change, IgnoredChanges


class ElementProperty(StrEnum):
    """A live property of an element, which no attribute shows."""

    VALUE = "value"
    CHECKED = "checked"
    SELECTED_INDEX = "selectedIndex"
    TEXT_CONTENT = "textContent"
    OUTER_HTML = "outerHTML"


class Spelling(StrEnum):
    """How what a script returns becomes text.

    `plain`: text stands as it is, each element of an array is a value, null and undefined are none,
    anything else is JSON; a script that throws finds nothing.

    `python`: one value, `str(page.evaluate(script))` of Playwright for Python, as WebArena compares
    it: `None`, `True`, `nan`, `['a', 1]`; empty where the script throws.
    """

    PLAIN = "plain"
    PYTHON = "python"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLook:
    """What is read of a page: a selector's matches, what a script returns, or the whole markup.

    Attributes:
        selector: CSS; each match yields its visible text, its `attribute` or `element_property`.
        script: an expression of JavaScript, evaluated in an isolated world: the page's DOM, and
            nothing of its variables and of what it overrides. A function is called, and a promise
            awaited.
        html: the document's markup as it is now, as Playwright's `page.content()` gives it.
        prep: scripts that are evaluated before, in their order; what they throw is passed over.
    """

    selector: str | None = None
    attribute: str | None = None
    element_property: ElementProperty | None = None
    script: str | None = None
    spelling: Spelling = Spelling.PLAIN
    html: bool = False
    prep: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PageSeen:
    """What was read: values, and what else is kept of the look, such as what a script threw.

    `status` is that of a page which was opened for the look; None where it is not known.
    """

    values: tuple[str, ...]
    data: Mapping[str, JsonValue] = field(default_factory=dict)
    status: int | None = None


class HttpAnswer(NamedTuple):
    """What a site answered to a GET.

    Attributes:
        url: that was asked for, as messages name it.
    """

    url: str
    status: int
    body: str


class Ran(NamedTuple):
    """What a command in a replica left: exit code, what it printed, what it complained of."""

    exit_code: int
    output: str
    errors: str


class OwnPage(Protocol):
    """The agent's current tab as the agent left it."""

    @property
    def url(self) -> str:
        """Its URL, as the browser shows it."""

    async def look(self, what: PageLook) -> PageSeen:
        """Read it."""

    async def read(self, selector: str, attribute: str | None) -> tuple[str, ...]:
        """Return what a CSS selector finds: visible text, or an attribute, one value a match."""


class FreshPages(Protocol):
    """Pages that are opened beside the agent's, with the episode's logins."""

    async def look(self, page: str, what: PageLook, role: str | None) -> PageSeen:
        """Read a page opened in a fresh tab, as `OwnPage.look`.

        Args:
            page: logical URL.
            role: of the page's site, in whose context it is opened; the first where None.
        """

    async def look_at(self, url: str, what: PageLook) -> PageSeen | None:
        """Read the page at a URL that comes from what the agent did, as `look`.

        Returns:
            None where it leads nowhere.
        """

    async def read(
        self, page: str, selector: str, attribute: str | None, role: str | None
    ) -> tuple[str, ...]:
        """Return what a CSS selector finds on a page opened in a fresh tab, as `OwnPage.read`.

        Args:
            page: logical URL.
            attribute: read in place of the visible text.
            role: of the page's site, in whose context it is opened; the first where None.
        """

    async def get(self, page: str) -> HttpAnswer:
        """Return what a GET of a logical URL answers, redirects followed."""


class DatabaseAccess(Protocol):
    """What only the database and the files behind a site can answer."""

    async def query(self, site: str, sql: str) -> tuple[tuple[object, ...], ...]:
        """Return the rows of one SELECT by the site's read-only account."""

    async def changes(self, site: str, ignored: IgnoredChanges) -> tuple[Change, ...]:
        """Return what differs from the state that the replica was golden in."""


class ApiAccess(Protocol):
    """What a site's own HTTP API answers."""

    async def get(self, site: str, role: str, path: str) -> HttpAnswer:
        """Return what the API answers to a GET with a role's API login, whatever its status.

        Args:
            role: one with an API login in the site's manifest.
            path: logical path and query.
        """


class EpisodeView(Protocol):
    """An episode as a locator sees it, at a step or when it is over."""

    @property
    def world(self) -> World:
        """The world that the episode is played in."""

    @property
    def own_page(self) -> OwnPage:
        """The agent's current tab."""

    @property
    def fresh_pages(self) -> FreshPages:
        """Pages opened beside the agent's."""

    @property
    def databases(self) -> DatabaseAccess:
        """What is behind the sites of the episode."""

    @property
    def apis(self) -> ApiAccess:
        """The APIs of the sites, asked with their own logins."""

    async def shell(self, site: str, command: str, seconds: int) -> Ran:
        """Run a command in a replica, by the image's own user, only to read.

        Args:
            site: its name.
            command: for `sh -c`.
            seconds: how long it may take.

        Raises:
            TaskError: it took longer, printed too much, or changed the replica.
            SiteError: no replica answers for the site.
        """

    async def python(
        self, function: str, arguments: Mapping[str, JsonValue], seconds: int
    ) -> tuple[str, ...]:
        """Call a registered function with the evidence, in a process of its own.

        Args:
            function: its name in the entry-point group `arena.functions`.
            arguments: handed to it.
            seconds: how long it may take.

        Raises:
            TaskError: it is not registered, raised, took longer, or returned no values.
        """

    async def reward(self) -> float | None:
        """Return the raw reward that the task's own page gave; None where it gave none yet.

        Raises:
            TaskError: the task's page gives no rewards.
        """
