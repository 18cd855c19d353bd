"""A client that is killed loses its episode, and its slot is free for another at once."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time

from worldless_service import Service, Serving

HOLDS = """
import sys, urllib.request
url, token = sys.argv[1:]
request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
with urllib.request.urlopen(request, timeout=60) as events:
    print(events.readline().decode().strip(), flush=True)
    events.read()
"""


async def until_free(service: Service, limit_s: float) -> float:
    """Wait until a slot is free, and return how long that took."""
    began = time.monotonic()
    async with asyncio.timeout(limit_s):
        while not await service.free():  # noqa: ASYNC110  a client can only ask
            await asyncio.sleep(0.02)
    return time.monotonic() - began


async def test_a_client_that_holds_its_episode_and_is_killed_frees_its_slot(
    serving: Serving,
) -> None:
    async with serving() as service:
        name = await service.begun()
        url = f"{service.served.url}/episodes/{name}/events?hold=true"
        holding = await asyncio.create_subprocess_exec(
            sys.executable, "-c", HOLDS, url, service.served.token, stdout=subprocess.PIPE
        )
        assert holding.stdout is not None
        async with asyncio.timeout(30):
            assert await holding.stdout.readline() == b": follows\n"
        assert await service.free() == 0
        holding.kill()
        await holding.wait()
        assert await until_free(service, 10) < 10
        state = (await service.client.get(f"/episodes/{name}")).json()
        assert state["result"]["outcome"] == "unscored"
        assert state["result"]["reward"] is None
        assert (await service.create()).status_code == 201
