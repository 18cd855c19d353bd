"""What a log record is about: run, world, trial, attempt, site and slot, as the caller set them."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Final

FIELDS: Final = ("run", "world", "trial", "attempt", "site", "slot")

Value = str | int
_NOTHING: Final[Mapping[str, Value]] = MappingProxyType({})
_fields: ContextVar[Mapping[str, Value]] = ContextVar("arena_log_fields", default=_NOTHING)


@contextmanager
def log_context(
    *,
    run: str | None = None,
    world: str | None = None,
    trial: str | None = None,
    attempt: int | None = None,
    site: str | None = None,
    slot: int | None = None,
) -> Iterator[None]:
    """Add fields to every record of a block, and of the tasks and threads that it starts.

    A field that is None is left as it was.
    """
    named = zip(FIELDS, (run, world, trial, attempt, site, slot), strict=True)
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
