"""The text that matchers compare, of what databases and JSON answers hold."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence


def rows_as_text(rows: Sequence[Sequence[object]]) -> tuple[str, ...]:
    """Return one value per row, columns joined with ` | `."""
    return tuple(" | ".join(as_text(cell) for cell in row) for row in rows)


def as_text(value: object) -> str:
    """Return a database's or JSON's value as the text that matchers compare."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case bytes():
            return value.decode("utf-8", "replace")
        case Mapping() | list():
            return json.dumps(value, ensure_ascii=False, sort_keys=True)
        case _:
            return str(value)
