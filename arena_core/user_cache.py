"""Where Arena keeps what it can make again: the user's cache folder."""

from __future__ import annotations

from pathlib import Path


def user_cache() -> Path:
    """Return Arena's cache folder: $XDG_CACHE_HOME/arena, else where the system keeps such things.

    An XDG_CACHE_HOME that is no full path is none, as the standard of base directories says.
    """
    from platformdirs import user_cache_path  # noqa: PLC0415  only where something is kept

    return user_cache_path("arena", appauthor=False)
