"""Puts a script into an HTML document on its way, so that the document itself stays the same.

The script runs before anything else of the page and removes itself: the document's tree is
afterwards what it would have been. What cannot be read without doubt passes untouched.
"""

from __future__ import annotations

import base64
import codecs
import hashlib
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from orchestrator.gateway.heads import Field, RequestHead, ResponseHead

MOST_BYTES: Final = 4 * 1024 * 1024  # as sent, and decoded
_OK: Final = 200
_ERRORS: Final = 400
_NO_BODY: Final = frozenset({204, 205, 206})

_CODINGS: Final = frozenset({b"", b"identity", b"gzip", b"x-gzip", b"deflate"})
# Of the bytes as they were: they hold no longer. A browser that has no validator asks for a whole
# document, so that no check reads one that was altered for the agent, and the other way round.
_OF_BYTES: Final = frozenset(
    {
        *(b"accept-ranges", b"age", b"content-digest", b"content-encoding", b"content-length"),
        *(b"content-md5", b"digest", b"etag", b"expires", b"last-modified", b"repr-digest"),
    }
)
_OF_COPIES: Final = frozenset({b"range", b"if-range", b"if-none-match", b"if-modified-since"})


def asks_for_document(request: RequestHead) -> bool:
    """Tell whether a browser asks for a document rather than a part of one, or for data.

    Chromium sends Sec-Fetch-Dest to trustworthy origins only. Over plain http it marks navigations
    by Upgrade-Insecure-Requests, which XHR and fetch never send by themselves.
    """
    if request.method not in {"GET", "POST"} or request.is_websocket:
        return False
    if wanted := request.values(b"sec-fetch-dest"):
        return wanted[0] in {b"document", b"iframe", b"frame"}
    return request.values(b"upgrade-insecure-requests") == [b"1"] and any(
        value.startswith(b"text/html") for value in request.values(b"accept")
    )


def asking_readably(request: RequestHead) -> RequestHead:
    """Return a request for a whole document in a coding that can be read here."""
    fields = (
        field._replace(value=b"gzip, deflate") if field.key == b"accept-encoding" else field
        for field in request.fields
        if field.key not in _OF_COPIES
    )
    return replace(request, fields=tuple(fields))


def is_document(response: ResponseHead) -> bool:
    """Tell whether a response is an HTML document that is shown, in a coding that can be read."""
    if response.status in _NO_BODY or not (
        _OK <= response.status < _OK + 100 or response.status >= _ERRORS
    ):
        return False
    types = response.values(b"content-type")
    if len(types) != 1 or types[0].split(b";")[0].strip().lower() != b"text/html":
        return False
    places = response.values(b"content-disposition")
    if any(not place.strip().lower().startswith(b"inline") for place in places):
        return False
    return _coding(response) in _CODINGS and not response.values(b"content-range")


def _coding(response: ResponseHead) -> bytes:
    return b",".join(response.values(b"content-encoding")).strip().lower()


@dataclass(frozen=True, slots=True)
class AlteredDocument:
    """A response with a script in it, ready to be sent with this length."""

    head: ResponseHead
    body: bytes


def with_script(response: ResponseHead, body: bytes, script: str) -> AlteredDocument | None:
    """Return a document with a script that runs first.

    Args:
        response: of a document, see `is_document`.
        body: all of it, as it was sent.
        script: ASCII; it must remove its own element.

    Returns:
        None where the document cannot be read, is too large, or lets no script run.
    """
    plain = _decoded(body, _coding(response))
    if plain is None or len(plain) > MOST_BYTES:
        return None
    altered = _inserted(plain, f"<script>{script}</script>", _utf_16(response, plain))
    if altered is None:
        return None
    digest = base64.b64encode(hashlib.sha256(script.encode("ascii")).digest()).decode()
    fields = _fields(response.fields, f"'sha256-{digest}'", len(altered))
    return None if fields is None else AlteredDocument(replace(response, fields=fields), altered)


def _decoded(body: bytes, coding: bytes) -> bytes | None:
    match coding:
        case b"" | b"identity":
            return body
        case b"gzip" | b"x-gzip":
            return _inflated(body, 16 + zlib.MAX_WBITS)
        case _:
            whole = _inflated(body, zlib.MAX_WBITS)
            return _inflated(body, -zlib.MAX_WBITS) if whole is None else whole


def _inflated(body: bytes, window: int) -> bytes | None:
    """Return what was compressed; None where that is damaged, goes on behind, or is too large."""
    inflating = zlib.decompressobj(window)
    try:
        plain = inflating.decompress(body, MOST_BYTES + 1)
    except zlib.error:
        return None
    return plain if inflating.eof and not inflating.unused_data else None


