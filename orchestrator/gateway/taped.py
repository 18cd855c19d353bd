"""What a gateway asks of a tape, and how it answers with what the tape holds.

A tape answers for whole hosts, over plain http and inside TLS that the gateway ends itself, with
certificates of an authority that only this run's browser trusts. No byte leaves the machine.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from html import escape
from http import HTTPStatus
from typing import Final, Protocol
from urllib.parse import urljoin

from evaluators.tape_misses import MissedBy
from orchestrator.gateway.documents import asks_for_document
from orchestrator.gateway.heads import HOP_BY_HOP, Field, RequestHead, write_head

MOST_BODY_BYTES: Final = 4 * 1024 * 1024  # of a request; what is longer was never recorded
MISS_STATUS: Final = HTTPStatus.GATEWAY_TIMEOUT
# Of one connection, or of one visitor: a tape holds none of it, whoever made it.
_LEFT_OUT: Final = HOP_BY_HOP | {
    *(b"set-cookie", b"set-cookie2", b"content-length", b"age", b"alt-svc", b"expect-ct"),
    *(b"public-key-pins", b"nel", b"report-to", b"reporting-endpoints"),
}
_REFUSED: Final = (b";q=0", b";q=0.0", b";q=0.00", b";q=0.000")
_SCRIPTS: Final = (".js", ".mjs")


class Exactness(StrEnum):
    """How a recorded request matches the one that is asked, from the strictest to the loosest."""

    EXACT = "exact"
    CACHE_BUSTER = "cache_buster"
    REORDERED = "reordered"
    RULE = "rule"


@dataclass(frozen=True, slots=True, kw_only=True)
class TapedRequest:
    """A request as tapes know it; `range` as its header says, empty for the whole."""

    method: str
    url: str
    body: bytes = b""
    content_type: str = ""
    range: str = ""
    codings: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class TapedAnswer:
    """What a tape holds for a request; the body as it is sent."""

    status: int
    fields: tuple[Field, ...]
    body: bytes = field(repr=False)
    exactness: Exactness


class Tape(Protocol):
    """Recorded traffic of hosts."""

    def answer(self, request: TapedRequest) -> TapedAnswer | None:
        """Return what was recorded for a request; None where nothing was."""


@dataclass(frozen=True, eq=False)
class TapedHost:
    """What answers in place of a host.

    Attributes:
        is_site: whether it is the site's own, and not one that its pages take parts from.
        tls: makes what the gateway shows instead of the host's certificate; None for plain http.
    """

    tape: Tape
    is_site: bool = True
    tls: Callable[[], ssl.SSLContext] | None = None


class Leads:
    """The addresses that a tape's redirects have led to: nobody gave those himself."""

    def __init__(self) -> None:
        self._urls: set[str] = set()

    def note(self, url: str, answer: TapedAnswer) -> None:
        for one in answer.fields:
            if one.key == b"location":
                self._urls.add(urljoin(url, one.value.decode("latin-1")).partition("#")[0])

    def __contains__(self, url: str) -> bool:
        return url in self._urls


def missed_by(request: RequestHead, url: str, host: TapedHost, leads: Leads) -> MissedBy:
    """Tell who asked for what a tape lacks.

    A frame is a part of its page that may be as needless as a counter, and counts as data.
    """
    if not host.is_site:
        return MissedBy.PART
    if asks_for_document(request):
        if request.values(b"sec-fetch-dest") in ([b"iframe"], [b"frame"]):
            return MissedBy.DATA
        return MissedBy.PAGE if url in leads or _is_led(request) else MissedBy.ADDRESS
    return MissedBy.DATA if _asks_for_data(request) else MissedBy.PART


def _is_led(request: RequestHead) -> bool:
    """Whether a page that has an address of its own led to a document.

    Chromium marks what the user's own hand opened, on trustworthy origins; no page can forge that.
    A page that somebody made up on the spot (`data:`) is of no site, and refers to nothing; over
    plain http an address that was typed comes without a page that refers to it, too.
    """
    sites = request.values(b"sec-fetch-site")
    if sites in ([b"same-origin"], [b"same-site"]):
        return True
    return sites != [b"none"] and bool(request.values(b"referer"))


def _asks_for_data(request: RequestHead) -> bool:
    """Whether a script of a page waits for the answer; of a beacon none does."""
    if wanted := request.values(b"sec-fetch-dest"):
        return wanted == [b"empty"] and request.values(b"sec-fetch-mode") != [b"no-cors"]
    path = request.target.partition("?")[0]
    return request.values(b"accept") == [b"*/*"] and not path.endswith(_SCRIPTS)


def registers_worker(request: RequestHead) -> bool:
    """Whether this asks for the script of a service worker, which no tape has."""
    return bool(request.values(b"service-worker"))


def taped_request(request: RequestHead, url: str, body: bytes) -> TapedRequest:
    ranges = request.values(b"range")
    types = request.values(b"content-type")
    return TapedRequest(
        method=request.method,
        url=url,
        body=body,
        content_type=types[0].decode("latin-1") if types else "",
        range=ranges[0].decode("latin-1") if len(ranges) == 1 else "",
        codings=frozenset(
            one.partition(b";")[0].strip().decode("latin-1")
            for one in request.tokens(b"accept-encoding")
            if not one.replace(b" ", b"").endswith(_REFUSED)
        ),
    )


def taped_response(answer: TapedAnswer, *, method: str, closes: bool) -> bytes:
    """Return the whole response; without its body where the method is HEAD."""
    fields = [one for one in answer.fields if one.key not in _LEFT_OUT]
    if answer.status not in {HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED}:
        size = str(len(answer.body)).encode()
        fields.append(Field(b"content-length", b"Content-Length", size))
    if closes:
        fields.append(Field(b"connection", b"Connection", b"close"))
    try:
        phrase = HTTPStatus(answer.status).phrase
    except ValueError:
        phrase = ""
    line = f"HTTP/1.1 {answer.status} {phrase}".encode()
    return write_head(line, fields) + (b"" if method == "HEAD" else answer.body)


def miss_words(site: str, method: str, url: str) -> str:
    """Say what a tape lacks, as HTML: it holds no link that leads anywhere."""
    return (
        f"<p>tape_miss: the tape of {escape(site)} holds no answer to {escape(method)}"
        f" {escape(url)}. The page may well exist; it was not recorded, or in a coding that this"
        " browser does not take. This is a limit of the test bed, not of the page.</p>"
    )
