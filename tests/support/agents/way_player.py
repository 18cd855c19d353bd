"""An agent that plays, in each repeat of a task, one of several ways that a test wrote down.

`arena eval --agent way_player:Player --repeats 2` in a folder that holds this file and `ways.json`:
by task a list of ways, each a list of actions as a task's `reference` has them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from orchestrator.agents.builtin.oracle import OracleAgent
from orchestrator.agents.interface import Assignment, Decision, Reference
from orchestrator.browser.observation import Observation
from sites.registry import load_registry
from tasks.reference import ReferenceAction

WAYS: Final = "ways.json"
AGENT: Final = ("--agent", "way_player:Player")

Way = Sequence[Mapping[str, object]]


class Player:
    """Plays the way of its task and repeat."""

    def __init__(self, assignment: Assignment) -> None:
        ways = json.loads(Path(WAYS).read_text(encoding="utf-8"))
        way = ways[assignment.task][assignment.repeat]
        actions = TypeAdapter(tuple[ReferenceAction, ...]).validate_python(way)
        registry = load_registry()
        upstreams = registry.upstreams(tuple(registry.sites), assignment.world)
        reference = Reference(actions, upstreams.url)
        self._oracle = OracleAgent(reference, assignment.world, assignment.intent)

    async def decide(self, observation: Observation) -> Decision:
        """Do the way's next action."""
        return await self._oracle.decide(observation)


def write_ways(folder: Path, ways: Mapping[str, Sequence[Way]]) -> None:
    """Write the ways of each task, and the agent itself, where `arena eval` will run."""
    shutil.copy(__file__, folder)
    (folder / WAYS).write_text(json.dumps(ways), encoding="utf-8")
