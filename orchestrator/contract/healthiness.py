"""Health means usable: with a frozen database there is no health, with a dead one no container."""

from __future__ import annotations

import asyncio
from typing import Final

import requests

from arena_core.errors import SiteError
from orchestrator.access.logins import replica_client
from orchestrator.engine.engine import Engine
from orchestrator.engine.origin_client import origin_session
from orchestrator.reset.replica import Replica, await_health
from sites.manifest import ServerDatabase

_SIGNAL: Final = """
for folder in /proc/[0-9]*; do
    case $(cat $folder/comm 2>/dev/null) in mariadbd|mysqld|postgres) echo ${folder#/proc/};; esac
done >/tmp/arena-databases
[ -s /tmp/arena-databases ] && kill -$1 $(cat /tmp/arena-databases)
"""
_GLANCE_S: Final = 4.0
_RECOVER_S: Final = 30.0
_EXIT_S: Final = 30.0


async def broken_health(engine: Engine, replica: Replica) -> tuple[str, ...]:
    """Return where health hides a database that is frozen or dead; the replica is dead after it.

    A site without a database server has nothing that its health could hide.
    """
    if not isinstance(replica.site.database, ServerDatabase):
        return ()
    if not await _signal(engine, replica, "STOP"):
        return ("no process of a database was found in its container",)
    breaches = []
    if await asyncio.to_thread(_is_healthy, replica):
        breaches.append("health is well while the database is frozen")
    await _signal(engine, replica, "CONT")
    try:
        await await_health(engine, replica, timeout_s=_RECOVER_S)
    except SiteError as failure:
        breaches.append(f"health does not come back with the database: {failure.message}")
    await _signal(engine, replica, "KILL")
    try:
        async with asyncio.timeout(_EXIT_S):
            await engine.wait_exit(replica.container.id)
    except TimeoutError:
        breaches.append(f"its container still runs {_EXIT_S:g} s after its database died")
    return tuple(breaches)


async def _signal(engine: Engine, replica: Replica, name: str) -> bool:
    argv = ["sh", "-c", _SIGNAL, "sh", name]
    return (await engine.execute(replica.container.id, argv)).exit_code == 0


def _is_healthy(replica: Replica) -> bool:
    client, health = replica_client(replica.site, replica.endpoint), replica.site.health
    with origin_session(client) as session:
        try:
            answer = session.get(client.url(health.path), timeout=_GLANCE_S)
        except requests.RequestException:
            return False
    return answer.ok and health.contains in answer.text
