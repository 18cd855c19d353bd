"""`by: api`: values of a site's JSON answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import ClassVar, Literal

from arena_core.errors import ApiError
from evaluators.episode_view import EpisodeView
from evaluators.lint import LintContext, Problem, site_problems, unanswered
from evaluators.locators.base import Found, LookingLocator, Need, Subject
from evaluators.matchers.base import Matcher
from evaluators.values.json_path import JsonPathError, json_path_fault, read_json_path
from evaluators.values.text import as_text
from sites.upstreams import api_login_fault

_OK = 200


class ApiLocator(LookingLocator):
    """Yields values of a site's JSON answer.

    Attributes:
        path: logical path and query, fetched by GET with the episode's logins in the browser.
        role: asked with this role's API login instead (`Role.api` of the manifest), which only a
            replica has: a task that runs online limits the check by `worlds` where the site has a
            live origin.
        json_path: JSONPath (RFC 9535), its leading `$.` may be omitted: `items[0].id`; the whole
            body as text where omitted.
    """

    subject: ClassVar[Subject] = Subject.STATE

    by: Literal["api"] = "api"
    site: str
    path: str
    role: str | None = None
    json_path: str | None = None

    @property
    def needs(self) -> frozenset[Need]:
        """The logins in the browser, or an API login."""
        return frozenset({Need.FRESH_PAGE if self.role is None else Need.API})

    def requirement_fault(self) -> None:
        """An API can be asked at any time."""

    async def look(self, episode: EpisodeView) -> Found:
        if self.role is None:
            answer = await episode.fresh_pages.get(f"{self.site}:{self.path}")
        else:
            answer = await episode.apis.get(self.site, self.role, self.path)
        if answer.status != _OK:
            message = f"site '{self.site}': GET {answer.url} answered {answer.status}, wanted {_OK}"
            raise ApiError(message)
        if self.json_path is None:
            return Found((answer.body,))
        try:
            values = read_json_path(json.loads(answer.body), self.json_path)
        except (ValueError, JsonPathError) as error:
            message = f"site '{self.site}': the answer to GET {answer.url} cannot be read: {error}"
            raise ApiError(message) from error
        return Found(tuple(map(as_text, values)))

    def absence(self) -> str:
        return f"nothing found in {self.site}:{self.path}"

    def lint(self, matcher: Matcher, known: LintContext) -> Iterator[Problem]:  # noqa: ARG002 - any matcher will do
        """Yield a path that cannot be opened or read, and a login that the site does not have."""
        yield from site_problems(known, self.site)
        yield from known.page_to_open(("locate", "path"), f"{self.site}:{self.path}")
        fault = None if self.json_path is None else json_path_fault(self.json_path)
        if fault:
            yield Problem(("locate", "json_path"), fault)
        if self.role is not None:
            has_login = partial(api_login_fault, role=self.role)
            yield from unanswered(known, self.site, has_login, field="role")
