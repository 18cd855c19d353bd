"""Logical URLs taken apart, in the one form in which both sides of a check are compared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import parse_qsl, quote, unquote

from evaluators.values.text import holds_words, normalise

# Escapes of what would part a path elsewhere, and `%` that escapes nothing.
_KEPT: Final = re.compile(r"%(2[35F]|3F)", re.IGNORECASE)
_LONE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_CAPITALS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")


@dataclass(frozen=True, slots=True)
class LogicalUrl:
    """A logical URL, percent-decoded once.

    Attributes:
        page: `site:/path`; no trailing slash, except for a site's root. Escapes of `/`, `?`, `#`
            and `%` stay: decoded, they would be no part of a name in the path any more.
        query: names and values in the order of the URL, repeated names and empty values kept.
        fragment: None where the URL has none.
    """

    page: str
    query: tuple[tuple[str, str], ...] = ()
    fragment: str | None = None

    @property
    def full(self) -> str:
        """The whole logical URL; the order of different parameters does not matter in it.

        Capitals in the names of parameters are percent-encoded: where case is folded, a name of
        another case stays another name.
        """
        pairs = sorted(self.query, key=lambda pair: pair[0])
        query = "&".join(f"{_named(name)}={_protected(value)}" for name, value in pairs)
        fragment = "" if self.fragment is None else f"#{self.fragment}"
        return f"{self.page}{'?' if query else ''}{query}{fragment}"


@lru_cache(maxsize=1024)  # the same pages come again with every step
def parse_logical_url(logical: str) -> LogicalUrl:
    """Take a logical URL apart; no text makes it raise."""
    head, mark, fragment = logical.partition("#")
    path, _, query = head.partition("?")
    site, colon, rest = path.partition(":")
    decoded = decoded_path(rest).rstrip("/")
    rooted = decoded if decoded.startswith("/") else f"/{decoded}"
    page = f"{site}:{rooted}" if colon else decoded_path(path)
    pairs = tuple(parse_qsl(query, keep_blank_values=True))
    return LogicalUrl(page, pairs, unquote(fragment) if mark and fragment else None)


def is_page(wanted: str, page: LogicalUrl | str | None) -> bool:
    """Say whether a page is the one a check names; query and fragment make no difference."""
    if page is None:
        return False
    address = parse_logical_url(page) if isinstance(page, str) else page
    return normalise(parse_logical_url(wanted).page) == normalise(address.page)


def holds_url(url: str, piece: str, *, case: bool = False) -> bool:
    """Say whether a logical URL holds a piece of one: whole segments, whole parameters.

    A piece with a site begins where the URL does; one with a `/` begins and ends where a segment
    does; `?a=1&b=2` is these parameters among others. Any other piece is looked for as words.
    """
    head, mark, _ = piece.partition("?")
    if not mark and "/" not in head:
        return holds_words(normalise(url, case=case), normalise(decoded_path(piece), case=case))
    found, asked = parse_logical_url(url), parse_logical_url(piece)
    pairs = [(name, normalise(value, case=case)) for name, value in found.query]
    wanted = [(name, normalise(value, case=case)) for name, value in asked.query]
    if any(pair not in pairs for pair in wanted) or contradicts(pairs, wanted):
        return False
    if asked.fragment not in {None, found.fragment}:
        return False
    page = normalise(found.page, case=case)
    path = normalise(decoded_path(head.partition("#")[0]), case=case)
    return _holds_segments(page, path.rstrip("/") or path)


def contradicts(found: Sequence[tuple[str, str]], wanted: Sequence[tuple[str, str]]) -> bool:
    """Say whether a parameter that is asked for stands there with another value too.

    A name that ends with `[]` is a list, whose values stand side by side.
    """
    asked = {name for name, _ in wanted if not name.endswith("[]")}
    return any(pair not in wanted for pair in found if pair[0] in asked)


def _holds_segments(page: str, path: str) -> bool:
    """Say whether a page's path holds a path as whole segments; with its site, from the start."""
    if ":" in path.partition("/")[0]:
        return page == path or page.startswith(f"{path}/") or path == page.partition("/")[0]
    start = page.find(path)
    while start >= 0:
        end = start + len(path)
        begins = path.startswith("/") or page[start - 1 : start] == "/"
        if begins and (path.endswith("/") or page[end : end + 1] in {"", "/"}):
            return True
        start = page.find(path, start + 1)
    return not path


def decoded_path(path: str) -> str:
    """Decode what stands for itself in a path, once; what would part it elsewhere stays encoded."""
    if "%" not in path:
        return path
    return unquote(_KEPT.sub(lambda found: f"%25{found[1].upper()}", _LONE.sub("%25", path)))


def _named(name: str) -> str:
    """Encode a parameter's name, its capitals too."""
    return "".join(f"%{ord(one):02X}" if one in _CAPITALS else _protected(one) for one in name)


def _protected(text: str) -> str:
    """Encode what would part a query elsewhere: `&`, `=`, `#`, `%` and `+` inside a value."""
    return "".join(quote(letter) if letter in "&=#%+" else letter for letter in text)
