"""Small episodes on a world without engine and browser, and checks for them."""

from __future__ import annotations

import asyncio
from typing import Any

from arena_core.actions import Stop
from arena_core.worlds import World
from evaluators.scores import Score
from orchestrator.episode.episode import Episode
from support.worlds.fake_world import WIKI, FakeWorld, attempt_at, browsing_task
from tasks.schema import Task

KETTLE = f"{WIKI}/wiki/A/Kettle"
RIGHT = Stop(answer="1891")
NODE = {
    "name": "article",
    "when": "step",
    "locate": {"by": "url"},
    "match": {"how": "exact", "value": "wiki:/article/Kettle"},
}
ANSWER = {
    "name": "answer",
    "when": "end",
    "locate": {"by": "answer"},
    "match": {"how": "number", "value": 1891},
}
HEADING = {
    "name": "heading",
    "when": "end",
    "locate": {"by": "page", "at": "own", "selector": "h1"},
    "match": {"how": "exact", "value": "Kettle"},
}


def episode(
    world: FakeWorld, where: World = World.OFFLINE, *, task: Task | None = None, **more: Any
) -> Episode:
    played = task or browsing_task(**more)
    return Episode(attempt_at(played), world.environment(where, played.sites))


async def forever() -> None:
    await asyncio.Event().wait()


async def played(episode: Episode, *actions: Any) -> Score:
    """Play actions in order and return the score; the episode is closed then."""
    async with episode:
        await episode.reset()
        for action in actions:
            await episode.step(action)
        return await episode.score()
