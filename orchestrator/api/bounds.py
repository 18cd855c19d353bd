"""Refuses numbers that are too small to mean anything."""

from __future__ import annotations

from arena_core.errors import UsageError


def require_at_least(least: int, **values: int | None) -> None:
    """Refuse the first value below a bound, by its name; None is no value.

    Raises:
        UsageError: naming it.
    """
    for name, value in values.items():
        if value is not None and value < least:
            message = f"{name}: {value} is not at least {least}"
            raise UsageError(message)
