"""Logical URLs taken apart, in the one form in which both sides of a check are compared."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import parse_qsl, quote, unquote

from evaluators.text import normalise


@dataclass(frozen=True, slots=True)
class LogicalUrl:
    """A logical URL, percent-decoded once.

    Attributes:
        page: `site:/path`; no trailing slash, except for a site's root.
        query: names and values in the order of the URL, repeated names and empty values kept.
        fragment: None where the URL has none.
    """

    page: str
    query: tuple[tuple[str, str], ...] = ()
    fragment: str | None = None

    @property
    def full(self) -> str:
        """The whole logical URL; the order of different parameters does not matter in it."""
        pairs = sorted(self.query, key=lambda pair: pair[0])
        query = "&".join(f"{_protected(name)}={_protected(value)}" for name, value in pairs)
        fragment = "" if self.fragment is None else f"#{self.fragment}"
        return f"{self.page}{'?' if query else ''}{query}{fragment}"


@lru_cache(maxsize=1024)  # the same pages come again with every step
def parse_logical_url(logical: str) -> LogicalUrl:
    """Take a logical URL apart; no text makes it raise."""
    head, mark, fragment = logical.partition("#")
    path, _, query = head.partition("?")
    site, colon, rest = path.partition(":")
    decoded = unquote(rest).rstrip("/")
    rooted = decoded if decoded.startswith("/") else f"/{decoded}"
    page = f"{site}:{rooted}" if colon else unquote(path)
    pairs = tuple(parse_qsl(query, keep_blank_values=True))
    return LogicalUrl(page, pairs, unquote(fragment) if mark and fragment else None)


def is_page(wanted: str, page: LogicalUrl | str | None) -> bool:
    """Say whether a page is the one a check names; query and fragment make no difference."""
    if page is None:
        return False
    address = parse_logical_url(page) if isinstance(page, str) else page
    return normalise(parse_logical_url(wanted).page) == normalise(address.page)


def _protected(text: str) -> str:
    """Encode what would part a query elsewhere: `&`, `=`, `#`, `%` and `+` inside a value."""
    return "".join(quote(letter) if letter in "&=#%+" else letter for letter in text)
