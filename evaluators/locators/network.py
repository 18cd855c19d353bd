"""`by: network`: the requests that the browser sent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from arena_core.worlds import World
from evaluators.evidence import Evidence, Located
from evaluators.lint import LintContext, Problem, Severity, site_problems
from evaluators.locators.base import ReadingLocator, Subject
from evaluators.locators.request_parts import (
    WHOLE,
    CameFrom,
    Fits,
    PageFit,
    RequestPart,
    brought_about,
    fits,
    fits_page,
    fits_query,
    lint_fit,
    read_part,
    referer_of,
    without_hidden_query,
)
from evaluators.matchers.base import Matcher
from evaluators.matchers.regex import RegexMatcher
from evaluators.network import NotKeptError, Recording, RequestRecord
from evaluators.values.json_path import json_path_fault
from evaluators.values.logical_urls import parse_logical_url
from evaluators.values.text import as_text

_FIRST_ERROR: Final = 400
_SITE: Final = re.compile(r"([a-z][a-z0-9-]*):")

_WRITES: Final = ("POST", "PUT", "PATCH", "DELETE")
_OF_ANSWERS: Final = frozenset(
    {
        RequestPart.STATUS,
        RequestPart.RESPONSE,
        RequestPart.RESPONSE_HEADER,
        RequestPart.RESPONSE_COOKIE,
    }
)

Status = Annotated[int, Field(ge=100, le=599)]

_PARTS: Final = {
    "query": RequestPart.QUERY,
    "headers": RequestPart.HEADER,
    "cookies": RequestPart.COOKIE,
    "response_headers": RequestPart.RESPONSE_HEADER,
    "response_cookies": RequestPart.RESPONSE_COOKIE,
    "body": RequestPart.BODY,
    "response": RequestPart.RESPONSE,
}


class NetworkLocator(ReadingLocator):
    """Yields something of the requests of the episode that fit all that is said here.

    They are those of the agent's pages, frames and workers, start pages included; not what Arena
    asks for itself. Expected values are compared exactly, numbers as JSON writes them; `"*"` alone
    is any value, null is JSON's. In the place of a value may stand a match (`{how: regex, …}`) of
    all the values that the part has; `{how: exact, value: []}` asks that there is none.

    Attributes:
        url: `site:/path`, `*` in the path for any letters; without query, percent-decoded. Or a
            match of it.
        method: any if omitted.
        status: of the answer; below 400 if omitted: what a site refused had no effect. A request
            without an answer fits `any` alone.
        blocked: the final request of a write that is stopped where a site is visited live: the last
            one of this `url` and `method` that the agent brought about, stopped or answered. One
            that was stopped counts nowhere else.
        last: only the last of the requests of this `url` and `method`, from this page, counts.
        came_from: the page that it was sent from.
        query: by name, one of its values in the URL.
        other_query: further parameters that the URL may have, `*` for any letters; any if omitted.
            Empty ones never matter.
        query_in_path: parts of the path that are a query in Base64 are read as the URL's query.
        headers, response_headers: by name in small letters.
        cookies, response_cookies: by name; those that were sent, and those that were set.
        body: by name of a form's field, URL-encoded or multipart, `*` for any letters; of a JSON
            body by path (RFC 9535, its leading `$.` may be omitted). A path that begins with `$`
            leads into JSON in a form's fields too.
        response: of a JSON answer, by path; recorded only where a check asks for it.
        read: what is yielded of the requests that fit.
        key: the name or path that `read` needs.
    """

    subject: ClassVar[Subject] = Subject.PATH

    by: Literal["network"] = "network"
    url: PageFit
    method: str | None = None
    status: Literal["any"] | Status | tuple[Status, ...] | None = None
    blocked: bool = Field(default=False, exclude_if=lambda value: not value)
    last: bool = Field(default=False, exclude_if=lambda value: not value)
    query: Fits = Field(default_factory=dict)
    other_query: tuple[str, ...] | None = Field(default=None, exclude_if=lambda one: one is None)
    came_from: CameFrom | None = Field(default=None, exclude_if=lambda one: one is None)
    query_in_path: bool = Field(default=False, exclude_if=lambda value: not value)
    headers: Fits = Field(default_factory=dict)
    cookies: Fits = Field(default_factory=dict)
    body: Fits = Field(default_factory=dict)
    response_headers: Fits = Field(default_factory=dict)
    response_cookies: Fits = Field(default_factory=dict)
    response: Fits = Field(default_factory=dict)
    read: RequestPart = RequestPart.COUNT
    key: str | None = None

    @model_validator(mode="after")
    def _key_fits_part(self) -> Self:
        if (self.read in WHOLE) is not (self.key is None):
            message = "`key` names what `read` yields of a query, header, cookie, body or response"
            raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _can_be_stopped(self) -> Self:
        if not self.blocked:
            return self
        if self.method is None or self.method.upper() not in _WRITES:
            raise ValueError(f"`blocked` needs the `method` of a write: {', '.join(_WRITES)}")
        answers = (self.status, self.response, self.response_headers, self.response_cookies)
        if any(answers) or self.read in _OF_ANSWERS:
            raise ValueError("a request that is `blocked` has no answer: ask nothing of that")
        return self

    @property
    def is_write(self) -> bool:
        """Whether it is a request with a method that may write."""
        return self.method is not None and self.method.upper() in _WRITES

    @property
    def records(self) -> frozenset[Recording]:
        """The requests, and what was answered where it is asked for."""
        if self.response or self.read is RequestPart.RESPONSE:
            return frozenset(Recording)
        return frozenset({Recording.REQUESTS})

    def at_end(self, check: str, evidence: Evidence) -> Located:
        if evidence.network is None:
            message = "the evidence holds no requests: they were not recorded"
            return Located(check=check, error=message)
        if evidence.network_fault is not None:
            message = f"not all requests are in the evidence: {evidence.network_fault}"
            return Located(check=check, error=message)
        found = tuple(one for one in evidence.network if self.blocked or one.blocked is None)
        if self.query_in_path:
            found = tuple(map(without_hidden_query, found))
        try:
            named = [one for one in found if self._is_named(one, evidence.world)]
            if self.blocked:
                named = [one for one in named if brought_about(one, evidence.steps)]
            counting = named[-1:] if self.last or self.blocked else named
            fitting = [one for one in counting if self._fits(one, evidence.world)]
            return Located(check=check, values=tuple(self._values(fitting)))
        except NotKeptError as error:
            return Located(check=check, error=str(error))

    def absence(self) -> str:
        page = self.url if isinstance(self.url, str) else "such a URL"
        if self.blocked:
            return f"the agent's last {self.method} to {page}, if any, is not as described"
        return f"no answered {self.method or 'request'} to {page} as described"

    def lint(self, matcher: Matcher, known: LintContext) -> Iterator[Problem]:  # noqa: ARG002 - any matcher will do
        """Yield a URL of no site or with a query, and paths that cannot be read."""
        if isinstance(self.url, str):
            yield from site_problems(known, self.url.partition(":")[0], "url")
            if parse_logical_url(self.url).query or "#" in self.url:
                message = f"'{self.url}' has more than a path: say `query`"
                yield Problem(("locate", "url"), message)
        elif isinstance(self.url, RegexMatcher):
            for named in filter(None, map(_SITE.match, self.url.patterns)):
                yield from site_problems(known, named[1], "url")
        yield from lint_fit(self.url, ("locate", "url"), known)
        if self.blocked:
            yield from self._lint_blocked(known)
        for name in self.response:
            fault = json_path_fault(name)
            if fault:
                yield Problem(("locate", "response", name), fault)
        for field, asked in self._asked.items():
            for name, wanted in asked.items():
                yield from lint_fit(wanted, ("locate", field, name), known)

    def _lint_blocked(self, known: LintContext) -> Iterator[Problem]:
        """Yield that nothing can be stopped, or that a request without content would do."""
        at = ("locate", "blocked")
        named = _SITE.match(self.url) if isinstance(self.url, str) else None
        asked = [named[1]] if named else list(known.task_sites)
        manifests = [known.sites[name] for name in asked if name in known.sites]
        if manifests and all(one.live is None for one in manifests):
            names = ", ".join(f"'{one.name}'" for one in manifests)
            yield Problem(at, f"nothing is stopped on {names}: there is no live origin")
        elif World.ONLINE not in known.worlds:
            yield Problem(at, "nothing is stopped offline: omit it, or let the check apply online")
        if not (self.body or self.query):
            message = "says nothing of what is sent, so an empty request would do: say `body`"
            yield Problem(at, message, Severity.WARNING)

    @property
    def _asked(self) -> dict[str, Fits]:
        """What is asked of parts that have names, by field."""
        return {
            "query": self.query,
            "headers": self.headers,
            "cookies": self.cookies,
            "response_headers": self.response_headers,
            "response_cookies": self.response_cookies,
            "body": self.body,
            "response": self.response,
        }

    def _is_named(self, one: RequestRecord, world: World) -> bool:
        """Whether it is a request of this URL and method; and from a page that is asked for."""
        if one.logical is None or (self.method is not None and one.method != self.method.upper()):
            return False
        if not fits_page(one.logical, self.url, world):
            return False
        page = None if self.came_from is None else referer_of(one)
        return self.came_from is None or page is None or fits_page(page, self.came_from.url, world)

    def _fits(self, one: RequestRecord, world: World) -> bool:
        if not self._answered(one):
            return False
        asked = self._asked
        is_more = self.other_query is not None or self.came_from is not None
        if not one.is_whole and (is_more or any(asked.values())):
            raise NotKeptError(f"of {one.method} {one.url} only method, path and status are known")
        return (
            fits_query(one.logical or "", self.query, self.other_query, world)
            and self._came_from(one, world)
            and all(
                fits(read_part(_PARTS[field], one, name), wanted, world)
                for field, texts in asked.items()
                for name, wanted in texts.items()
            )
        )

    def _came_from(self, one: RequestRecord, world: World) -> bool:
        wanted = self.came_from
        if wanted is None:
            return True
        page = referer_of(one)
        if page is None or not fits_page(page, wanted.url, world):
            return False
        return fits_query(page, wanted.query, wanted.other_query, world)

    def _answered(self, one: RequestRecord) -> bool:
        if self.status == "any" or one.blocked is not None:
            return True
        if one.status is None:
            return False
        match self.status:
            case None:
                return one.status < _FIRST_ERROR
            case int():
                return one.status == self.status
            case _:
                return one.status in self.status

    def _values(self, fitting: list[RequestRecord]) -> Iterator[str]:
        if self.read is RequestPart.COUNT:
            yield str(len(fitting))
        elif self.read is RequestPart.FOUND:
            yield as_text(bool(fitting))
        else:
            for one in fitting:
                if not one.is_whole and self.key is not None:
                    message = f"of {one.method} {one.url} only method, path and status are known"
                    raise NotKeptError(message)
                yield from read_part(self.read, one, self.key or "")
