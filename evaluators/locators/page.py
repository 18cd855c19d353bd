"""`by: page`: what a selector or a script finds on a page, or the page's markup."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, JsonValue, model_validator

from arena_core.names import offered
from evaluators.episode_view import ElementProperty, EpisodeView, PageLook, PageSeen, Spelling
from evaluators.fields import PerWorld, When, by_world
from evaluators.lint import LintContext, Place, Problem
from evaluators.locators.api import ApiLocator
from evaluators.locators.base import Found, LookingLocator, Need, Subject
from evaluators.matchers.base import Matcher
from sites.fields import Strict

_OWN = "own"
_SLOT = "{}"
_NUMBER_SLOT = "{int}"

Pick = Literal["all", "first", "last", "joined"] | Annotated[int, Field(ge=1)]


class PageOfLastUrl(Strict):
    """The page of the agent's last URL, or the one above it whose path begins as a pattern says.

    Attributes:
        last_url: how the path begins, `*` for one segment: `/f/*/*/` opens the post of which the
            agent's last page is a part. A URL that does not begin so is opened as it was.
    """

    last_url: str = Field(pattern=r"^/")

    def of(self, url: str) -> str:
        parts = urlsplit(url)
        wanted = self.last_url.rstrip("/").split("/")
        found = parts.path.split("/")[: len(wanted)]
        if len(found) < len(wanted) or any(
            one not in ("*", other) for one, other in zip(wanted, found, strict=True)
        ):
            return url
        end = "/" if self.last_url.endswith("/") else ""
        return f"{parts.scheme}://{parts.netloc}{'/'.join(found)}{end}"


class PageOfApi(Strict):
    """A page that an API's answer names: the newest order's.

    Attributes:
        api: is asked as `by: api` asks; its first value counts.
        page: a logical URL; the value stands where `{}` does, as a whole number where `{int}`.
    """

    api: ApiLocator
    page: str

    @model_validator(mode="after")
    def _names_the_value(self) -> Self:
        if _SLOT not in self.page and _NUMBER_SLOT not in self.page:
            raise ValueError("`page` says with `{}` or `{int}` where the API's value stands")
        return self

    async def of(self, episode: EpisodeView) -> str | None:
        """Return the logical URL to open; None where the API has no such value."""
        values = (await self.api.look(episode)).values
        if not values:
            return None
        number = values[0].strip()
        if _NUMBER_SLOT in self.page and not number.isdecimal():
            return None
        whole = str(int(number)) if _NUMBER_SLOT in self.page else ""
        return self.page.replace(_NUMBER_SLOT, whole).replace(_SLOT, values[0])


class PageLocator(LookingLocator):
    """Yields what a CSS selector or a script finds on a page, or the page's whole markup.

    Attributes:
        at: `own` is the agent's current tab as it is; a logical URL is opened in a fresh tab with
            the episode's logins (only with `when: end`), and so is a page derived from the agent's
            last URL or from an API's answer.
        selector: CSS; every match yields one value.
        attribute: yields this attribute (`value` is the live value); the visible text if omitted.
        element_property: yields this live property instead: `checked`, `selectedIndex`.
        script: yields what an expression of JavaScript returns. It runs in an isolated world: with
            the page's DOM, without its variables and whatever it overrides, for 8 s at most.
        spelling: how that becomes text, see `Spelling`.
        html: yields the page's markup as it is now, one value.
        pick: which of the values are yielded: `all`, the `first`, the `last`, the N-th from 1, or
            all `joined` to one, with spaces.
        prep: scripts that are run before, such as a click that unfolds what is read.
        role: the fresh tab is opened as this role of the page's site, where the task has several;
            as the first if omitted.
    """

    phases: ClassVar[frozenset[When]] = frozenset(When)
    subject: ClassVar[Subject] = Subject.STATE

    by: Literal["page"] = "page"
    at: str | PageOfLastUrl | PageOfApi = _OWN
    selector: str | PerWorld[str] | None = None
    attribute: str | None = None
    element_property: ElementProperty | None = None
    script: str | None = Field(default=None, min_length=1, max_length=20_000)
    spelling: Spelling = Spelling.PLAIN
    html: bool = False
    pick: Pick = "all"
    prep: tuple[str, ...] = ()
    role: str | None = None

    @model_validator(mode="after")
    def _own_page_has_its_role(self) -> Self:
        if self.role is not None and not isinstance(self.at, str):
            message = "`role` goes with a page that is named: one that is derived has the agent's"
            raise ValueError(message)
        if self.role is not None and self._is_own:
            message = "`role` opens a page: name one with `at`; the agent's own tab has its role"
            raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _reads_one_thing(self) -> Self:
        said = [self.selector is not None, self.script is not None, self.html]
        if sum(said) != 1:
            raise ValueError("say one of `selector`, `script` and `html: true`")
        parts = [self.attribute is not None, self.element_property is not None]
        if sum(parts) > (self.selector is not None):
            message = (
                "`attribute` or `element_property` says what is read of a `selector`'s matches"
            )
            raise ValueError(message)
        if self.spelling is not Spelling.PLAIN and self.script is None:
            raise ValueError("`spelling` says how what a `script` returns becomes text")
        return self

    @property
    def needs(self) -> frozenset[Need]:
        """The agent's page as it is, or a page opened for the look."""
        if isinstance(self.at, PageOfApi):
            return frozenset({Need.FRESH_PAGE}) | self.at.api.needs
        return frozenset({Need.OWN_PAGE if self._is_own else Need.FRESH_PAGE})

    def phase_fault(self, when: When) -> str | None:
        """Say that a page opened for the look, or changed for it, is none of a step's."""
        if when is When.STEP and not self._is_own:
            return "a key node reads the agent's own page: `at: own`"
        if when is When.STEP and self.prep:
            return "`prep` would change the page that the agent goes on with: it needs `when: end`"
        return super().phase_fault(when)

    def requirement_fault(self) -> str | None:
        """Say that the agent has no page before it starts."""
        if self._is_own or isinstance(self.at, PageOfLastUrl):
            return "before the agent starts it has no page of its own: name one with `at`"
        return None

    async def look(self, episode: EpisodeView) -> Found:
        selector = self.selector
        if isinstance(selector, PerWorld):
            selector = selector.of(episode.world)
        what = PageLook(
            selector=selector,
            attribute=self.attribute,
            element_property=self.element_property,
            script=self.script,
            spelling=self.spelling,
            html=self.html,
            prep=self.prep,
        )
        data: dict[str, JsonValue] = {}
        seen = await self._seen(episode, what, data)
        return Found(self._picked(seen.values), {**data, **seen.data})

    async def _seen(
        self, episode: EpisodeView, what: PageLook, data: dict[str, JsonValue]
    ) -> PageSeen:
        match self.at:
            case PageOfLastUrl():
                url = data["page"] = self.at.of(episode.own_page.url)
                if urlsplit(url).scheme not in {"http", "https"}:
                    return PageSeen(())  # a blank tab: there is nothing to find
                return await episode.fresh_pages.look_at(url, what) or PageSeen(())
            case PageOfApi():
                page = data["page"] = await self.at.of(episode)
                if page is None:
                    return PageSeen(())
                return await episode.fresh_pages.look(page, what, None)
            case str():
                if self._is_own:
                    return await episode.own_page.look(what)
                return await episode.fresh_pages.look(self.at, what, self.role)

    def _picked(self, values: tuple[str, ...]) -> tuple[str, ...]:
        match self.pick:
            case "all":
                return values
            case "joined":
                return (" ".join(values),) if values else ()
            case "first":
                return values[:1]
            case "last":
                return values[-1:]
            case number:
                return values[number - 1 : number]

    def absence(self) -> str:
        if self.selector is None:
            return "the script found nothing on the page" if self.script else "there is no page"
        return "nothing on the page fits the selector"

    def lint(self, matcher: Matcher, known: LintContext) -> Iterator[Problem]:
        """Yield selectors that are not CSS, roles the task does not have, pages nobody can open."""
        for at, selector in self._selectors():
            fault = known.selector_problem(selector)
            if fault:
                yield Problem(at, fault)
        if isinstance(self.at, PageOfApi):
            for problem in self.at.api.lint(matcher, known):
                at = problem.at
                yield replace(problem, at=("locate", "at", "api", *at[1:]) if at else at)
            asked = self.at.page.replace(_NUMBER_SLOT, "1").replace(_SLOT, "1")
            yield from known.page_to_open(("locate", "at", "page"), asked)
        if self._is_own or not isinstance(self.at, str):
            return
        yield from known.page_to_open(("locate", "at"), self.at)
        site = self.at.partition(":")[0]
        roles = known.roles_of(site)
        if self.role is not None and self.role not in roles:
            known_roles = offered(self.role, roles, intro="it has")
            message = f"the task has no role '{self.role}' on '{site}'; {known_roles}"
            yield Problem(("locate", "role"), message)

    @property
    def _is_own(self) -> bool:
        return self.at == _OWN

    def _selectors(self) -> Iterator[tuple[Place, str]]:
        for world, selector in by_world(self.selector):
            if selector is not None:
                at = ("locate", "selector")
                yield at if world is None else (*at, world.value), selector


class MiniWobLocator(LookingLocator):
    """Yields the raw reward that a MiniWoB++ page ended the episode with; nothing before that.

    Raw: as the page gave it, without the decay by time.
    """

    subject: ClassVar[Subject] = Subject.REWARD

    by: Literal["wob"] = "wob"

    @property
    def needs(self) -> frozenset[Need]:
        """The page's own judgement."""
        return frozenset({Need.REWARD})

    def requirement_fault(self) -> str:
        """Say that there is no reward before the agent starts."""
        return "before the agent starts no page has given a reward"

    async def look(self, episode: EpisodeView) -> Found:
        raw = await episode.reward()
        return Found(() if raw is None else (repr(raw),))

    def absence(self) -> str:
        """Say that the page had not judged yet."""
        return "the page had not ended the episode"
