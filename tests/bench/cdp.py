"""What the CDP endpoint costs: one Playwright script through it and on a browser of its own."""

from __future__ import annotations

import asyncio
import shutil
import sys
from pathlib import Path
from typing import Final

from bench.figures import Figure, Series, times_as_long

from orchestrator import Arena
from orchestrator.gateway.policy import Policy, Route, SocketAddress
from orchestrator.gateway.server import Gateway

_TASK: Final = "demo/wiki-bells-of-bruges"  # whose limit of 20 steps is the script's length
_HOST: Final = "wiki.arena.test"
_SCRIPT: Final = Path(__file__).parent / "peers" / "cdp_steps.py"
_ROUNDS: Final = 7
_MOST: Final = 1.15


async def cdp_figure(upstream: SocketAddress) -> Figure:
    """Measure the script in turns; each round has an episode and a bare browser of its own.

    Args:
        upstream: where a replica of the wiki listens, for the bare browser's gateway.
    """
    route = Route(site="wiki", live=False, host=_HOST, port=80, connect_to=upstream)
    chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium") or ""
    through: list[float] = []
    bare: list[float] = []
    async with Arena() as arena, Gateway.open(Policy((route,))) as gateway:
        for _ in range(_ROUNDS):
            async with arena.episode(_TASK, endpoint="cdp") as episode:
                start = (await episode.reset()).url
                through.append(await _seconds("attach", episode.cdp_url, start))
            bare.append(await _seconds("launch", chromium, gateway.url, start))
    return times_as_long(
        "20 steps of Playwright over CDP, s (ref.: bare browser)",
        Series(through),
        Series(bare),
        _MOST,
    )


async def _seconds(*words: str) -> float:
    program = await asyncio.create_subprocess_exec(
        sys.executable, str(_SCRIPT), *words, stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await program.communicate()
    if program.returncode:
        message = f"{_SCRIPT.name} {words[0]} exited with {program.returncode}"
        raise RuntimeError(message)
    return float(printed)
