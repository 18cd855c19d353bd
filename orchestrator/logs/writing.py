"""Where the log goes: a run's file, or a stream; each from the beginning of a block to its end."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from arena_core.errors import StoreError
from orchestrator.logs.context import ContextFilter
from orchestrator.logs.lines import JsonLines, TextLines
from orchestrator.logs.redaction import RedactingFilter, Redactor, secrets_of

PACKAGES: Final = ("orchestrator", "tasks", "evaluators", "sites", "arena_core")
# What others say of a model's endpoint and of the event loop. Below these levels openai logs whole
# conversations.
_LIBRARIES: Final = {"openai": logging.INFO, "httpx": logging.INFO, "asyncio": logging.WARNING}


@contextmanager
def run_log(path: Path, secrets: Iterable[str] = ()) -> Iterator[None]:
    """Append what is logged in a block to a file, as JSON lines.

    The level is that of the logger `orchestrator`, info where none was set. Each record is in the
    file before the next begins, so that a kill loses none.

    Args:
        path: the file; made where there is none.
        secrets: values to redact, beside those of the environment.

    Raises:
        StoreError: the file cannot be opened.
    """
    try:
        handler = _RunFile(path, mode="a", encoding="utf-8")
    except OSError as cause:
        message = f"{path}: the log cannot be written: {cause.strerror}"
        raise StoreError(message) from cause
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
        """Write one record."""
        self.stream = sys.stderr
        super().emit(record)
