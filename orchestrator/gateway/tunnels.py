"""Two connections joined: bytes are passed on both ways, unread."""

from __future__ import annotations

import asyncio

from orchestrator.gateway.connection import BufferedConnection, PeerGoneError


async def splice(one: BufferedConnection, other: BufferedConnection) -> None:
    """Pass bytes both ways until either side ends, then close both, unsent bytes first.

    It may be idle for as long as the browser context lives.
    """
    async with asyncio.TaskGroup() as both:
        both.create_task(_pump(one, other))
        both.create_task(_pump(other, one))


async def _pump(source: BufferedConnection, sink: BufferedConnection) -> None:
    try:
        while piece := await source.read():
            sink.write(piece)
            await sink.drain()
    except PeerGoneError:
        pass  # either side may end a tunnel at any time: that is how tunnels end
    finally:
        sink.close()
