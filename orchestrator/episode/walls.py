"""What keeps a browser out of a site, by the page that it was shown instead.

A page is a wall where it is *nothing but* a wall: its title, a heading or the control to pass it
says so, and it has little else. A page that only mentions such words, in a text, a footer or the
notice of a form, is none: what a task misses there has drifted.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from orchestrator.episode import wall_words as words
from orchestrator.episode.page_view import PageView


class WallKind(StrEnum):
    """What kept the browser out.

    `refused`: the site answered 403, and its page does not say why.
    """

    BOT_WALL = "bot wall"
    CONSENT_WALL = "consent wall"
    LOGIN_WALL = "login wall"
    RATE_LIMIT = "rate limit"
    GEO = "geo"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Wall:
    """A wall, and what of the page says so."""

    kind: WallKind
    sign: str


# A wall says little: more names, links or letters than this is a page of the site.
_MOST_NODES: Final = 60
_MOST_LINKS: Final = 8
_MOST_LETTERS: Final = 2_500
_MOST_OUTSIDE: Final = 3  # of a dialog: a skip link, a language, a close button
_DIALOGS: Final = ("dialog", "alertdialog")
_ACTED_ON: Final = frozenset(
    {"link", "button", "textbox", "searchbox", "combobox", "checkbox", "radio", "menuitem", "tab"}
)


def _words(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"\s*(?:{'|'.join(patterns)})\s*", re.IGNORECASE)


# The whole of a title or heading, but for the site's name before or after it.
_SITE: Final = r"(?:[^|–—-]{1,40}(?:\s?\|\s?|\s[–—-]\s))?"
_OF_SITE: Final = r"(?:(?:\s?\|\s?|\s[–—-]\s)[^|–—]{1,40}|[.!?…。]{0,3})?"


def _head(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"\s*{_SITE}(?:{'|'.join(patterns)}){_OF_SITE}\s*", re.IGNORECASE)


_BOT_HEAD: Final = _head(words.BOT_HEADS)
_BOT_CONTROL: Final = _words(words.BOT_CONTROLS)
_RATE_HEAD: Final = _head(words.RATE_HEADS)
_GEO_TEXT: Final = re.compile("|".join(words.GEO_TEXTS), re.IGNORECASE)
_CONSENT_HEAD: Final = re.compile("|".join(words.CONSENT_ABOUT), re.IGNORECASE)
_CONSENT_BUTTON: Final = _words(words.CONSENT_BUTTONS)
_CONSENT_HOST: Final = re.compile(r"consent\.|(?:.*\.)?(?:privacy-mgmt|consensu)\.", re.IGNORECASE)
_LOGIN_HEAD: Final = _head(words.LOGIN_HEADS)
_LOGIN_PATH: Final = re.compile(rf"/(?:{'|'.join(words.LOGIN_PATHS)})(?:[/.]|$)", re.IGNORECASE)
_PASSWORD: Final = _words(words.PASSWORDS)


def is_login(text: str) -> bool:
    """Whether a page's address or a control's name is about logging in."""
    return bool(_LOGIN_PATH.search(text) or _LOGIN_HEAD.fullmatch(_plain(text)))


def wall_on(
    page: PageView, *, asks_to_log_in: bool = False, is_covered: bool = False
) -> Wall | None:
    """Return the wall that a page is; None for a page of the site.

    Args:
        asks_to_log_in: the task itself leads to a login: such a page is none of the site's walls.
        is_covered: an element of the page could not be clicked, because another lay over it: then
            a question about consent is a wall though the page goes on under it.
    """
    for kind, find in _RULES:
        if kind is WallKind.LOGIN_WALL and asks_to_log_in:
            continue
        sign = find(page)
        if sign is not None:
            return Wall(kind, sign)
    sign = _consent_wall(page, is_covered=True) if is_covered else None
    return None if sign is None else Wall(WallKind.CONSENT_WALL, sign)


def _is_bare(page: PageView) -> bool:
    """Whether a page has little more than a few words and a control."""
    links = len(page.named("link"))
    return (
        len(page.nodes) <= _MOST_NODES and links <= _MOST_LINKS and len(page.text) <= _MOST_LETTERS
    )


def _plain(text: str) -> str:
    """Return a text as the words are written: with straight apostrophes, and no wide signs."""
    return unicodedata.normalize("NFKC", text).replace("\u2019", "'")


def _heads(page: PageView) -> Iterator[str]:
    yield page.title
    yield from page.named("heading")


def _matching(page: PageView, pattern: re.Pattern[str], *roles: str) -> str | None:
    """Return what of a title, a heading, or the names of roles a pattern fits as a whole."""
    said = page.named(*roles) if roles else _heads(page)
    return next((repr(one) for one in said if pattern.fullmatch(_plain(one))), None)


def _is(page: PageView, *statuses: HTTPStatus) -> str | None:
    return f"status {page.status}" if page.status in statuses else None


def _rate_limit(page: PageView) -> str | None:
    known = _is(page, HTTPStatus.TOO_MANY_REQUESTS)
    return known or (_matching(page, _RATE_HEAD) if _is_bare(page) else None)


def _geo(page: PageView) -> str | None:
    if known := _is(page, HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS):
        return known
    found = _GEO_TEXT.search(_plain(f"{page.title} {page.text}")) if _is_bare(page) else None
    return None if found is None else repr(found[0])


def _bot_wall(page: PageView) -> str | None:
    if not _is_bare(page):
        return None
    controls = ("checkbox", "button", "Iframe", "iframe")
    return _matching(page, _BOT_HEAD) or _matching(page, _BOT_CONTROL, *controls)


def _login_wall(page: PageView) -> str | None:
    """Return what says so: status 401, or two of address, heading and password field."""
    if known := _is(page, HTTPStatus.UNAUTHORIZED):
        return known
    if not _is_bare(page):
        return None
    path = urlsplit(page.url).path
    signs = [
        f"address {path}" if _LOGIN_PATH.search(path) else None,
        _matching(page, _LOGIN_HEAD),
        _matching(page, _PASSWORD, "textbox"),
    ]
    found = [sign for sign in signs if sign is not None]
    return " and ".join(found) if len(found) > 1 else None


def _consent_wall(page: PageView, *, is_covered: bool = False) -> str | None:
    """Return what says so: a question about consent, and nothing that can be acted on beside it.

    A banner on a page of the site is none: the page is there, and goes on under it.
    """
    button = _matching(page, _CONSENT_BUTTON, "button", "link")
    if button is None:
        return None
    host = urlsplit(page.url).hostname or ""
    if _CONSENT_HOST.match(host):
        return f"button {button} on {host}"
    about = [one for one in (*_heads(page), *page.named(*_DIALOGS)) if _is_about_consent(one)]
    if not about:
        return None
    if is_covered or (_is_bare(page) and _is_alone(page)):
        return f"{about[0]!r} with button {button}"
    return None


def _is_alone(page: PageView) -> bool:
    """Whether nothing can be acted on outside of a dialog; without one, whether all is consent."""
    acting = [node for node in page.nodes if node.role in _ACTED_ON]
    outside = [node for node in acting if not any(one.startswith(_DIALOGS) for one in node.path)]
    if len(outside) < len(acting):
        return len(outside) <= _MOST_OUTSIDE
    return all(_is_about_consent(one) for one in (page.title, *page.named("heading")))


def _is_about_consent(text: str) -> bool:
    return bool(_CONSENT_HEAD.search(_plain(text)))


def _refused(page: PageView) -> str | None:
    return _is(page, HTTPStatus.FORBIDDEN)


# The first that fits is the wall: what a status says comes before what words do.
_RULES: Final[tuple[tuple[WallKind, Callable[[PageView], str | None]], ...]] = (
    (WallKind.RATE_LIMIT, _rate_limit),
    (WallKind.GEO, _geo),
    (WallKind.BOT_WALL, _bot_wall),
    (WallKind.LOGIN_WALL, _login_wall),
    (WallKind.CONSENT_WALL, _consent_wall),
    (WallKind.REFUSED, _refused),
)
