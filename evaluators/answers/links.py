"""URLs, e-mail addresses and telephone numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from evaluators.answers.base import AnswerKind, Span, with_unread

_URL: Final = re.compile(
    r"(?<![\w@/.])(?:[a-z][a-z0-9+.-]{1,20}://[^\s<>\"|\\^`{}]+|(?:[a-z0-9-]+\.)+[a-z]{2,20}(?::\d+)?(?:/[^\s<>\"|\\^`{}]*)?(?!\w|@))",
    re.IGNORECASE,
)
_ENDS: Final = ".,;:!?'\")]*"
_PORTS: Final = {"http": 80, "https": 443, "ssh": 22, "ftp": 21}
_MAIL: Final = re.compile(
    r"(?<![\w.+%/@-])(?:mailto:)?([\w.+%-][\w.+%'-]*@(?:[a-z0-9-]+\.)+[a-z]{2,20})(?![\w@-]|\.\w)",
    re.IGNORECASE,
)
_AT: Final = re.compile(r"\S*@\S*")
_PHONE: Final = re.compile(
    r"(?:(?<![\w.,:/-])|(?<=\btel:))(?:\+|00)?[(\d][\d\s().\-/]{2,24}\d(?![\w@%]|[.,:]\d)"
)
_DIGITS: Final = re.compile(r"\d+")


class UrlKind(AnswerKind[tuple[object, ...]]):
    """A URL: scheme and host in any case, default port and a last slash make no difference.

    Nor do the order of different parameters, how characters are percent-encoded, `http` for
    `https`, and a scheme that is left out.
    """

    noun = "a URL"
    whole = _URL

    def find(
        self, text: str, wanted: Sequence[tuple[object, ...]]
    ) -> Sequence[Span[tuple[object, ...]]]:
        del wanted
        spans = []
        for found in _URL.finditer(text):
            shown = found.group().rstrip(_ENDS)
            if shown.count("(") > shown.count(")"):
                shown = found.group()[: len(shown) + 1]
            parts = url_parts(shown)
            spans.append(Span(found.start(), found.start() + len(shown), parts, "is no URL"))
        return spans

    def is_same(self, found: tuple[object, ...], wanted: tuple[object, ...]) -> bool:
        """Say whether they lead to the same page; one without a scheme may have any of the web."""
        web = {"http", "https", ""}
        schemes = found[0] == wanted[0] or (found[0] in web and wanted[0] in web)
        return schemes and found[1:] == wanted[1:]


def url_parts(url: str) -> tuple[object, ...] | None:
    """Return what of a URL matters, None for what is none."""
    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
        port = parts.port
    except ValueError:
        return None
    if not parts.hostname:
        return None
    default = _PORTS.get(parts.scheme, 80)
    host = parts.hostname.rstrip(".")
    query = tuple(sorted(parse_qsl(parts.query, keep_blank_values=True), key=lambda pair: pair[0]))
    path = "/".join(quote(unquote(piece), safe="") for piece in parts.path.rstrip("/").split("/"))
    shown = None if port in {None, default, 443} else port
    return (parts.scheme, parts.username, host, shown, path, query, unquote(parts.fragment))


class MailKind(AnswerKind[str]):
    """An e-mail address, in any case."""

    noun = "an e-mail address"
    whole = _MAIL

    def find(self, text: str, wanted: Sequence[str]) -> Sequence[Span[str]]:
        """Return every address of a text; what has an `@` and is none has no value."""
        del wanted
        spans = [Span(*found.span(), found[1].casefold()) for found in _MAIL.finditer(text)]
        return with_unread(_AT, text, spans, "is no e-mail address")


class PhoneKind(AnswerKind[str]):
    """A telephone number: the same digits; `+44 1632 …` and `01632 …` are the same number."""

    noun = "a telephone number"
    whole = _PHONE

    def find(self, text: str, wanted: Sequence[str]) -> Sequence[Span[str]]:
        """Return every number of at least four digits; shorter ones have no value."""
        del wanted
        spans: list[Span[str]] = [
            Span(*found.span(), _digits(found.group())) for found in _PHONE.finditer(text)
        ]
        return with_unread(_DIGITS, text, spans, "is no telephone number")

    def is_same(self, found: str, wanted: str) -> bool:
        """Say whether they are the same number."""
        if found == wanted:
            return True
        return _is_national(found, wanted) or _is_national(wanted, found)


def _digits(text: str) -> str:
    # "+44 (0)1632": the trunk prefix is not dialled from abroad
    bare = re.sub(r"\(0\)", "", text) if re.match(r"\s*(?:\+|00)", text) else text
    digits = re.sub(r"\D", "", bare)
    if bare.lstrip().startswith("+"):
        return f"+{digits}"
    return f"+{digits[2:]}" if digits.startswith("00") else digits


def _is_national(national: str, whole: str) -> bool:
    """Say whether a number is an international one without its country, with its trunk `0`."""
    if not whole.startswith("+") or national.startswith("+"):
        return False
    if whole.startswith("+1") and len(whole) == 12:  # noqa: PLR2004 - North America has no trunk prefix
        return national in {whole[2:], whole[1:]}
    own = national[1:]
    country = whole[1 : len(whole) - len(own)]
    is_long = len(own) > 4 and 1 <= len(country) <= 3  # noqa: PLR2004 - calling codes
    return national.startswith("0") and is_long and whole.endswith(own)
