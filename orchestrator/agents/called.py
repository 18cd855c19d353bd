"""Function calls of a model, as they stand in the conversation that goes on after them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final

from orchestrator.grammars.functions import LONGEST
from orchestrator.model.messages import ChatRole, Message, ToolCall

# Of what cannot be used, as much is repeated as tells the model what it said.
REPEATED: Final = 2_000
_MOST_CALLS: Final = 8
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_LATER: Final = (
    "This call was not looked at: one call a reply. Choose anew, on what you are shown now."
)


class CallBook:
    """Writes calls into a conversation, in the form that every endpoint takes again.

    Endpoints refuse a conversation with broken arguments, with names that no function can have, or
    with ids that are missing or used twice; what a model said so is repeated in a form that is
    whole.
    """

    def __init__(self) -> None:
        self._ids: set[str] = set()

    def said(self, text: str, calls: Sequence[ToolCall]) -> Message:
        """Return the message of a model that called functions."""
        whole = tuple(self._whole(call) for call in calls[:_MOST_CALLS])
        return Message(ChatRole.ASSISTANT, text[:REPEATED], tool_calls=whole)

    @staticmethod
    def answers(said: Message, outcome: str) -> list[Message]:
        """Return an answer to each call: what came of the first, and that no other was played."""
        return [
            Message(ChatRole.TOOL, _LATER if number else outcome, tool_call_id=call.id)
            for number, call in enumerate(said.tool_calls)
        ]

    def _whole(self, call: ToolCall) -> ToolCall:
        name = call.name if _NAME.fullmatch(call.name) else "unknown"
        return ToolCall(self._id(call.id), name, _whole_arguments(call.arguments))

    def _id(self, said: str) -> str:
        own = said if said and said not in self._ids else f"call_{len(self._ids)}"
        while own in self._ids:
            own += "_"
        self._ids.add(own)
        return own


def _whole_arguments(said: str) -> str:
    try:
        if len(said) <= LONGEST and isinstance(json.loads(said), dict):
            return said
    except (ValueError, RecursionError):
        pass
    return json.dumps({"unreadable": said[:REPEATED]}) if said.strip() else "{}"
