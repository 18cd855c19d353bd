"""Replaces the secrets of requests by marks, so that evidence can hold the rest."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote, unquote_plus

from pydantic import JsonValue

from evaluators.changes import is_secret
from evaluators.network import redacted, split_parts

_HEADER: Final = re.compile(r"auth|token|key|secret|passw|session|credential|login", re.IGNORECASE)
_COOKIE: Final = re.compile(r"sess|sid|auth|token|login|remember|key|csrf|jwt", re.IGNORECASE)
_FORM_TOKEN: Final = re.compile(r"csrf|form_key|nonce|authenticity", re.IGNORECASE)
_PAYMENT: Final = re.compile(
    r"card[-_. ]?(?:number|num|no|nr|code)(?![a-z])|(?<![a-z])cc[-_. ]?(?:number|num|no)(?![a-z])"
    r"|(?<![a-z])(?:cvv|cvc)2?(?![a-z])|security[-_. ]?code|(?<![a-z])iban(?![a-z])"
    r"|account[-_. ]?number",
    re.IGNORECASE,
)
# One meaningless run of letters, as credentials are, and messages and settings are not.
_OPAQUE: Final = re.compile(r"[A-Za-z0-9_\-.+/=:]{16,}")
_FILE: Final = re.compile(r";\s*filename\*?=", re.IGNORECASE)
_PART_NAME: Final = re.compile(r';\s*name="((?:[^"\\]|\\.)*)"')
_BOUNDARY: Final = re.compile(r'boundary="?([^";]+)"?', re.IGNORECASE)


class RequestSecrets:
    """Replaces secrets by marks, with a salt of one episode's own; cookies by name, or all."""

    def __init__(self, *, hides_cookies: bool = False) -> None:
        self._salt = secrets.token_hex(8)
        self._hides_cookies = hides_cookies

    def url(self, url: str) -> str:
        """Return a URL without the values of parameters named like secrets."""
        head, mark, rest = url.partition("?")
        if not mark:
            return url
        query, hashed, fragment = rest.partition("#")
        return f"{head}?{self._pairs(query)}{hashed}{fragment}"

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Return headers without secrets; names are in lower case."""
        return {name: self._header(name, value) for name, value in headers.items()}

    def body(self, text: str, content_type: str) -> str:
        """Return a body without secrets, and without the content of files.

        Forms and JSON are read; any other text is returned as it is.
        """
        if content_type.startswith("application/x-www-form-urlencoded"):
            return self._pairs(text)
        boundary = _BOUNDARY.search(content_type)
        if content_type.startswith("multipart/form-data") and boundary:
            return self._multipart(text, boundary[1])
        if "json" in content_type or text[:1] in {"{", "["}:
            return self._json(text)
        return text

    def _mark(self, value: str) -> str:
        return redacted(value, self._salt)

    def _header(self, name: str, value: str) -> str:
        if name == "cookie":
            return "; ".join(self._cookie(one.strip()) for one in value.split(";"))
        if name == "set-cookie":
            return "\n".join(map(self._set_cookie, value.splitlines()))
        if name in {"referer", "location"}:
            return self.url(value)
        return self._mark(value) if _HEADER.search(name) else value

    def _cookie(self, pair: str, *, hidden: bool = False) -> str:
        name, mark, value = pair.partition("=")
        if not mark:
            return pair
        hidden = hidden or self._hides_cookies
        is_one = hidden or _COOKIE.search(name) or _OPAQUE.fullmatch(unquote(value))
        return f"{name}={self._mark(value)}" if is_one else pair

    def _set_cookie(self, line: str) -> str:
        pair, mark, attributes = line.partition(";")
        hidden = "httponly" in attributes.lower()
        return f"{self._cookie(pair, hidden=hidden)}{mark}{attributes}"

    def _pairs(self, text: str) -> str:
        return "&".join(map(self._pair, text.split("&")))

    def _pair(self, pair: str) -> str:
        name, mark, value = pair.partition("=")
        if not (mark and value and _is_secret(unquote_plus(name))):
            return pair
        return f"{name}={self._mark(unquote_plus(value))}"

    def _multipart(self, text: str, boundary: str) -> str:
        parts = map(self._part, split_parts(text, boundary))
        return "".join(f"--{boundary}\r\n{part}\r\n" for part in parts) + f"--{boundary}--\r\n"

    def _part(self, part: str) -> str:
        head, gap, value = part.partition("\r\n\r\n")
        name = _PART_NAME.search(head)
        if _FILE.search(head):
            return f"{head}{gap}({len(value)} characters, {self._mark(value)})" if value else part
        if name is not None and value and _is_secret(name[1]):
            return f"{head}{gap}{self._mark(value)}"
        return part

    def _json(self, text: str) -> str:
        try:
            found: JsonValue = json.loads(text)
            clean = self._clean(found)
        except (ValueError, RecursionError):
            return text
        return text if clean == found else json.dumps(clean, ensure_ascii=False)

    def _clean(self, value: JsonValue, *, hidden: bool = False) -> JsonValue:
        match value:
            case dict():
                return {
                    name: self._clean(one, hidden=hidden or _is_secret(name))
                    for name, one in value.items()
                }
            case list():
                return [self._clean(one, hidden=hidden) for one in value]
            case str() if hidden and value:
                return self._mark(value)
            case int() | float() if hidden and not isinstance(value, bool):
                return self._mark(json.dumps(value))
            case _:
                return value


def _is_secret(name: str) -> bool:
    return is_secret(name) or any(one.search(name) for one in (_FORM_TOKEN, _PAYMENT))
