"""The figures of checkpoints: taken, gone back to, and forked from in the middle of an episode."""

from __future__ import annotations

import time
from typing import Final

from bench.figures import Figure, Series, at_most

from arena_core.actions import Click
from orchestrator import Arena, Checkpoint, OpenEpisode

_TASK: Final = "demo/shop-latest-order-total"
_ROUNDS: Final = 5
_BRANCHES: Final = 4
_TAKEN_S: Final = 0.5
_RESTORED_S: Final = 1.0
_FORKED_S: Final = 1.5


async def checkpoint_figures() -> list[Figure]:
    """Take a checkpoint, go back to it, and fork from it, each with all proofs."""
    taken, restored, forked = [], [], []
    async with Arena(workers=_BRANCHES + 1) as arena, arena.episode(_TASK) as episode:
        seen = await episode.reset()
        account = next(node for node in seen.nodes if node.name == "Account")
        await episode.step(Click(element=account.id))
        mark = await episode.checkpoint("warm")
        await _forked(episode, mark)
        for number in range(_ROUNDS):
            began = time.monotonic()
            mark = await episode.checkpoint(f"round {number}")
            taken.append(time.monotonic() - began)
            began = time.monotonic()
            await episode.restore(mark)
            restored.append(time.monotonic() - began)
            forked.append(await _forked(episode, mark))
    return [
        at_most("shop: a checkpoint of an episode, s", Series(taken), _TAKEN_S, "s"),
        at_most("shop: back to a checkpoint, proven, s", Series(restored), _RESTORED_S, "s"),
        at_most(
            f"shop: {_BRANCHES} branches with browsers and proofs, s",
            Series(forked),
            _FORKED_S,
            "s",
        ),
    ]


async def _forked(episode: OpenEpisode, mark: Checkpoint) -> float:
    began = time.monotonic()
    branches = await episode.fork(_BRANCHES, at=mark)
    ended = time.monotonic()
    for branch in branches:
        assert not branch.is_over, branch.evidence().fault
        await branch.close()
    return ended - began
