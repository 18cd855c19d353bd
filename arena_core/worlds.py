"""The two faces of a site."""

from __future__ import annotations

from enum import StrEnum


class World(StrEnum):
    """Which face of every site an episode sees.

    `offline` visits replicas only; `online` visits the live origin of every site that has one.
    """

    OFFLINE = "offline"
    ONLINE = "online"
