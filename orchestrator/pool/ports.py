"""Ports that a replica keeps: asked for by number, so that the next container gets the same."""

from __future__ import annotations

import socket
from dataclasses import replace
from typing import Final

from arena_core.errors import PortTakenError
from orchestrator.engine.endpoints import LOOPBACK
from orchestrator.engine.engine import Engine
from orchestrator.reset.replica import Placement, Replica, start_replica

_TRIES: Final = 3


async def start_on_kept_port(engine: Engine, placement: Placement) -> Replica:
    """Start a replica on the port of its placement, or else on a free one, by its number.

    A port that the engine chooses is forgotten when the container ends; this one is not.

    Raises:
        PortTakenError: the port of the placement is in use; or each of three free ones was taken.
        SiteError, EngineError: as `start_replica`.
    """
    if placement.port is not None:
        return await start_replica(engine, placement)
    for _ in range(_TRIES - 1):
        try:
            return await start_replica(engine, replace(placement, port=_free_port()))
        except PortTakenError:
            continue  # somebody was quicker; or the engine runs on another machine
    return await start_replica(engine, replace(placement, port=_free_port()))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])
