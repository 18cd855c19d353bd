"""The log: one line a record, in words or JSON, without secrets, with what it is about."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Final

from arena_core.bugs import PACKAGES, place_of
from arena_core.errors import StoreError
from arena_core.foreign import whole

FIELDS: Final = ("run", "world", "episode", "attempt", "site", "slot")

Value = str | int
_NOTHING: Final[Mapping[str, Value]] = MappingProxyType({})
_fields: ContextVar[Mapping[str, Value]] = ContextVar("arena_log_fields", default=_NOTHING)


# What every record has; the rest was passed as `extra`.
_ORDINARY: Final = frozenset(
    {
        *vars(logging.LogRecord("", 0, "", 0, "", None, None)),
        *("message", "asctime", "context", "taskName"),
    }
)
REDACTED: Final = "[redacted]"
_LEAST: Final = 6  # letters: a shorter value is part of ordinary words
_SENSITIVE = (
    r"[\w-]*(?:passw(?:or)?d|passwd|passphrase|secret(?!ar)|token(?!s|i[sz])|api[_-]?key|access[_-]?key"
    r"|private[_-]?key|session[_-]?id|sessid|_session|credential)[\w-]*"
)
_VALUE = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[^\s,;&\"'{}()\[\]]+"
_HEADER = re.compile(
    r"(?i)\b((?:proxy-)?authorization|(?:set-)?cookie|x-[\w-]*(?:key|token))"
    r"([\"']?\s*[:=]\s*[\"']?)[^\r\n\"']+"
)
_NAMED = re.compile(rf"(?i)(?<![\w-])([\"']?{_SENSITIVE}[\"']?\s*(?:=|:)\s*)(?:{_VALUE})")
_WORD = r"(?-i:[A-Z]?[a-z]{1,19})(?![\w~+/=-])"  # "basic training" names no secret
_SCHEME = re.compile(rf"(?i)\b(bearer|basic)\s+(?!{_WORD})[\w.~+/=-]{{6,}}")
_KEY = re.compile(r"\b(?:sk|pk|rk)-[\w-]{8,}|\bgh[pousr]_\w{16,}|\bAKIA[0-9A-Z]{12,}")
_USERINFO = re.compile(r"(://[^/\s:@]+):[^/\s@]+@")
_IS_SECRET = re.compile(rf"(?i){_SENSITIVE}")
# What others say of a model's endpoint and of the event loop. Below these levels openai logs whole
# conversations.
_LIBRARIES: Final = {"openai": logging.INFO, "httpx2": logging.INFO, "asyncio": logging.WARNING}


@contextmanager
def log_context(
    *,
    run: str | None = None,
    world: str | None = None,
    episode: str | None = None,
    attempt: int | None = None,
    site: str | None = None,
    slot: int | None = None,
) -> Iterator[None]:
    """Add fields to every record of a block, and of the tasks and threads that it starts.

    A field that is None is left as it was.
    """
    named = zip(FIELDS, (run, world, episode, attempt, site, slot), strict=True)
    given = {name: value for name, value in named if value is not None}
    token = _fields.set({**_fields.get(), **given})
    try:
        yield
    finally:
        _fields.reset(token)


class ContextFilter(logging.Filter):
    """Puts the fields of the caller's context on each record, as `record.context`."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Add the fields; no record is dropped."""
        record.context = _fields.get()
        return True


def extras(record: logging.LogRecord) -> dict[str, object]:
    """Return what was passed with a record as `extra`."""
    return {name: value for name, value in vars(record).items() if name not in _ORDINARY}


class JsonLines(logging.Formatter):
    """One JSON object a record.

    `time` (UTC), `level`, `logger`, `message`; the fields of the context; the extra fields; and of
    an exception `error` (kind and message), `place` (file:line function) and `traceback`.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as one line of JSON."""
        when = datetime.fromtimestamp(record.created, UTC)
        fields: dict[str, object] = {
            "time": when.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_context(record),
            **extras(record),
        }
        if record.exc_info and (error := record.exc_info[1]) is not None:
            text = record.exc_text or self.formatException(record.exc_info)
            fields |= {
                "error": text.rstrip().rpartition("\n")[2],
                "place": place_of(error),
                "traceback": text,
            }
        return whole(json.dumps(fields, ensure_ascii=False, default=str))


