"""What a chat completion must hold, read strictly where Arena uses it and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field


class _Foreign(BaseModel):
    # The format is the endpoint's, which may add what it likes.
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Part(_Foreign):
    """One part of a content that is a list."""

    type: str = "text"
    text: str | None = None
    thinking: str | None = None
    refusal: str | None = None


class _Function(_Foreign):
    """What a tool call names; some servers send the arguments as an object."""

    name: str = ""
    arguments: str | Mapping[str, object] | None = None


class _Call(_Foreign):
    function: _Function


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A function that the model called instead of saying its reply; `arguments` is JSON."""

    name: str
    arguments: str


class Message(_Foreign):
    """What the model said; a refusal and the thinking may stand apart from the content."""

    content: str | tuple[_Part, ...] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: tuple[_Call, ...] | None = None
    function_call: _Function | None = None

    @property
    def text(self) -> str:
        """The content, or the refusal where there is none; '' where there is neither."""
        return self._content() or self.refusal or ""

    @property
    def thinking(self) -> str:
        """What the endpoint parted from the content as thinking; '' where it did not."""
        apart = self.reasoning_content or self.reasoning
        if apart or not isinstance(self.content, tuple):
            return apart or ""
        return "\n".join(part.thinking for part in self.content if part.thinking)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The functions that it called, in today's form or the older one."""
        functions = [call.function for call in self.tool_calls or ()]
        if not functions and self.function_call is not None:
            functions = [self.function_call]
        return tuple(ToolCall(one.name, _as_json(one.arguments)) for one in functions)

    def _content(self) -> str:
        if not isinstance(self.content, tuple):
            return self.content or ""
        said = [part.text for part in self.content if part.text and "text" in part.type]
        refused = [part.refusal for part in self.content if part.refusal]
        return "\n".join(said or refused)


def _as_json(arguments: str | Mapping[str, object] | None) -> str:
    if arguments is None:
        return ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


class Choice(_Foreign):
    """One reply, and why it ended."""

    message: Message
    finish_reason: str | None = None


class Usage(_Foreign):
    """Tokens as the endpoint counted them."""

    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)


class Completion(_Foreign):
    """The body of a successful answer."""

    choices: tuple[Choice, ...]
    model: str | None = None
    usage: Usage | None = None
