"""The one importer of openai: asks a model for a reply, and says clearly why there is none."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from pydantic import ValidationError

from arena_core.errors import ContextExceededError, ModelError
from orchestrator.model import faults
from orchestrator.model.completion import Completion, ToolCall
from orchestrator.model.options import ModelOptions, Parameter
from orchestrator.model.reaching import refused_connection
from orchestrator.model.refusals import Refusal, kind_of

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI
    from openai.types.chat import ChatCompletionMessageParam

_LOG = logging.getLogger(__name__)


class ChatRole(StrEnum):
    """Whose words a chat message holds."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation."""

    speaker: ChatRole
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """What the model said.

    Attributes:
        text: the content, or the refusal; '' where there was neither.
        thinking: what the endpoint sent apart from the content as the model's thinking.
        calls: the functions that the model called.
        model: the name that the endpoint gave itself, often with a date; None where it gave none.
        is_cut: the reply ended at a length limit.
        input_tokens, output_tokens: as reported; None where the endpoint does not count.
    """

    text: str
    thinking: str = ""
    calls: tuple[ToolCall, ...] = ()
    model: str | None = None
    is_cut: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None


class ModelClient:
    """A model behind an endpoint; opened at the first question, shared by many episodes.

    Attempts, back-off with jitter and `Retry-After` are the openai library's. What it does not
    bound, this class does: the time for all attempts together. After a permanent refusal it asks
    nothing more, and raises that refusal again.
    """

    def __init__(self, options: ModelOptions) -> None:
        self._options = options
        self._sdk: AsyncOpenAI | None = None
        self._dropped: set[Parameter] = set()
        self._refusal: ModelError | None = None
        self._has_replied = False

    def __repr__(self) -> str:
        return f"ModelClient({self._options.name!r} at {self._options.url})"

    @property
    def dropped(self) -> frozenset[str]:
        """The parameters that the endpoint would not take: replies are less repeatable then."""
        return frozenset(self._dropped)

    @property
    def has_replied(self) -> bool:
        """Whether the model gave a reply before: endpoint, key and name are right then."""
        return self._has_replied

    async def ask(self, messages: Sequence[ChatMessage], *, seed: int | None = None) -> ModelReply:
        """Return the model's reply to a conversation.

        Args:
            messages: oldest first.
            seed: asks the endpoint to sample repeatably; many honour it only roughly.

        Raises:
            ContextExceededError: the conversation is longer than the model's context window.
            ModelError: the endpoint cannot be reached, stalls, refuses, or answers garbage;
                `is_permanent` where asking again cannot help.
        """
        if self._refusal is not None:
            raise faults.again(self._refusal)
        began = time.monotonic()
        asked: dict[str, object] = {
            "prompt_chars": sum(len(one.text) for one in messages),
            "messages": len(messages),
        }
        try:
            reply = await self._reply(messages, seed)
        except ModelError as failure:
            asked["seconds"] = round(time.monotonic() - began, 3)
            _LOG.warning("no reply: %s", failure.message.splitlines()[0], extra=asked)
            raise
        got: dict[str, object] = {
            "reply_chars": len(reply.text),
            "thinking_chars": len(reply.thinking),
            "input_tokens": reply.input_tokens,
            "output_tokens": reply.output_tokens,
            "seconds": round(time.monotonic() - began, 3),
        }
        _LOG.info("%s replied", self._options.name, extra=asked | got)
        self._has_replied = True
        return reply

    def no_content(self, replies: int) -> ModelError:
        """Return the error of a model that was asked so often and said nothing."""
        return faults.no_content(self._options, replies)

    def never_fits(self, cause: ContextExceededError) -> ModelError:
        """Note that not even the shortest prompt fits the model, and return the error for it."""
        self._refusal = faults.never_fits(cause)
        return self._refusal

    async def close(self) -> None:
        """Close the connections; safe to repeat."""
        sdk, self._sdk = self._sdk, None
        if sdk is not None:
            await sdk.close()

    async def _reply(self, messages: Sequence[ChatMessage], seed: int | None) -> ModelReply:
        body = await self._fetch(messages, seed)
        try:
            completion = Completion.model_validate_json(body)
        except ValidationError as cause:
            raise faults.garbage(self._options, body, cause) from None
        return self._read(completion)

    async def _fetch(self, messages: Sequence[ChatMessage], seed: int | None) -> bytes:
        """Return the body of the first answer with a status of success."""
        # A heavy import (about a second), paid only by runs that talk to a model.
        import openai  # noqa: PLC0415

        try:
            async with asyncio.timeout(self._options.deadline_s):
                while True:
                    try:
                        return await self._send(messages, seed)
                    except openai.APIStatusError as refusal:
                        if not self._drop_refused_parameter(refusal):
                            raise
        # The library's errors carry the request with its key, so none travels on as a cause.
        except TimeoutError:
            nobody = await refused_connection(self._options.url)
            if nobody is not None:
                raise faults.unreachable(self._options, nobody) from None
            raise faults.out_of_time(self._options) from None
        except openai.APITimeoutError:
            raise faults.stalled(self._options) from None
        except openai.APIConnectionError as cause:
            raise faults.unreachable(self._options, cause) from None
        except openai.APIStatusError as cause:
            raise self._refused(cause.status_code, cause.response.text) from None
        except openai.OpenAIError as cause:
            raise faults.other(self._options, cause) from None

    async def _send(self, messages: Sequence[ChatMessage], seed: int | None) -> bytes:
        raw = await self._opened().chat.completions.with_raw_response.create(
            model=self._options.name,
            messages=[_as_sent(message) for message in messages],
            extra_body=self._sampling(seed),
        )
        return raw.content

    def _sampling(self, seed: int | None) -> dict[str, float | int]:
        asked: dict[Parameter, float | int] = {Parameter.TEMPERATURE: self._options.temperature}
        if seed is not None:
            asked[Parameter.SEED] = seed
        return {name.value: value for name, value in asked.items() if name not in self._dropped}

    def _opened(self) -> AsyncOpenAI:
        if self._sdk is None:
            from openai import AsyncOpenAI, DefaultAsyncHttpxClient  # noqa: PLC0415

            key = self._options.key
            self._sdk = AsyncOpenAI(
                api_key=key.get_secret_value() if key else "none",
                base_url=self._options.url,
                timeout=self._options.attempt_s,
                max_retries=self._options.retries,
                http_client=DefaultAsyncHttpxClient(trust_env=not self._options.is_local),
            )
        return self._sdk

    def _drop_refused_parameter(self, refusal: APIStatusError) -> bool:
        """Note the parameter that a 400 or 422 is about; False where it is about no such thing."""
        if refusal.status_code not in {400, 422}:
            return False
        for parameter in Parameter:
            named = refusal.param == parameter or parameter in refusal.response.text
            if named and parameter not in self._dropped | self._options.insisted:
                self._dropped.add(parameter)
                _LOG.warning("%s does not take %s: left out", self._options.name, parameter)
                return True
        return False

    def _refused(self, status: int, body: str) -> ModelError:
        """Return the error of a refusal, and keep a permanent one.

        What is said of one request is permanent only where no other was ever taken: then it is the
        model's name or a parameter that the endpoint refuses, and not one page's text.
        """
        kind = kind_of(status, body)
        if kind is Refusal.CONTEXT:
            return faults.context_exceeded(self._options, status, body)
        is_permanent = kind is Refusal.PERMANENT or (
            kind is Refusal.PROMPT and not self._has_replied
        )
        refused = faults.refused(self._options, status, body, is_permanent=is_permanent)
        if is_permanent:
            self._refusal = refused
        return refused

    def _read(self, completion: Completion) -> ModelReply:
        if not completion.choices:
            raise faults.no_choices(self._options)
        choice = completion.choices[0]
        if choice.finish_reason == "content_filter":
            raise faults.filtered(self._options)
        usage = completion.usage
        return ModelReply(
            text=choice.message.text,
            thinking=choice.message.thinking,
            calls=choice.message.calls,
            model=completion.model,
            is_cut=choice.finish_reason == "length",
            input_tokens=usage.prompt_tokens if usage else None,
            output_tokens=usage.completion_tokens if usage else None,
        )


def _as_sent(message: ChatMessage) -> ChatCompletionMessageParam:
    # A page may hold half a code point, which JSON over HTTP cannot.
    text = message.text.encode("utf-8", errors="replace").decode()
    match message.speaker:
        case ChatRole.SYSTEM:
            return {"role": "system", "content": text}
        case ChatRole.USER:
            return {"role": "user", "content": text}
        case ChatRole.ASSISTANT:
            return {"role": "assistant", "content": text}
