"""The two faces of a site."""

from __future__ import annotations

from enum import StrEnum

from arena_core.errors import UsageError


class World(StrEnum):
    """Which face of every site an episode sees.

    `offline` visits replicas only; `online` visits the live origin of every site that has one.
    """

    OFFLINE = "offline"
    ONLINE = "online"


def read_world(name: str) -> World:
    """Return the world of a name.

    Raises:
        UsageError: there is no such world.
    """
    try:
        return World(name)
    except ValueError as cause:
        message = f"there is no world '{name}'"
        raise UsageError(message, hint=f"worlds: {', '.join(World)}") from cause
