"""Answers with one line of the first page: what a page says without being used."""

from __future__ import annotations

from arena_core.actions import Stop
from arena_core.errors import AgentError
from orchestrator.plugins import AgentClass, Assignment, Decision, Observation


class Reader:
    """Reads the page that it starts on, and stops."""

    observations = frozenset({"axtree"})
    agent_class = AgentClass.BASELINE

    def __init__(self, assignment: Assignment, *, line: int = 1) -> None:
        self.intent = assignment.intent
        self.line = line

    async def decide(self, observation: Observation) -> Decision:
        """Answer with a named element's text.

        Raises:
            AgentError: the page has no such line.
        """
        named = [node.name for node in observation.nodes if node.name]
        if not 0 < self.line <= len(named):
            message = f"{observation.url} has {len(named)} lines, and no line {self.line}"
            raise AgentError(message)
        return Decision(Stop(answer=named[self.line - 1]), thought=f"line {self.line}")