class TextLines(logging.Formatter):
    """One line of text a record, for people; a traceback follows on lines of its own."""

    def format(self, record: logging.LogRecord) -> str:
        when = datetime.fromtimestamp(record.created, UTC).astimezone()
        about = " ".join(f"{name}={value}" for name, value in _context(record).items())
        more = " ".join(f"{name}={value}" for name, value in extras(record).items())
        head = f"{when:%H:%M:%S} {record.levelname.lower():<7} {record.name}: "
        tail = " ".join(part for part in (more, about) if part)
        line = f"{head}{record.getMessage()}{f'  [{tail}]' if tail else ''}"
        if not record.exc_info:
            return line
        return f"{line}\n{record.exc_text or self.formatException(record.exc_info)}"


def _context(record: logging.LogRecord) -> Mapping[str, object]:
    found: Mapping[str, object] = getattr(record, "context", {})
    return found


class Redactor:
    """Replaces secrets in text.

    Args:
        secrets: values that are secret wherever they stand.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = sorted({one for one in secrets if len(one) >= _LEAST}, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, known))) if known else None

    def __call__(self, text: str) -> str:
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


def without_known(text: str, secrets: Iterable[str] | None = None) -> str:
    """Return a text without secrets of the environment, and else as it is."""
    known = secrets_of() if secrets is None else secrets
    for secret in sorted(known, key=len, reverse=True):
        if len(secret) >= _LEAST:
            text = text.replace(secret, REDACTED)
    return text


def _names_a_secret(name: str) -> bool:
    return bool(re.search(r"(?i)(?:KEY|TOKEN|SECRET|PASSW(?:OR)?D|CREDENTIALS?)$", name))


@contextmanager
def run_log(path: Path, secrets: Iterable[str] = ()) -> Iterator[None]:
    """Append what is logged in a block to a file, as JSON lines.

    The level is that of the logger `orchestrator`, info where none was set. Each record is in the
    file before the next begins, so that a kill loses none.
    """
    try:
        handler = _RunFile(path, mode="a", encoding="utf-8")
    except OSError as cause:
        raise StoreError(f"{path}: the log cannot be written: {cause.strerror}") from cause
    handler.setFormatter(JsonLines())
    with _attached(handler, secrets):
        try:
            yield
        finally:
            with suppress(OSError):  # reported already when a line could not be written
                handler.close()


@contextmanager
def no_log() -> Iterator[None]:
    """Let what is logged in a block, and written nowhere else, be lost.

    Python would write warnings to stderr, where a command has its own words for them.
    """
    handler = logging.NullHandler()
    loggers = [logging.getLogger(name) for name in PACKAGES]
    for logger in loggers:
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)


@contextmanager
def stream_log(level: int) -> Iterator[None]:
    """Write what is logged in a block to stderr as text, from a level on."""
    handler = _Stderr()
    handler.setLevel(level)
    handler.setFormatter(TextLines())
    with _attached(handler, ()):
        yield


@contextmanager
def log_level(level: int) -> Iterator[None]:
    """Let Arena log from a level on, wherever it is written to."""
    loggers = [logging.getLogger(name) for name in PACKAGES]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(level)
    try:
        yield
    finally:
        for logger, was in zip(loggers, before, strict=True):
            logger.setLevel(was)


@contextmanager
def _attached(handler: logging.Handler, secrets: Iterable[str]) -> Iterator[None]:
    handler.addFilter(ContextFilter())
    handler.addFilter(RedactingFilter(Redactor((*secrets_of(), *secrets))))
    loggers = [logging.getLogger(name) for name in (*PACKAGES, *_LIBRARIES)]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        if logger.level == logging.NOTSET:
            logger.setLevel(_LIBRARIES.get(logger.name, logging.INFO))
    try:
        yield
    finally:
        for logger, was in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(was)


class _RunFile(logging.FileHandler):
    """A file whose failure is reported once, and ends no run."""

    _has_failed = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802  logging's own
        """Say once that the log cannot be written."""
        if not self._has_failed:
            self._has_failed = True
            failure = sys.exc_info()[1]
            sys.stderr.write(f"arena: {self.baseFilename}: cannot be written: {failure}\n")


class _Stderr(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to what is stderr at that moment: a live display may stand in for it."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)
