"""What callers hand over, read: worlds by their names, and numbers that must not be too small."""

from __future__ import annotations

from collections.abc import Sequence

from arena_core.errors import UsageError
from arena_core.worlds import World


def read_world(name: str) -> World:
    """Return the world of a name.

    Raises:
        UsageError: there is none of that name.
    """
    try:
        return World(name)
    except ValueError as cause:
        message = f"there is no world '{name}'"
        raise UsageError(message, hint=f"worlds: {', '.join(World)}") from cause


def read_worlds(names: Sequence[str]) -> tuple[World, ...]:
    """Return the worlds of some names, offline first, each once.

    Raises:
        UsageError: there is none of a name, or no name is given.
    """
    if isinstance(names, str):
        return (read_world(names),)
    wanted = {read_world(name) for name in names}
    if not wanted:
        message = "no world is given"
        raise UsageError(message, hint=f"worlds: {', '.join(World)}")
    return tuple(world for world in World if world in wanted)


def require_at_least(least: int, **values: int | None) -> None:
    """Refuse the first value below a bound, by its name; None is no value.

    Raises:
        UsageError: naming it.
    """
    for name, value in values.items():
        if value is not None and value < least:
            message = f"{name}: {value} is not at least {least}"
            raise UsageError(message)
