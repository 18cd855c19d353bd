"""The parts of a request that checks ask for, and how each is read."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final
from urllib.parse import parse_qsl, unquote

from pydantic import JsonValue

from evaluators.fits import ANY, is_like
from evaluators.json_path import JsonPathError, read_json_path
from evaluators.logical_urls import parse_logical_url
from evaluators.network import (
    NotKeptError,
    RequestRecord,
    UnreadableError,
    answer_json,
    body_fields,
    body_json,
    cookies_sent,
    cookies_set,
)
from evaluators.values import as_text

_SEGMENT: Final = re.compile(r"[A-Za-z0-9_-]{4,}={0,2}")


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
    """Return the values of a part of a request.

    Args:
        part: any but `count` and `found`.
        one: the request.
        name: or path, of parts that have several.

    Raises:
        NotKeptError: the evidence does not hold it.
    """
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
