"""An agent as a test of pytest, once for each chosen task.

pytest examples/ci -n 2
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from orchestrator import actions

if TYPE_CHECKING:
    from orchestrator.serve.pytest_plugin import ArenaEpisodes


@pytest.mark.arena(suite="smoke", tasks=("wiki-*",))
def test_my_agent(arena_episode: ArenaEpisodes) -> None:
    """Follow the link that the task names, and answer with the number on the page."""
    episode = arena_episode()
    while not episode.is_over:
        seen = episode.observation
        bells = re.search(r"(\d+) bells", seen.text)
        wanted = "Samovar" if "samovar" in episode.assignment.intent else "Bruges"
        link = next((node for node in seen.nodes if node.name == wanted), None)
        if bells or link is None or "/Samovar" in seen.url:
            episode.step(actions.Stop(answer=bells[1] if bells else None))
        else:
            episode.step(actions.Click(element=link.id))
