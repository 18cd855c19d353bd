"""Best-first search over the states of an episode: what turns out wrong is undone, in the shop too.

python examples/tree_search/search.py

Each candidate action is tried in a branch of its own. `value` is a stand-in for a model that says
how promising a state looks.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Iterator

from orchestrator import Arena, Checkpoint, Observation, OpenEpisode, actions

TASK = "demo/shop-rain-jacket-in-basket"
WANTED = "Northmark Jura City Rain Jacket M, Moss"
WIDTH = 3  # branches side by side


def value(seen: Observation) -> float:
    """Say how promising a state looks, from 0 to 1."""
    if "has been added to your basket" in seen.text:
        return 1.0 if f'strong "{WANTED}"' in seen.text else 0.0
    return 0.5 if seen.title.startswith(WANTED) else 0.2


def candidates(seen: Observation) -> Iterator[actions.Action]:
    """Propose what may be done here: put the last products on the page into the basket first."""
    buttons = [node for node in seen.nodes if node.name == "Add to basket"]
    yield from (actions.Click(element=node.id) for node in buttons[1:WIDTH])
    link = next((node for node in seen.nodes if (node.role, node.name) == ("link", WANTED)), None)
    if link is not None:
        yield actions.Click(element=link.id)
    yield from (actions.Click(element=node.id) for node in buttons[:1])


async def search(episode: OpenEpisode) -> None:
    """Expand the most promising state until one is worth 1, and leave the episode there."""
    waiting = [(-value(episode.observation), 0, await episode.checkpoint("start"))]
    tried = 0
    while waiting:
        _, _, mark = heapq.heappop(waiting)
        for action in list(candidates(mark.seen))[:WIDTH]:
            tried += 1
            found = await look_ahead(episode, mark, action, f"state {tried}")
            print(f"{mark.name}: {action.kind} leads to {found.name}, worth {value(found.seen)}")
            if value(found.seen) == 1.0:
                await episode.restore(found)
                return
            heapq.heappush(waiting, (-value(found.seen), tried, found))


async def look_ahead(
    episode: OpenEpisode, mark: Checkpoint, action: actions.Action, name: str
) -> Checkpoint:
    """Do an action in a branch, and return the state that it leads to."""
    (branch,) = await episode.fork(1, at=mark)
    async with branch:
        await branch.step(action)
        return await branch.checkpoint(name)


async def main() -> None:
    """Play the task; buy the wrong jacket first, and take that back."""
    async with Arena(workers=2) as arena, arena.episode(TASK) as episode:
        seen = await episode.reset()
        start = await episode.checkpoint("start")
        wrong = [node for node in seen.nodes if node.name == "Add to basket"][1]
        bought = await episode.step(actions.Click(element=wrong.id))
        print(f"bought the wrong one, worth {value(bought.observation)}: going back")
        await episode.restore(start)
        await search(episode)
        await episode.step(actions.Stop())
        print((await episode.score()).outcome)


if __name__ == "__main__":
    asyncio.run(main())
