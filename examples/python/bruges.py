"""An agent as a Python class; it knows the way to one task's answer.

cd examples/python && arena eval --agent bruges:Agent wiki-bells-of-bruges
"""

from __future__ import annotations

import re

from arena_core.actions import Click, Infeasible, Stop
from orchestrator import Assignment, Decision, Observation


class Agent:
    """Follows the link to Bruges, then tells how many bells the page names."""

    def __init__(self, assignment: Assignment) -> None:
        self.intent = assignment.intent

    async def decide(self, observation: Observation) -> Decision:
        """Choose the next action on what is shown."""
        bells = re.search(r"(\d+) bells", observation.text)
        if bells:
            return Decision(Stop(answer=bells[1]), thought=f"the page answers: {self.intent}")
        link = next((node for node in observation.nodes if node.name == "Bruges"), None)
        if link is None:
            return Decision(Infeasible(reason="there is no link to Bruges"))
        return Decision(Click(element=link.id))
