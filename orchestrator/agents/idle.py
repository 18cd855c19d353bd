"""Stops at once without an answer: a task that it passes measures nothing."""

from __future__ import annotations

from arena_core.actions import Stop
from orchestrator.observation import Decision, Observation


class IdleAgent:
    """Does nothing."""

    async def decide(self, observation: Observation) -> Decision:  # noqa: ARG002
        """Stop."""
        return Decision(Stop())
