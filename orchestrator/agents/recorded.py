"""Answers recorded steps: the model is asked the recorded prompt, and its reply is the answer."""

from __future__ import annotations

from typing import Final

from arena_core.actions import Stop
from orchestrator.agent_interface import Assignment, Decision
from orchestrator.agents.asking import Asking
from orchestrator.agents.model_agent import model_agent
from orchestrator.model.client import ModelClient
from orchestrator.model.messages import ChatRole, Message
from orchestrator.observation import Observation


class RecordedAgent:
    """Asks its model once, with what it is assigned and nothing else, and stops with the reply.

    The prompts of recorded steps hold page, functions and history as they were recorded; of a task
    that is played on sites it sees the intent alone.
    """

    def __init__(self, client: ModelClient, assignment: Assignment, *, seed: int) -> None:
        self._messages = (Message(ChatRole.USER, assignment.intent),)
        self._asking = Asking(client, seed=seed, least=self._messages)

    async def decide(self, observation: Observation) -> Decision:  # noqa: ARG002 - the prompt holds all there is
        """Ask the model, and stop with what it says.

        Raises:
            AgentError: the prompt is longer than the model's context window.
            ModelError: the model cannot be reached, or answers garbage or nothing.
        """
        said = await self._asking.ask(self._messages)
        return self._asking.decision(Stop(answer=said.text))


RECORDED: Final = model_agent("recorded", RecordedAgent, observations=frozenset())
