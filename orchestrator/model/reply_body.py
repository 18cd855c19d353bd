"""What a chat completion must hold, read strictly where Arena uses it and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from orchestrator.model.messages import ToolCall
from orchestrator.model_exchange import TokenUsage


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
    id: str | None = None
    function: _Function


class ReplyMessage(_Foreign):
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
        called = list(self.tool_calls or ())
        if not called and self.function_call is not None:
            called = [_Call(function=self.function_call)]
        return tuple(
            ToolCall(one.id or f"call_{number}", one.function.name, _text(one.function.arguments))
            for number, one in enumerate(called)
        )

    def _content(self) -> str:
        if not isinstance(self.content, tuple):
            return self.content or ""
        said = [part.text for part in self.content if part.text and "text" in part.type]
        refused = [part.refusal for part in self.content if part.refusal]
        return "\n".join(said or refused)


def _text(arguments: str | Mapping[str, object] | None) -> str:
    if arguments is None:
        return ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


class Choice(_Foreign):
    """One reply, and why it ended."""

    message: ReplyMessage
    finish_reason: str | None = None


class _PromptDetails(_Foreign):
    cached_tokens: int | None = Field(default=None, ge=0)
    image_tokens: int | None = Field(default=None, ge=0)


class _ReplyDetails(_Foreign):
    reasoning_tokens: int | None = Field(default=None, ge=0)


class UsageBody(_Foreign):
    """Tokens as the endpoint counted them; some count the cached ones under a name of their own."""

    prompt_tokens: int | None = Field(default=None, ge=0)
    completion_tokens: int | None = Field(default=None, ge=0)
    total_tokens: int | None = Field(default=None, ge=0)
    prompt_tokens_details: _PromptDetails | None = None
    completion_tokens_details: _ReplyDetails | None = None
    cached_tokens: int | None = Field(
        default=None, ge=0, validation_alias=AliasChoices("prompt_cache_hit_tokens")
    )

    @property
    def usage(self) -> TokenUsage | None:
        """The counts in one form, thinking being output; None where one of the two is missing."""
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        prompt = self.prompt_tokens_details or _PromptDetails()
        thought = (self.completion_tokens_details or _ReplyDetails()).reasoning_tokens
        output = self.completion_tokens
        # Some endpoints count thinking beside the reply, and bill both: only the total shows it.
        if thought and self.total_tokens == self.prompt_tokens + output + thought:
            output += thought
        return TokenUsage(
            input_tokens=self.prompt_tokens,
            output_tokens=output,
            cached_tokens=self.cached_tokens
            if prompt.cached_tokens is None
            else prompt.cached_tokens,
            image_tokens=prompt.image_tokens,
            reasoning_tokens=thought,
        )


class ReplyBody(_Foreign):
    """The body of a successful answer."""

    choices: tuple[Choice, ...]
    model: str | None = None
    usage: UsageBody | None = None
