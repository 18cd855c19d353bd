"""An agent's questions to its model: bounded, counted, and with whose matter a fault is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena_core.actions import Action
from arena_core.errors import AgentError, ContextExceededError
from orchestrator.agent_interface import Decision
from orchestrator.agents.model_agent import decision_of
from orchestrator.agents.thinking import put_aside
from orchestrator.model.client import ModelClient
from orchestrator.model.completion import Completion
from orchestrator.model.messages import ChatRole, Message, ToolCall, ToolSpec

_EMPTY_REPLIES: Final = 3


@dataclass(frozen=True, slots=True)
class Said:
    """What a model said, without its thinking.

    Attributes:
        is_cut: it ended at a length limit.
        calls: the functions that it called, of those that it was offered or of none.
    """

    text: str
    is_cut: bool = False
    calls: tuple[ToolCall, ...] = ()


class Asking:
    """One agent's questions to a model during an episode.

    Args:
        least: the shortest conversation with which the agent could play at all.
    """

    def __init__(self, client: ModelClient, *, seed: int, least: Sequence[Message]) -> None:
        self._client = client
        self._seed = seed
        self._least = tuple(least)
        self._replies: list[Completion] = []

    async def ask(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> Said:
        """Return what the model says; where it says nothing, it is asked again.

        What it calls counts only where functions were offered.

        Raises:
            AgentError: the conversation is longer than the model's context window.
            ModelError: the model cannot be reached, answers garbage or nothing, or no prompt at all
                fits its context window.
        """
        asked = list(messages)
        for _ in range(_EMPTY_REPLIES):
            reply = await self._reply(asked, tools)
            self._replies.append(reply)
            text = put_aside(reply.text).reply.strip()
            calls = reply.tool_calls if tools else ()
            if text or calls or reply.is_cut:
                return Said(text, reply.is_cut, calls)
            # Some endpoints refuse an empty message.
            asked += [
                Message(ChatRole.ASSISTANT, "(nothing)"),
                Message(ChatRole.USER, "Your reply is empty. Reply in the form that is asked for."),
            ]
        raise self._client.no_content(_EMPTY_REPLIES)

    def decision(self, action: Action, thought: str | None = None) -> Decision:
        """Return a decision with all that was asked since the last one."""
        said, self._replies = self._replies, []
        return decision_of(action, thought, said)

    async def _reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Completion:
        """Ask; a prompt that is too long is the agent's, where a shorter one would have fitted."""
        try:
            return await self._client.ask(messages, tools, seed=self._seed)
        except ContextExceededError as exceeded:
            if not self._client.has_replied:
                await self._ask_the_least(exceeded, tools)
            raise AgentError(exceeded.message) from exceeded

    async def _ask_the_least(
        self, exceeded: ContextExceededError, tools: Sequence[ToolSpec]
    ) -> None:
        try:
            await self._client.ask(self._least, tools, seed=self._seed)
        except ContextExceededError:
            raise self._client.never_fits(exceeded) from exceeded
