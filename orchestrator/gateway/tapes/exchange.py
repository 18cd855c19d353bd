"""One recorded request with its answer, what of both a tape may hold, and what robots.txt says."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit
from urllib.robotparser import RobotFileParser

from arena_core.errors import InputError

MOST_DECODED: Final = 64 * 1024 * 1024

# Of one visitor: who has them is that visitor.
_SECRET: Final = frozenset(
    {
        *("cookie", "cookie2", "set-cookie", "set-cookie2", "authorization"),
        *("proxy-authorization", "proxy-authenticate", "www-authenticate", "x-csrf-token"),
        *("x-xsrf-token", "x-api-key", "x-auth-token", "x-arena-episode", "x-arena-recorded"),
    }
)
_OF_CONNECTION: Final = frozenset(
    {"connection", "keep-alive", "proxy-connection", "transfer-encoding", "te", "trailer"}
)
_FRAMES: Final = frozenset("\r\n\0")
_AGENT: Final = "Arena"
_MOST_LINES: Final = 5000

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TapedExchange:
    """A request, and what its host answered.

    Attributes:
        url: absolute, without a fragment.
        sent: the request's headers; `headers`: the answer's. Both without secrets.
        body: as it was transferred, or decoded; `readable` tells the two apart.
        date: `2026-11-26T12:00:00Z`.
        title: of the page; empty for what is none.
    """

    method: str
    url: str
    status: int
    headers: Headers
    body: bytes = field(repr=False)
    sent: Headers = ()
    sent_body: bytes = field(default=b"", repr=False)
    date: str = ""
    title: str = ""

    def header(self, name: str) -> str:
        """Return the first value of one of the answer's headers; empty where it has none."""
        return next((value for key, value in self.headers if key.lower() == name), "")

    @property
    def is_page(self) -> bool:
        """Whether it is a document that opened."""
        kind = self.header("content-type").partition(";")[0].strip().lower()
        return self.method == "GET" and self.status == 200 and kind == "text/html"  # noqa: PLR2004


def kept_headers(headers: Iterable[tuple[str, str]]) -> Headers:
    """Return those that a tape keeps: none is a secret, or of one connection alone."""
    return tuple(
        (name, value)
        for name, value in headers
        if name.lower() not in _SECRET | _OF_CONNECTION and not _FRAMES & {*name, *value}
    )


def decoded(body: bytes, coding: str) -> bytes | None:
    """Return a body without its content coding; None where it is not in that coding.

    Tapes of browsers hold decoded bodies whose headers still name the coding.

    Raises:
        InputError: it would be larger than a page can be.
    """
    coding = coding.strip().lower()
    if coding in {"", "identity"}:
        return body
    if coding in {"gzip", "x-gzip"}:
        return _inflated(body, zlib.MAX_WBITS | 16) if body[:2] == b"\x1f\x8b" else None
    if coding == "deflate":
        return _inflated(body, zlib.MAX_WBITS)
    return None


def is_packed(body: bytes, coding: str) -> bool:
    """Whether a body really is in br or zstd, which nothing here decodes.

    zstd says what it is; br does not, and what could be a text in UTF-8 is taken for decoded.
    """
    coding = coding.strip().lower()
    if coding == "zstd":
        return body[:4] == b"\x28\xb5\x2f\xfd"
    if coding == "br":
        try:
            body.decode()
        except UnicodeDecodeError:
            return True
    return False


def _inflated(body: bytes, window: int) -> bytes | None:
    machine = zlib.decompressobj(window)
    try:
        found = machine.decompress(body, MOST_DECODED)
    except zlib.error:
        return None
    if machine.unconsumed_tail:
        raise InputError(f"a body is larger than {MOST_DECODED // 2**20} MiB when it is decoded")
    return found if machine.eof else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Robots:
    """The rules of one origin.

    Attributes:
        in_words: one line for whoever records.
    """

    origin: str
    in_words: str
    rules: RobotFileParser | None = field(repr=False)

    @classmethod
    def read(cls, origin: str, status: int, text: str) -> Robots:
        """Read a robots.txt; one that is not there forbids nothing (RFC 9309)."""
        name = f"{origin}/robots.txt"
        if 400 <= status < 500:  # noqa: PLR2004
            return cls(origin=origin, in_words=f"{name}: none ({status})", rules=None)
        rules = RobotFileParser()
        if status != 200:  # noqa: PLR2004  RFC 9309, 2.3.1.4: nothing is allowed then
            rules.parse(["User-agent: *", "Disallow: /"])
            said = f"{name}: answered {status}, so nothing may be recorded"
            return cls(origin=origin, in_words=said, rules=rules)
        lines = text.splitlines()[:_MOST_LINES]
        rules.parse(lines)
        forbidding = sum(line.strip().lower().startswith("disallow:") for line in lines)
        said = f"{name}: {forbidding} rule{'s' * (forbidding != 1)} that forbid"
        return cls(origin=origin, in_words=said, rules=rules)

    def allows(self, url: str) -> bool:
        """Whether a URL may be recorded; one of another origin is not this one's to say."""
        parts = urlsplit(url)
        if self.rules is None or f"{parts.scheme}://{parts.netloc}" != self.origin:
            return True
        return self.rules.can_fetch(_AGENT, url)
