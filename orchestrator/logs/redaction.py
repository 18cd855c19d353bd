"""Keeps secrets out of the log: passwords, keys, tokens and cookies."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Mapping
from typing import Final

from orchestrator.logs.lines import extras

REDACTED: Final = "[redacted]"
_LEAST: Final = 6  # letters: a shorter value is part of ordinary words

_SENSITIVE = (
    r"[\w-]*(?:passw(?:or)?d|passwd|passphrase|secret|token(?!s)|api[_-]?key|access[_-]?key"
    r"|private[_-]?key|session[_-]?id|sessid|_session|credential)[\w-]*"
)
_VALUE = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[^\s,;&\"'{}()\[\]]+"
_HEADER = re.compile(
    r"(?i)\b((?:proxy-)?authorization|(?:set-)?cookie|x-[\w-]*(?:key|token))"
    r"([\"']?\s*[:=]\s*[\"']?)[^\r\n\"']+"
)
_NAMED = re.compile(rf"(?i)(?<![\w-])([\"']?{_SENSITIVE}[\"']?\s*(?:=|:)\s*)(?:{_VALUE})")
_SCHEME = re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{6,}")
_KEY = re.compile(r"\b(?:sk|pk|rk)-[\w-]{8,}|\bgh[pousr]_\w{16,}|\bAKIA[0-9A-Z]{12,}")
_USERINFO = re.compile(r"(://[^/\s:@]+):[^/\s@]+@")
_IS_SECRET = re.compile(rf"(?i){_SENSITIVE}")


class Redactor:
    """Replaces secrets in text.

    Args:
        secrets: values that are secret wherever they stand.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = sorted({one for one in secrets if len(one) >= _LEAST}, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, known))) if known else None

    def __call__(self, text: str) -> str:
        """Return a text without its secrets."""
        if self._known is not None:
            text = self._known.sub(REDACTED, text)
        text = _HEADER.sub(rf"\1\2{REDACTED}", text)
        text = _NAMED.sub(rf"\1{REDACTED}", text)
        text = _SCHEME.sub(rf"\1 {REDACTED}", text)
        text = _USERINFO.sub(rf"\1:{REDACTED}@", text)
        return _KEY.sub(REDACTED, text)

    def field(self, name: str, value: object) -> object:
        """Return a named value without its secrets; lists and mappings are looked through."""
        if _IS_SECRET.fullmatch(name):
            return REDACTED
        if isinstance(value, str):
            return self(value)
        if isinstance(value, Mapping):
            return {str(key): self.field(str(key), one) for key, one in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.field(name, one) for one in value]
        return value


class RedactingFilter(logging.Filter):
    """Redacts message, traceback and extra fields of each record, in place."""

    def __init__(self, redact: Redactor) -> None:
        super().__init__()
        self._redact = redact
        self._traceback = logging.Formatter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Redact a record; none is dropped."""
        record.msg, record.args = self._redact(record.getMessage()), None
        if record.exc_info and not record.exc_text:
            record.exc_text = self._traceback.formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = self._redact(record.exc_text)
        for name, value in extras(record).items():
            setattr(record, name, self._redact.field(name, value))
        return True


def secrets_of(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return the values of environment variables whose names say that they are secret."""
    return tuple(value for name, value in environment.items() if _names_a_secret(name))


def _names_a_secret(name: str) -> bool:
    return bool(re.search(r"(?i)(?:KEY|TOKEN|SECRET|PASSW(?:OR)?D|CREDENTIALS?)$", name))
