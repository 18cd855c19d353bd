"""The requests of an episode as webarena-verified reads them from a HAR file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlparse

from evaluators.evidence import Evidence
from evaluators.network import RequestRecord, cookies_set
from evaluators.readings.upstream import NotInEvidenceError

_UNSEEN: Final = (
    *(".css", ".js", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".woff", ".woff2", ".ttf", ".ico"),
    ".webp",
)
_NO_ANSWER: Final = -1
_BOUNDARY: Final = re.compile(r"boundary=([^;\s]+)")
_NAME: Final = re.compile(r'name="([^"]+)"')


@dataclass(frozen=True)
class Event:
    """One request with its answer."""

    record: RequestRecord

    @property
    def url(self) -> str:
        """The URL as it was sent."""
        return self.record.url

    @property
    def method(self) -> str:
        """The HTTP method."""
        return self.record.method

    @property
    def status(self) -> int:
        """The HTTP status, -1 where no answer came."""
        return _NO_ANSWER if self.record.status is None else self.record.status

    @cached_property
    def headers(self) -> Mapping[str, str]:
        """The request's headers by name in small letters."""
        return {name.lower(): value for name, value in self.record.request_headers.items()}

    @property
    def is_navigation(self) -> bool:
        """Whether the user navigated, by the headers alone."""
        if self.method != "GET":
            return False
        accept = self.headers.get("accept", "").lower()
        if "sec-fetch-user" not in self.headers:
            return accept.startswith("text/html")
        wanted = {
            "sec-fetch-dest": "document",
            "sec-fetch-mode": "navigate",
            "sec-fetch-user": "?1",
        }
        said = {name: self.headers.get(name, "").lower() for name in wanted}
        return said == wanted and "text/html" in accept

    @property
    def cookies(self) -> Mapping[str, str]:
        """The cookies that the answer set, decoded."""
        return {name: unquote(value) for name, value in cookies_set(self.record).items()}

    @property
    def post_data(self) -> dict[str, Any] | None:
        """The request's body, where it is a form or a JSON object.

        Raises:
            NotInEvidenceError: it was not kept.
        """
        if self.record.request_body is None and self.record.request_bytes:
            message = f"the body of {self.method} {self.url} was not kept"
            raise NotInEvidenceError(message)
        return _content(self.headers.get("content-type", ""), self.record.request_body or "")

    @property
    def answer(self) -> dict[str, Any] | None:
        """The answer's body, where it is a JSON object or a form.

        Raises:
            NotInEvidenceError: it is JSON, and was not kept.
        """
        kind = self.record.response_headers.get("content-type", "")
        if self.record.response_body is None and "json" in kind:
            message = f"the answer to {self.method} {self.url} was not kept"
            raise NotInEvidenceError(message)
        return _content(kind, self.record.response_body or "")


def events_of(evidence: Evidence) -> Sequence[Event]:
    """Return the requests of an episode that evaluators look at, in their order.

    Raises:
        NotInEvidenceError: they were not recorded, or not all of them.
        ValueError: there was none.
    """
    if evidence.network is None or evidence.network_fault is not None:
        why = f": {evidence.network_fault}" if evidence.network_fault else ""
        message = f"the evidence has no whole record of the episode's requests{why}"
        raise NotInEvidenceError(message)
    if not evidence.network:
        message = "Trace content list is empty"
        raise ValueError(message)
    return [Event(one) for one in evidence.network if not urlparse(one.url).path.endswith(_UNSEEN)]


def _content(kind: str, text: str) -> dict[str, Any] | None:
    """Read a body: of a form the first value of each name, of JSON an object."""
    if not text:
        return None
    if "application/x-www-form-urlencoded" in kind:
        return {name: one[0] for name, one in parse_qs(text, keep_blank_values=True).items()}
    if "application/json" in kind:
        try:
            parsed = json.loads(text)
        except json.JSONDecodeError:
            return None
        return parsed if isinstance(parsed, dict) else None
    boundary = _BOUNDARY.search(kind) if "multipart/form-data" in kind else None
    return None if boundary is None else _parts(text, boundary[1])


def _parts(text: str, boundary: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in (one.strip() for one in text.split(f"--{boundary}")):
        separator = "\r\n\r\n" if "\r\n\r\n" in part else "\n\n"
        head, between, body = part.partition(separator)
        lines = (
            one for one in head.split("\r\n") if one.lower().startswith("content-disposition:")
        )
        line = next(lines, "")
        named = _NAME.search(line)
        if between and named:
            found[named[1]] = body.rstrip("\r\n")
    return found
