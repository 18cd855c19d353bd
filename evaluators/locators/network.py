"""`by: network`: the requests that the browser sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import Field, JsonValue, model_validator

from evaluators.evidence import Evidence, Located
from evaluators.json_path import JsonPathError, json_path_fault, read_json_path
from evaluators.linting import LintContext, Problem, site_problems
from evaluators.locators.base import ReadingLocator, Subject
from evaluators.logical_urls import parse_logical_url
from evaluators.matchers.base import Matcher
from evaluators.network import (
    NotKeptError,
    Recording,
    RequestRecord,
    UnreadableError,
    answer_json,
    body_fields,
    body_json,
    cookies_sent,
    cookies_set,
    reveals,
)
from evaluators.values import as_text

_ANY: Final = "*"
_FIRST_ERROR: Final = 400

Texts = dict[str, str | int | float | bool | None]
Status = Annotated[int, Field(ge=100, le=599)]


class RequestPart(StrEnum):
    """What of the requests that fit is yielded.

    `count`: how many they are, one value. `found`: `true` or `false`, one value. Of each request:
    `url` its logical URL, `method`, `status`; `query`, `header`, `cookie`, `body`,
    `response_header`, `response_cookie` and `response` every value of the one that `key` names.
    """

    COUNT = "count"
    FOUND = "found"
    URL = "url"
    METHOD = "method"
    STATUS = "status"
    QUERY = "query"
    HEADER = "header"
    COOKIE = "cookie"
    BODY = "body"
    RESPONSE_HEADER = "response_header"
    RESPONSE_COOKIE = "response_cookie"
    RESPONSE = "response"


_WHOLE: Final = frozenset(
    {RequestPart.COUNT, RequestPart.FOUND, RequestPart.URL, RequestPart.METHOD, RequestPart.STATUS}
)


class NetworkLocator(ReadingLocator):
    """Yields something of the requests of the episode that fit all that is said here.

    They are those of the agent's pages, frames and workers, start pages included; not what Arena
    asks for itself. Expected values are compared exactly, numbers as JSON writes them; `"*"` alone
    is any value, null is JSON's.

    Attributes:
        url: `site:/path`, `*` in the path for any letters; without query, percent-decoded.
        method: any if omitted.
        status: of the answer; below 400 if omitted: what a site refused had no effect. A request
            without an answer never fits.
        query: by name, one of its values in the URL.
        headers, response_headers: by name in small letters.
        cookies, response_cookies: by name; those that were sent, and those that were set.
        body: by name of a form's field, URL-encoded or multipart; of a JSON body by path
            (RFC 9535, its leading `$.` may be left away).
        response: of a JSON answer, by path; recorded only where a check asks for it.
        read: what is yielded of the requests that fit.
        key: the name or path that `read` needs.
    """

    subject: ClassVar[Subject] = Subject.PATH

    by: Literal["network"] = "network"
    url: str
    method: str | None = None
    status: Status | tuple[Status, ...] | None = None
    query: Texts = Field(default_factory=dict)
    headers: Texts = Field(default_factory=dict)
    cookies: Texts = Field(default_factory=dict)
    body: Texts = Field(default_factory=dict)
    response_headers: Texts = Field(default_factory=dict)
    response_cookies: Texts = Field(default_factory=dict)
    response: Texts = Field(default_factory=dict)
    read: RequestPart = RequestPart.COUNT
    key: str | None = None

    @model_validator(mode="after")
    def _key_fits_part(self) -> Self:
        if (self.read in _WHOLE) is not (self.key is None):
            message = "`key` names what `read` yields of a query, header, cookie, body or response"
            raise ValueError(message)
        return self

    @property
    def records(self) -> frozenset[Recording]:
        """The requests, and what was answered where it is asked for."""
        if self.response or self.read is RequestPart.RESPONSE:
            return frozenset(Recording)
        return frozenset({Recording.REQUESTS})

    def at_end(self, check: str, evidence: Evidence) -> Located:
        """Return what is asked of the requests that fit."""
        if evidence.network is None:
            message = "the evidence holds no requests: they were not recorded"
            return Located(check=check, error=message)
        if evidence.network_fault is not None:
            message = f"not all requests are in the evidence: {evidence.network_fault}"
            return Located(check=check, error=message)
        try:
            fitting = [one for one in evidence.network if self._fits(one)]
            return Located(check=check, values=tuple(self._values(fitting)))
        except NotKeptError as error:
            return Located(check=check, error=str(error))

    def absence(self) -> str:
        """Say which request was not there."""
        return f"no answered {self.method or 'request'} to {self.url} as described"

    def lint(self, matcher: Matcher, known: LintContext) -> Iterator[Problem]:  # noqa: ARG002 - any matcher will do
        """Yield a URL of no site or with a query, and paths that cannot be read."""
        yield from site_problems(known, self.url.partition(":")[0], "url")
        if parse_logical_url(self.url).query or "#" in self.url:
            message = f"'{self.url}' has more than a path: say `query`"
            yield Problem(("locate", "url"), message)
        for name in self.response:
            fault = json_path_fault(name)
            if fault:
                yield Problem(("locate", "response", name), fault)

    def _fits(self, one: RequestRecord) -> bool:
        if one.logical is None or not self._answered(one):
            return False
        if self.method is not None and one.method != self.method.upper():
            return False
        page = parse_logical_url(one.logical).page
        if not _is_like(parse_logical_url(self.url).page, page):
            return False
        named = (
            (RequestPart.QUERY, self.query),
            (RequestPart.HEADER, self.headers),
            (RequestPart.COOKIE, self.cookies),
            (RequestPart.RESPONSE_HEADER, self.response_headers),
            (RequestPart.RESPONSE_COOKIE, self.response_cookies),
            (RequestPart.BODY, self.body),
            (RequestPart.RESPONSE, self.response),
        )
        if not one.is_whole and any(texts for _, texts in named):
            message = f"of {one.method} {one.url} only method, path and status are known"
            raise NotKeptError(message)
        return all(
            any(_is(found, wanted) for found in _READERS[part](one, name))
            for part, texts in named
            for name, wanted in texts.items()
        )

    def _answered(self, one: RequestRecord) -> bool:
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
                yield from _READERS[self.read](one, self.key or "")


def _is_like(pattern: str, text: str) -> bool:
    """Say whether a text is like a pattern in which `*` stands for any letters."""
    first, *others = pattern.split(_ANY)
    if not others:
        return text == pattern
    *middle, last = others
    if not (text.startswith(first) and text.endswith(last)):
        return False
    at, end = len(first), len(text) - len(last)
    for part in middle:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return at <= end


def _is(found: str, wanted: str | float | bool | None) -> bool:  # noqa: FBT001 - a value
    if wanted == _ANY:
        return True
    return reveals(found, wanted if isinstance(wanted, str) else as_text(wanted))


def _of(named: Mapping[str, str], name: str) -> tuple[str, ...]:
    return (named[name],) if name in named else ()


def _of_query(one: RequestRecord, name: str) -> tuple[str, ...]:
    pairs = parse_logical_url(one.logical or "").query
    return tuple(value for key, value in pairs if key == name)


def _of_body(one: RequestRecord, name: str) -> tuple[str, ...]:
    fields = body_fields(one)
    if fields is not None:
        return tuple(value for key, value in fields if key == name)
    return _at(body_json, one, name) if one.request_body else ()


def _of_response(one: RequestRecord, path: str) -> tuple[str, ...]:
    return _at(answer_json, one, path)


def _at(
    read: Callable[[RequestRecord], JsonValue], one: RequestRecord, path: str
) -> tuple[str, ...]:
    """Return the texts at a path; none where it leads nowhere, or in what is no JSON."""
    try:
        return tuple(map(as_text, read_json_path(read(one), path)))
    except NotKeptError:
        raise
    except (JsonPathError, UnreadableError):
        return ()


# How each part is read of a request, by the name or path that is asked for.
_READERS: Final[Mapping[RequestPart, Callable[[RequestRecord, str], tuple[str, ...]]]] = {
    RequestPart.URL: lambda one, _: (one.logical or "",),
    RequestPart.METHOD: lambda one, _: (one.method,),
    RequestPart.STATUS: lambda one, _: (str(one.status),),
    RequestPart.QUERY: _of_query,
    RequestPart.HEADER: lambda one, name: _of(one.request_headers, name.lower()),
    RequestPart.COOKIE: lambda one, name: _of(cookies_sent(one), name),
    RequestPart.BODY: _of_body,
    RequestPart.RESPONSE_HEADER: lambda one, name: _of(one.response_headers, name.lower()),
    RequestPart.RESPONSE_COOKIE: lambda one, name: _of(cookies_set(one), name),
    RequestPart.RESPONSE: _of_response,
}
