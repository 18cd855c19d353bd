"""The parts of a request that checks ask for, how each is read, and whether it fits."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import AfterValidator, Discriminator, Field, JsonValue, Tag

from arena_core.worlds import World
from evaluators.evidence import StepEvidence
from evaluators.lint import LintContext, Place, Problem
from evaluators.matchers.base import TEXTS, JudgedMatcher, Matcher, UrlForm
from evaluators.matchers.kinds import Match
from evaluators.network import (
    NotKeptError,
    RequestRecord,
    UnreadableError,
    answer_json,
    body_fields,
    body_json,
    cookies_sent,
    cookies_set,
    is_redacted,
    reveals,
)
from evaluators.values.json_path import JsonPathError, read_json_path
from evaluators.values.logical_urls import parse_logical_url
from evaluators.values.text import as_text
from sites.fields import Strict

ANY: Final = "*"


_SEGMENT: Final = re.compile(r"[A-Za-z0-9_-]{4,}={0,2}")


def _kind(given: object) -> str:
    return "match" if isinstance(given, Mapping | Matcher) else "value"


def _compares_texts(matcher: Matcher) -> Matcher:
    if isinstance(matcher, JudgedMatcher) or matcher.compares != TEXTS:
        raise ValueError(f"`how: {matcher.how}` does not compare a part of a request")
    return matcher


_Match = Annotated[Match, AfterValidator(_compares_texts), Tag("match")]
Fit = Annotated[
    Annotated[str | int | float | bool | None, Tag("value")] | _Match, Discriminator(_kind)
]
Fits = dict[str, Fit]
PageFit = Annotated[Annotated[str, Tag("value")] | _Match, Discriminator(_kind)]


class CameFrom(Strict):
    """The page that a request was sent from, by its `referer` header: one of the same site.

    Attributes:
        url, query, other_query: as of a request.
    """

    url: PageFit
    query: Fits = Field(default_factory=dict)
    other_query: tuple[str, ...] | None = Field(default=None, exclude_if=lambda one: one is None)


def referer_of(one: RequestRecord) -> str | None:
    """Return the logical URL that a request was sent from; None where it is on no known site."""
    sent_from, own = urlsplit(one.request_headers.get("referer", "")), urlsplit(one.url)
    if one.site is None or (sent_from.scheme, sent_from.netloc) != (own.scheme, own.netloc):
        return None
    query = f"?{sent_from.query}" if sent_from.query else ""
    return f"{one.site}:{sent_from.path or '/'}{query}"


# What leads to another page, or to none: a request that follows is the page's own.
_LEAVING: Final = frozenset({"goto", "back", "forward", "new_tab", "close_tab"})
# What leaves a page as it is: a request that follows may be of what was done before.
_WAITING: Final = frozenset({"wait", "stop", "infeasible", "scroll", "focus_tab", "mouse_wheel"})


def brought_about(one: RequestRecord, steps: Sequence[StepEvidence]) -> bool:
    """Say whether the agent acted on a page before a request, and went nowhere since.

    What pages send by themselves when they are opened is none of the agent's. Where it drives the
    browser itself, an event on an element counts, and a script alone does not.
    """
    for step in reversed(steps):
        if step.index > one.step:
            continue
        if step.index == 0:
            return False
        if any(acted.trusted or acted.confirmed for acted in step.acted):
            return True
        kind = None if step.action is None else step.action.kind
        if kind in _LEAVING:
            return False
        if kind is not None and kind not in _WAITING:
            return True
    return False


def fits_query(logical: str, asked: Fits, others: tuple[str, ...] | None, world: World) -> bool:
    """Say whether a URL has the parameters that are asked for, and no others than those allowed.

    Args:
        others: names that may be there besides, `*` for any letters; None for any.
    """
    pairs = parse_logical_url(logical).query
    for name, wanted in asked.items():
        values = tuple(value for key, value in pairs if key == name)
        may_be_several = name.endswith("[]") or wanted == ANY or isinstance(wanted, Matcher)
        if not fits(values, wanted, world) or (not may_be_several and len(set(values)) > 1):
            return False
    return others is None or all(
        not value or name in asked or any(is_like(other, name) for other in others)
        for name, value in pairs
    )


def fits(found: Sequence[str], wanted: Fit, world: World) -> bool:
    """Say whether the values of a part are what is asked for: one of them, or as a match says."""
    if not isinstance(wanted, Matcher):
        return any(_is(one, wanted) for one in found)
    if any(map(is_redacted, found)):
        message = "a secret can be compared with an exact value alone: its text was not kept"
        raise NotKeptError(message)
    return wanted.match(found, world).met


def fits_page(logical: str, wanted: PageFit, world: World) -> bool:
    """Say whether a page is the one that is asked for; `*` in a text is any letters."""
    page = parse_logical_url(logical).page
    if not isinstance(wanted, Matcher):
        return is_like(parse_logical_url(wanted).page, page)
    form: Callable[[str], str] = lambda text: parse_logical_url(text).page  # noqa: E731 - a form
    return wanted.match((page,), world, UrlForm(form)).met


def lint_fit(wanted: Fit, place: Place, known: LintContext) -> Iterator[Problem]:
    """Yield what is wrong with a match, at its place in the check."""
    if isinstance(wanted, Matcher):
        for one in wanted.lint(known):
            yield Problem((*place, *one.at[1:]), one.message, one.severity)


def is_like(pattern: str, text: str) -> bool:
    """Say whether a text is like a pattern in which `*` stands for any letters."""
    first, *others = pattern.split(ANY)
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
    if wanted == ANY:
        return True
    return reveals(found, wanted if isinstance(wanted, str) else as_text(wanted))


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


WHOLE: Final = frozenset(
    {RequestPart.COUNT, RequestPart.FOUND, RequestPart.URL, RequestPart.METHOD, RequestPart.STATUS}
)


def read_part(part: RequestPart, one: RequestRecord, name: str) -> tuple[str, ...]:
    return _READERS[part](one, name)


def without_hidden_query(one: RequestRecord) -> RequestRecord:
    """Return a request with the queries of its path, in Base64, as its query.

    Magento writes the filter of a report so: `…/filter/ZnJvbT0wMS8wMS8yMDIz/`.
    """
    if one.logical is None:
        return one
    head, mark, query = one.logical.partition("?")
    site, colon, path = head.partition(":")
    queries = [query] if mark else []
    kept: list[str] = []
    for segment in path.split("/"):
        hidden = _hidden_query(unquote(segment))
        if hidden is None:
            kept.append(segment)
        else:
            queries.append(hidden)
    page = f"{site}{colon}{'/'.join(kept) or '/'}"
    found = "&".join(queries)
    return one.model_copy(update={"logical": f"{page}?{found}" if found else page})


def _hidden_query(segment: str) -> str | None:
    if not _SEGMENT.fullmatch(segment):
        return None
    try:
        decoded = base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4)).decode()
    except ValueError:
        return None
    is_query = "=" in decoded and decoded.isprintable()
    return decoded.lstrip("?&") if is_query and parse_qsl(decoded) else None


def _of(named: Mapping[str, str], name: str) -> tuple[str, ...]:
    return (named[name],) if name in named else ()


def _of_cookie(named: Mapping[str, str], name: str) -> tuple[str, ...]:
    """Return a cookie as it was sent, and percent-decoded where that differs."""
    return tuple(dict.fromkeys(way for one in _of(named, name) for way in (one, unquote(one))))


def _of_query(one: RequestRecord, name: str) -> tuple[str, ...]:
    pairs = parse_logical_url(one.logical or "").query
    return tuple(value for key, value in pairs if key == name)


def _of_body(one: RequestRecord, name: str) -> tuple[str, ...]:
    fields = body_fields(one)
    if fields is None:
        return _at(body_json, one, name) if one.request_body else ()
    if name.startswith("$"):
        unpacked: JsonValue = {key: _unpacked(value) for key, value in reversed(fields)}
        return _at(lambda _: unpacked, one, name)
    if ANY in name:
        return tuple(value for key, value in fields if is_like(name, key))
    return tuple(value for key, value in fields if key == name)


def _unpacked(text: str) -> JsonValue:
    """Return what a field of a form holds: JSON, or its text."""
    try:
        found: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found


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
    RequestPart.COOKIE: lambda one, name: _of_cookie(cookies_sent(one), name),
    RequestPart.BODY: _of_body,
    RequestPart.RESPONSE_HEADER: lambda one, name: _of(one.response_headers, name.lower()),
    RequestPart.RESPONSE_COOKIE: lambda one, name: _of_cookie(cookies_set(one), name),
    RequestPart.RESPONSE: _of_response,
}
