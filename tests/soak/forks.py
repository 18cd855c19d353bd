"""Episodes through the Python API until Ctrl-C: checkpoints, gone back to and forked."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Sequence
from random import Random

from arena_core.errors import ArenaError
from orchestrator import Arena
from orchestrator.agents.builtin.baselines import RandomAgent
from orchestrator.api.open_episode import OpenEpisode


async def play(tasks: Sequence[str]) -> None:
    """Play one task after the other, and say of each whether it went well."""
    dice = Random(0)
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, ended.set)
    async with Arena(workers=2) as arena:
        while not ended.is_set():
            task = dice.choice(tasks)
            try:
                async with arena.episode(task) as episode:
                    await _go_forth_and_back(episode, dice)
            except ArenaError as error:
                sys.stdout.write(f"broke off: {task}: {error}\n")
            else:
                sys.stdout.write(f"forked: {task}\n")
            sys.stdout.flush()


async def _go_forth_and_back(episode: OpenEpisode, dice: Random) -> None:
    await episode.reset()
    await _steps(episode, dice, 3)
    if episode.is_over:
        return
    mark = await episode.checkpoint("here")
    await _steps(episode, dice, 2)
    await episode.restore(mark)
    [branch] = await episode.fork(1, at=mark)
    async with branch:
        await _steps(branch, dice, 2)


async def _steps(episode: OpenEpisode, dice: Random, count: int) -> None:
    agent = RandomAgent(dice.randrange(1 << 30))
    for _ in range(count):
        if episode.is_over:
            return
        await episode.step((await agent.decide(episode.observation)).action)


if __name__ == "__main__":
    asyncio.run(play(sys.argv[1:]))
