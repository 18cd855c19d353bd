"""The requests of an episode, as its browser sent them, and how their parts are read and compared.

Values of secrets (cookies that log in, tokens, passwords) are not kept. In their place stands a
mark, `redacted.sha256.SALT.DIGEST`: whoever knows a value can say whether it is the one, and equal
values have equal marks within one episode, whose salt is drawn at random.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final
from urllib.parse import parse_qsl

from pydantic import BaseModel, ConfigDict, Field, JsonValue

_MARK: Final = re.compile(r"redacted\.sha256\.([0-9a-f]+)\.([0-9a-f]{32})")
_PART_NAME: Final = re.compile(r';\s*name="((?:[^"\\]|\\.)*)"')
_BOUNDARY: Final = re.compile(r'boundary="?([^";]+)"?', re.IGNORECASE)


class Recording(StrEnum):
    """What a check needs recorded while an episode runs.

    `requests`: those of its browser. `answers`: the bodies of what came back as well.
    """

    REQUESTS = "requests"
    ANSWERS = "answers"


class RequestRecord(BaseModel):
    """One request that a page of the episode sent; a redirect's answer is followed by another one.

    Attributes:
        index: its place in `Evidence.network`, from 0, in the order of sending.
        step: the step in which it was sent; 0 is the opening of the start pages.
        tab: the tab that sent it; None where that is not known, as of a worker that tabs share.
        url: as sent; `logical` its logical form, `site` the site; both None for a host of no site.
        resource_type: `document`, `xhr`, `fetch`, `script`, …, as Chromium calls it.
        is_navigation: it asked for the document of a frame.
        status: None where no answer came.
        request_headers, response_headers: by name in small letters. Several `set-cookie` stand in
            lines of their own. Of pictures, styles, scripts, fonts and media without cookies.
        request_body: as text, without the content of files; None where there was none, or where it
            was not kept: then `request_bytes` says how long it was.
        response_body: where a check asks for answers; None where it is no text, too long, or gone.
        redirected_from: index of the request whose answer led to this one.
        failed: why no answer came, or was not read to its end, in the browser's words.
        sent_at: when, UTC in ISO 8601 with milliseconds; None where it is not known, as in evidence
            of earlier versions.
        answer_ms, end_ms: milliseconds from then to the first byte of the answer, and to its last;
            None where none came.
        is_whole: False for a write that only the gateway saw, as of a worker that tabs share: then
            its URL is without query, and neither headers nor body are known.
        blocked: why Arena stopped it before it was sent; None for one that was sent. It has neither
            status nor answer.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    index: int
    step: int
    tab: int | None = None
    method: str
    url: str
    logical: str | None = None
    site: str | None = None
    resource_type: str = "document"
    is_navigation: bool = False
    status: int | None = None
    request_headers: dict[str, str] = Field(default_factory=dict)
    request_body: str | None = None
    request_bytes: int = 0
    response_headers: dict[str, str] = Field(default_factory=dict)
    response_body: str | None = None
    redirected_from: int | None = None
    failed: str | None = None
    sent_at: str | None = None
    answer_ms: float | None = None
    end_ms: float | None = None
    is_whole: bool = True
    blocked: str | None = Field(default=None, exclude_if=lambda value: value is None)


class UnreadableError(ValueError):
    """A body is not what is asked of it."""


class NotKeptError(UnreadableError):
    """A body was not kept: what is in it cannot be said."""


def redacted(value: str, salt: str) -> str:
    """Return what stands in the place of a secret."""
    digest = hashlib.sha256(f"{salt}:{value}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return f"redacted.sha256.{salt}.{digest}"


def is_redacted(found: str) -> bool:
    """Whether a text is the mark of a secret."""
    return _MARK.fullmatch(found) is not None


def reveals(found: str, wanted: str) -> bool:
    """Say whether a text is the one that is wanted, by its mark where it is a secret."""
    mark = _MARK.fullmatch(found)
    return found == (wanted if mark is None else redacted(wanted, mark[1]))


def body_fields(record: RequestRecord) -> tuple[tuple[str, str], ...] | None:
    """Return names and values of a body that is a form, in its order; None for any other body.

    URL-encoded and multipart forms are read; the value of a file is what was kept of it.
    """
    kind = record.request_headers.get("content-type", "")
    body = _kept_body(record)
    if kind.startswith("application/x-www-form-urlencoded"):
        return tuple(parse_qsl(body, keep_blank_values=True))
    boundary = _BOUNDARY.search(kind)
    if kind.startswith("multipart/form-data") and boundary:
        return tuple(_parts(body, boundary[1]))
    return None


def body_json(record: RequestRecord) -> JsonValue:
    return _json(_kept_body(record), "the request's body")


def answer_json(record: RequestRecord) -> JsonValue:
    if record.response_body is None:
        raise NotKeptError(f"the answer to {record.method} {record.url} was not kept")
    return _json(record.response_body, "the answer's body")


def cookies_sent(record: RequestRecord) -> Mapping[str, str]:
    pairs = (one.partition("=") for one in record.request_headers.get("cookie", "").split(";"))
    return {name.strip(): value.strip() for name, _, value in pairs if name.strip()}


def cookies_set(record: RequestRecord) -> Mapping[str, str]:
    """Return the cookies that an answer set, by name."""
    lines = record.response_headers.get("set-cookie", "").splitlines()
    pairs = (line.partition(";")[0].partition("=") for line in lines)
    return {name.strip(): value.strip() for name, _, value in pairs if name.strip()}


def _kept_body(record: RequestRecord) -> str:
    if record.request_body is None and record.request_bytes:
        what = f"the body of {record.method} {record.url}, {record.request_bytes} bytes"
        raise NotKeptError(f"{what}, was not kept")
    return record.request_body or ""


def _json(text: str, what: str) -> JsonValue:
    try:
        found: JsonValue = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"{what} is no JSON") from error
    return found


def _parts(body: str, boundary: str) -> Iterator[tuple[str, str]]:
    for part in split_parts(body, boundary):
        head, _, value = part.partition("\r\n\r\n")
        name = _PART_NAME.search(head)
        if name is not None:
            yield name[1], value


def split_parts(body: str, boundary: str) -> Iterable[str]:
    """Return the parts of a multipart body, their heads included."""
    between = f"\r\n{body}".split(f"\r\n--{boundary}")
    return [part.removeprefix("\r\n") for part in between[1:-1]]
