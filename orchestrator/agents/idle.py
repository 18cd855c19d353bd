"""Stops at once without an answer: a task that it passes measures nothing."""

from __future__ import annotations

from typing import Final

from arena_core.actions import Stop
from orchestrator.agent_interface import AgentClass, Decision
from orchestrator.agents.spec import Agents, AgentSpec
from orchestrator.observation import Observation


class IdleAgent:
    """Does nothing."""

    async def decide(self, observation: Observation) -> Decision:  # noqa: ARG002
        """Stop."""
        return Decision(Stop())


def _open() -> Agents:
    return Agents(make=lambda _: IdleAgent())


IDLE: Final = AgentSpec(open=_open, agent_class=AgentClass.BASELINE, observations=frozenset())
