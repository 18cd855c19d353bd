"""Recorded documents: answered in place of a site, so that a page comes back as it was."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus
from typing import Final

from orchestrator.gateway.heads import HOP_BY_HOP, RequestHead

# With it a session asks for one recorded document; no page can send it with a navigation.
RECORDED_HEADER: Final = "X-Arena-Recorded"
_KEY: Final = RECORDED_HEADER.lower().encode()

# Of one connection, one transfer or one visitor; what is sent is the decoded body, once.
_LEFT_OUT: Final = frozenset(name.decode() for name in HOP_BY_HOP) | {
    *("set-cookie", "content-encoding", "content-length", "content-range", "accept-ranges"),
    *("etag", "cache-control", "expires", "age", "pragma", RECORDED_HEADER.lower()),
}
_UNSAFE: Final = frozenset("\r\n\0")


@dataclass(frozen=True)
class RecordedDocument:
    """The response that a tab's document was made of.

    Attributes:
        url: the document's own, without a fragment.
        headers: as `kept_headers` leaves them.
        body: the bytes that the browser decoded into the document's text.
    """

    url: str
    status: int
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    body: bytes = field(repr=False)

    @cached_property
    def key(self) -> str:
        """What a request names it by: the SHA-256 of all of it."""
        head = json.dumps([self.url, self.status, [list(header) for header in self.headers]])
        return hashlib.sha256(head.encode() + self.body).hexdigest()


def kept_headers(headers: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return the headers of a response that a recording of it keeps."""
    return tuple(
        (name, value)
        for name, value in headers
        if name.lower() not in _LEFT_OUT and not _UNSAFE & {*name, *value}
    )


def asked_recording(request: RequestHead) -> str | None:
    """Return the key of the recorded document that a request asks for; None for any other."""
    values = request.values(_KEY)
    return values[0].decode("latin-1") if values else None


class RecordedDocuments:
    """Documents that a gateway answers in place of their sites, each as often as it was given."""

    def __init__(self, documents: Iterable[RecordedDocument] = ()) -> None:
        given = tuple(documents)
        self._left = Counter(document.key for document in given)
        self._documents = {document.key: document for document in given}

    def take(self, method: str, url: str, key: str) -> RecordedDocument | None:
        """Return what answers a request, and forget it; None if there is nothing (left)."""
        document = self._documents.get(key)
        if document is None or method != "GET" or document.url != url or not self._left[key]:
            return None
        self._left[key] -= 1
        return document


def recorded_response(document: RecordedDocument, *, closes: bool) -> bytes:
    """Return the whole response; a browser does not keep it for a second request."""
    try:
        phrase = HTTPStatus(document.status).phrase
    except ValueError:
        phrase = ""
    lines = [f"HTTP/1.1 {document.status} {phrase}"]
    lines += [f"{name}: {value}" for name, value in kept_headers(document.headers)]
    # The session reads the key; a page cannot, for its own document's headers are hidden from it.
    lines += [
        f"{RECORDED_HEADER}: {document.key}",
        f"Content-Length: {len(document.body)}",
        "Cache-Control: no-store",
    ]
    lines += ["Connection: close"] if closes else []
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace") + document.body