def _utf_16(response: ResponseHead, plain: bytes) -> str | None:
    """Return the codec of a document in UTF-16; None for all others, which keep ASCII as it is."""
    if plain.startswith(codecs.BOM_UTF8):
        return None
    if plain.startswith(codecs.BOM_UTF16_LE):
        return "utf-16-le"
    if plain.startswith(codecs.BOM_UTF16_BE):
        return "utf-16-be"
    [given] = response.values(b"content-type")
    named = re.search(rb";\s*charset\s*=\s*\"?([\w-]+)", given, re.IGNORECASE)
    label = b"" if named is None else named[1].lower()
    if label in {b"utf-16", b"utf-16le", b"unicode", b"ucs-2", b"iso-10646-ucs-2", b"csunicode"}:
        return "utf-16-le"
    return "utf-16-be" if label in {b"utf-16be", b"unicodefffe"} else None


def _inserted(plain: bytes, element: str, utf_16: str | None) -> bytes | None:
    if utf_16 is None:
        at = _start_of_head(plain.decode("latin-1"))
        return plain[:at] + element.encode("ascii") + plain[at:]
    try:
        text = plain.decode(utf_16)
    except UnicodeDecodeError:
        return None
    at = len(text[: _start_of_head(text)].encode(utf_16))
    return plain[:at] + element.encode(utf_16) + plain[at:]


_TAG: Final = r"(?=[\s/>])(?:[^>\"']|\"[^\"]*\"|'[^']*')*+>"
_BEFORE_CONTENT: Final = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        r"[ \t\r\n\f]+",
        r"<!--(?:-?>|.*?--!?>)",
        r"<(?:!doctype|\?)[^>]*>",
        r"<(?:html|head)" + _TAG,
        # Where a document names its own charset, that stays within what browsers look through.
        r"<meta(?=[^>]*charset)" + _TAG,
    )
)
_MARKS: Final = ("\ufeff", "\xef\xbb\xbf")  # a byte order mark, and UTF-8's read as Latin-1


def _start_of_head(text: str) -> int:
    """Return where the first element of a document's head can stand, whether it has tags or not."""
    at = next((len(mark) for mark in _MARKS if text.startswith(mark)), 0)
    while found := next((one for part in _BEFORE_CONTENT if (one := part.match(text, at))), None):
        at = found.end()
    return at


def _fields(fields: Iterable[Field], source: str, length: int) -> tuple[Field, ...] | None:
    """Return the head's fields for the altered bytes; None where a policy lets no script run."""
    kept: list[Field] = []
    for field in fields:
        match field.key:
            case key if key in _OF_BYTES:
                continue
            case b"cache-control" if b"no-store" not in field.value.lower():
                continue
            case b"content-security-policy" | b"content-security-policy-report-only":
                policies = _allowing(field.value.decode("latin-1"), source)
                if policies is None and field.key == b"content-security-policy":
                    return None
                kept.append(field if policies is None else _with_value(field, policies))
            case _:
                kept.append(field)
    if not any(field.key == b"cache-control" for field in kept):
        kept.append(Field(b"cache-control", b"Cache-Control", b"no-cache"))
    kept.append(Field(b"content-length", b"Content-Length", b"%d" % length))
    return tuple(kept)


def _with_value(field: Field, value: str) -> Field:
    return field._replace(value=value.encode("latin-1"))


def _allowing(policies: str, source: str) -> str | None:
    """Return Content-Security-Policy with one more script allowed; None where none may run."""
    changed = [_policy_allowing(policy, source) for policy in policies.split(",")]
    known = [policy for policy in changed if policy is not None]
    return ",".join(known) if len(known) == len(changed) else None


def _policy_allowing(policy: str, source: str) -> str | None:
    directives = policy.split(";")
    places: dict[str, int] = {}
    for number, directive in enumerate(directives):
        if words := directive.split():
            places.setdefault(words[0].lower(), number)
    if "sandbox" in places and "allow-scripts" not in directives[places["sandbox"]].lower():
        return None
    ruling = next(
        (one for one in ("script-src-elem", "script-src", "default-src") if one in places), None
    )
    if ruling is None:
        return policy
    sources = directives[places[ruling]].split()[1:]
    if _allows_inline(sources):
        return policy  # a hash would take back what is allowed
    kept = [one for one in sources if one.lower() != "'none'"]
    if ruling == "default-src":
        return f"{policy}; script-src-elem {' '.join([*kept, source])}"
    directives[places[ruling]] = f" {ruling} {' '.join([*kept, source])}"
    return ";".join(directives).strip()


def _allows_inline(sources: Iterable[str]) -> bool:
    lower = [one.lower() for one in sources]
    narrows = ("'nonce-", "'sha256-", "'sha384-", "'sha512-", "'strict-dynamic'")
    return "'unsafe-inline'" in lower and not any(one.startswith(narrows) for one in lower)
