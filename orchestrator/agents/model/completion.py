"""What a model said: the chat completion as its endpoint sends it, and as agents get it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from orchestrator.agents.model.messages import ToolCall
from orchestrator.agents.model_exchange import ModelExchange, TokenCount, TokenUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What a model said.

    Attributes:
        text: the content, or the refusal; '' where there was neither.
        thinking: what the endpoint sent apart from the content as the model's thinking.
        model: the name that the endpoint gave itself, often with a date; None where it gave none.
        is_cut: the reply ended at a length limit.
        usage: tokens as reported; None where the endpoint does not count.
    """

    text: str
    thinking: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    model: str | None = None
    is_cut: bool = False
    usage: TokenUsage | None = None
    usd: float | None = None
    exchange: ModelExchange = field(default_factory=ModelExchange, compare=False, repr=False)

    @property
    def input_tokens(self) -> int | None:
        return self.usage.input_tokens if self.usage else None

    @property
    def output_tokens(self) -> int | None:
        return self.usage.output_tokens if self.usage else None


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
    cached_tokens: TokenCount | None = None
    image_tokens: TokenCount | None = None


class _ReplyDetails(_Foreign):
    reasoning_tokens: TokenCount | None = None


class UsageBody(_Foreign):
    """Tokens as the endpoint counted them; some count the cached ones under a name of their own."""

    prompt_tokens: TokenCount | None = None
    completion_tokens: TokenCount | None = None
    total_tokens: TokenCount | None = None
    prompt_tokens_details: _PromptDetails | None = None
    completion_tokens_details: _ReplyDetails | None = None
    cached_tokens: TokenCount | None = Field(
        default=None, validation_alias=AliasChoices("prompt_cache_hit_tokens")
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


_TAG = re.compile(r"<(?P<close>/?)(?:think|thinking)>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SplitReply:
    """A model's text in two: `reply` is what it said, `thinking` what it thought aloud."""

    reply: str
    thinking: str


def split_thinking(text: str) -> SplitReply:
    """Part the thinking from the reply, whatever the length of either.

    Thinking stands between `<think>` and `</think>`; before a `</think>` that was never opened,
    since some templates open it in the prompt; and after a `<think>` that was never closed.
    """
    if _is_one_object(text):
        return SplitReply(text, "")  # a tag inside a string of it is no tag
    reply: list[str] = []
    thinking: list[str] = []
    start, is_thinking = 0, False
    for tag in _TAG.finditer(text):
        passage = text[start : tag.start()]
        is_end = bool(tag["close"])
        if is_thinking:
            thinking.append(passage)
        elif is_end:
            thinking += [*reply, passage]
            reply = []
        else:
            reply.append(passage)
        start, is_thinking = tag.end(), not is_end
    (thinking if is_thinking else reply).append(text[start:])
    return SplitReply("\n".join(reply).strip(), "\n".join(thinking).strip())


def _is_one_object(text: str) -> bool:
    if not text.lstrip().startswith("{"):
        return False
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
