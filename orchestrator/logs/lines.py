"""How a log record is written: one JSON object a line for files, one line of text for people."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from arena_core.bugs import place_of

# What every record has; the rest was passed as `extra`.
_ORDINARY: Final = frozenset(
    {
        *vars(logging.LogRecord("", 0, "", 0, "", None, None)),
        *("message", "asctime", "context", "taskName"),
    }
)


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
        return json.dumps(fields, ensure_ascii=False, default=str)


class TextLines(logging.Formatter):
    """One line of text a record, for people; a traceback follows on lines of its own."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as text."""
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
