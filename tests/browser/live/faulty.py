"""Plays the reference of a small task at a live origin, whatever is wrong with that."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from support.worlds.live_origin import live_episode

from evaluators.scores import Score
from orchestrator.agents.builtin.oracle import OracleAgent
from orchestrator.authoring.canary.findings import Play, TaskFinding, finding_of
from orchestrator.episode.episode_runner import EpisodeRunner
from orchestrator.episode.page_view import pages_seen

if TYPE_CHECKING:
    from pathlib import Path

    from support.worlds.live_origin import LiveOrigin

    from evaluators.evidence import Evidence
    from orchestrator.agents.interface import Assignment, Reference
    from orchestrator.browser.process.launch import Browser

TASK: dict[str, Any] = {
    "start": ["wiki:/start"],
    "checks": [
        {
            "name": "open",
            "when": "step",
            "locate": {"by": "url"},
            "match": {"how": "exact", "value": "wiki:/article/Samovar"},
        },
        {
            "name": "price",
            "when": "end",
            "locate": {"by": "page", "at": "own", "selector": ".price"},
            "match": {"how": "number", "value": 47},
        },
    ],
    "reference": [
        {"do": "click", "role": "link", "name": "Samovar"},
        {"do": "click", "role": "button", "name": "Show the price"},
        {"do": "stop", "answer": "47"},
    ],
}
START = """<title>Start</title><h1>Things to boil water in</h1><p>All of them are old.
    <a href=/wiki/Kettle>Kettle</a><a href=/wiki/Samovar>Samovar</a><a href=/wiki/Urn>Urn</a>"""
GOAL = """<title>Samovar</title><h1>Samovar</h1><p>It boils water, and it is old.
    <button onclick="document.querySelector('.price').textContent = '47.00'">Show the price</button>
    <p class=price>"""


@dataclass(frozen=True, slots=True)
class Seen:
    """What an episode at the origin came to, and what the canary says of it."""

    score: Score
    evidence: Evidence
    finding: TaskFinding

    @property
    def outcome(self) -> str:
        return str(self.score.outcome)

    @property
    def canary(self) -> str:
        """Status, and the kind of wall or of drift."""
        found = self.finding
        kind = found.wall.kind if found.wall else found.drift.kind if found.drift else ""
        return f"{found.status}: {kind}" if kind else str(found.status)


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes agents that play the reference."""

    name: str = "oracle"
    observations: frozenset[str] = frozenset()

    def __call__(self, assignment: Assignment, reference: Reference) -> OracleAgent:
        return OracleAgent(reference, assignment.world)

    async def close(self) -> None:
        pass


def sound(origin: LiveOrigin) -> None:
    """Let the origin be as the task says."""
    origin.page("/start", START)
    origin.page("/wiki/Samovar", GOAL)


async def play(browser: Browser, origin: LiveOrigin, folder: Path, **more: Any) -> Seen:
    """Play the reference as an agent would, and as the canary does."""
    async with live_episode(browser, origin, **{**TASK, **more}) as episode:
        played = await EpisodeRunner(agent=Maker(), interrupted=asyncio.Event()).play(episode)
        task, world = episode.task, episode.world
        score = await episode.score()
    for name, content in played.files.items():
        (folder / name).write_bytes(content)
    evidence = played.evidence()
    pages = pages_seen(folder, evidence.steps)
    found = finding_of(Play(task=task, world=world, evidence=evidence, score=score, pages=pages))
    return Seen(score, evidence, found)
