"""What adapters cost: a step by HTTP beside one in process, and environments side by side."""

from __future__ import annotations

import asyncio
import os
import random
import re
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final

import gymnasium
import httpx
from bench.figures import Figure, Series, at_most
from gymnasium.vector import AsyncVectorEnv, AutoresetMode
from support.agents.arena_process import descendants

from arena_core.actions import Action
from orchestrator import Arena
from orchestrator.serve.server import serve
from orchestrator.serve.session import EpisodeSession, Stepped

_WIKI: Final = "demo/wiki-bells-of-bruges"
_SHOP: Final = "orchestrator.serve.gym:arena/demo.shop-cheapest-compass"
_STEPS: Final = 15  # the task allows 20
_ROUNDS: Final = 15
_ENVIRONMENTS: Final = (1, 4)
_MOST_MS: Final = 10.0
_TICKS_A_SECOND: Final = os.sysconf("SC_CLK_TCK")


def http_figure() -> Figure:
    """Measure how much longer a client waits for a step than the step takes in the process."""
    return asyncio.run(_http_figure())


async def _http_figure() -> Figure:
    with tempfile.TemporaryDirectory() as scratch:
        async with (
            Arena() as arena,
            serve(arena, slots=1, port=0, token_path=Path(scratch) / "token") as served,
            httpx.AsyncClient(
                base_url=served.url,
                headers={"Authorization": f"Bearer {served.token}"},
                timeout=300,
            ) as http,
        ):
            http.headers["Authorization"] = f"Bearer {served.token}"
            answer = await http.post("/episodes", json={"task": _WIKI})
            name = answer.raise_for_status().json()["episode"]
            inside = _timed_steps(served.host.find(name).session)
            longer: list[float] = []
            for number in range(_STEPS):
                action = {"kind": "scroll", "direction": "up" if number % 2 else "down"}
                began = time.perf_counter()
                stepped = await http.post(f"/episodes/{name}/step", json={"action": action})
                took = time.perf_counter() - began
                stepped.raise_for_status()
                longer.append((took - inside[number]) * 1000)
    return at_most("a step by HTTP, longer than in the process, ms", Series(longer), _MOST_MS)


def _timed_steps(session: EpisodeSession) -> list[float]:
    """Return a list that gets the seconds that each step of a session takes by itself."""
    took: list[float] = []
    step = session.step

    async def timed(action: Action, *, thought: str | None = None) -> Stepped:
        began = time.perf_counter()
        done = await step(action, thought=thought)
        took.append(time.perf_counter() - began)
        return done

    session.step = timed  # type: ignore[method-assign]
    return took


def vector_figures() -> list[Figure]:
    """Let a random agent act on the shop, in one environment and in four side by side."""
    paces = {count: _pace(count) for count in _ENVIRONMENTS}
    alone, _ = paces[_ENVIRONMENTS[0]]
    return [
        Figure(
            f"steps a minute, {count} environments (Chromium: {share:.0%} of the cores; ref.: one)",
            pace,
            alone,
            pace / alone,
            "as far as the cores allow",
            rounds=_ROUNDS,
        )
        for count, (pace, share) in paces.items()
    ]


def _pace(count: int) -> tuple[float, float]:
    """Return steps a minute, and Chromium's share of all cores meanwhile."""
    make = partial(gymnasium.make, _SHOP, observe=("axtree",), unscored="info")
    vector: Any = AsyncVectorEnv(
        [make] * count, shared_memory=False, autoreset_mode=AutoresetMode.DISABLED
    )
    dice = random.Random(0)
    took: list[float] = []
    try:
        seen, _ = vector.reset(seed=0)
        spent, began = _chromium_s(), time.perf_counter()
        for _ in range(_ROUNDS):
            at = time.perf_counter()
            seen, *_ = vector.step(tuple(_any_click(tree, dice) for tree in seen["axtree_txt"]))
            took.append(time.perf_counter() - at)
        wall = time.perf_counter() - began
        share = (_chromium_s() - spent) / (wall * (os.cpu_count() or 1))
    finally:
        vector.close()
    return 60 * count / median(took), share


def _any_click(tree: str, dice: random.Random) -> str:
    found = re.findall(r"\[(\d+)\] (?:link|button|checkbox|textbox)", tree)
    if not found:
        return '{"kind": "back"}'
    return f'{{"kind": "click", "element": {dice.choice(found)}}}'


def _chromium_s() -> float:
    """Return the processor time of this process's Chromiums so far."""
    ticks = 0
    for pid, command in descendants(os.getpid()).items():
        if "chrom" in command.partition(" ")[0] or "headless" in command.partition(" ")[0]:
            try:
                text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
            except OSError:
                continue  # it ended while we looked
            ticks += sum(int(one) for one in text.rpartition(")")[2].split()[11:13])
    return ticks / _TICKS_A_SECOND
